"""Trains a small network on MNIST over as many processes as there are, with NCCL.

Rank and world size come from torchrun or from Open MPI. Without the data set, and without a network to fetch it, random
pictures stand in for it: what is shown here is the exchange of gradients, not the digits.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as functional
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Net(nn.Module):
    """Two convolutions and a wide layer, whose 100 MB of gradients are enough to be seen in `erdma stat -l`."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 32, 3)
        self.second = nn.Conv2d(32, 64, 3)
        self.wide = nn.Linear(9216, 2560)
        self.last = nn.Linear(2560, 10)

    def forward(self, pictures):
        x = functional.relu(self.first(pictures))
        x = functional.max_pool2d(functional.relu(self.second(x)), 2)
        return self.last(functional.relu(self.wide(torch.flatten(x, 1))))


def environment():
    """Rank, world size and the process's place on its host, by torchrun or Open MPI."""
    for rank, world, local in (
        ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ):
        if rank in os.environ and world in os.environ:
            return int(os.environ[rank]), int(os.environ[world]), int(os.environ.get(local, "0"))
    raise SystemExit("start this with torchrun or mpirun: neither RANK nor OMPI_COMM_WORLD_RANK is set")


def pictures(directory):
    try:
        from torchvision import datasets, transforms

        return datasets.MNIST(directory, train=True, download=False, transform=transforms.ToTensor())
    except (ImportError, RuntimeError):
        print(f"no MNIST below {directory}: random pictures instead", flush=True)
        return TensorDataset(torch.rand(60000, 1, 28, 28), torch.randint(0, 10, (60000,)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--backend", default="nccl")
    arguments.add_argument("--data", default="/root/data", help="a directory with torchvision's MNIST")
    arguments.add_argument("--epochs", type=int, default=5)
    arguments.add_argument("--batch-size", type=int, default=64)
    options = arguments.parse_args()

    rank, world, local = environment()
    os.environ.setdefault("MASTER_PORT", "23456")
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    dist.init_process_group(options.backend, rank=rank, world_size=world)
    model = DistributedDataParallel(Net().to(device), device_ids=[local])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
    data = pictures(options.data)
    sampler = DistributedSampler(data, num_replicas=world, rank=rank)
    loader = DataLoader(data, batch_size=options.batch_size, sampler=sampler, num_workers=2, pin_memory=True)

    for epoch in range(1, options.epochs + 1):
        sampler.set_epoch(epoch)
        begin = time.monotonic()
        for step, (batch, labels) in enumerate(loader):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(batch.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            if rank == 0 and step % 100 == 0:
                done = step * options.batch_size * world
                share = 100 * step / len(loader)
                print(f"Train Epoch: {epoch} [{done}/{len(data)} ({share:.0f}%)] loss={loss.item():.4f}", flush=True)
        if rank == 0:
            print(f"Epoch {epoch} took {time.monotonic() - begin:.1f} s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
