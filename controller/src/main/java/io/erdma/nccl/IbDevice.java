package io.erdma.nccl;

import static java.util.Objects.requireNonNull;

/**
 * A device that NCCL's IB transport took.
 *
 * @param index the number in brackets, by which channel lines name it; ports that NCCL merged into one device share it
 * @param linkLayer as NCCL prints it: "IB", or "RoCE" for whatever is not InfiniBand, iWARP too
 */
public record IbDevice(int index, String name, int port, String linkLayer) {
    public IbDevice {
        requireNonNull(name, "name is null");
        requireNonNull(linkLayer, "linkLayer is null");
    }

    @Override
    public String toString() {
        return "[" + index + "]" + name + ":" + port + "/" + linkLayer;
    }
}
