#!/bin/sh
# Two-node MNIST by Arena. --workers counts the master in. --device puts the device into requests and limits of every
# replica; --rdma would ask for another resource, and leave the pods pending. Arena's pods get no IPC_LOCK by it, so
# containerd has to give unlimited locked memory (LimitMEMLOCK=infinity).
#
# The variables are those of examples/nccl/production.yaml. For "erdma nccl-check" add
#   --env NCCL_DEBUG=INFO --env NCCL_DEBUG_SUBSYS=INIT,NET,ENV
set -eu
exec arena submit pytorch \
    --name=mnist-arena \
    --namespace="${NAMESPACE:-default}" \
    --workers=2 \
    --gpus=1 \
    --device=aliyun/erdma=1 \
    --nproc-per-node=1 \
    --env=NCCL_NET=IB \
    --env=NCCL_IB_HCA=erdma \
    --env=NCCL_SOCKET_IFNAME=eth0 \
    --env=NCCL_IB_TIMEOUT=23 \
    --env=NCCL_IB_RETRY_CNT=7 \
    --env=NCCL_IB_RETURN_ASYNC_EVENTS=1 \
    --clean-task-policy=None \
    --share-memory=2Gi \
    --working-dir=/root \
    --image="${IMAGE:-mnist-erdma:latest}" \
    "$@" \
    "torchrun /root/code/mnist/train.py --backend nccl"
