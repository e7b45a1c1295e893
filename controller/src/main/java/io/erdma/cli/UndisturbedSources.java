package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.inventory.NodeSources;
import io.erdma.libc.NativeException;
import io.erdma.netlink.Link;
import io.erdma.netlink.LinkChange;
import io.erdma.netlink.RdmaCharacterDevice;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.netlink.RdmaPort;
import io.erdma.verbs.VerbsDevice;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * What the kernel knows of its devices without asking their drivers: a scan of this needs no libibverbs and waits for
 * nobody, which is enough to name devices and choose among them.
 */
final class UndisturbedSources implements NodeSources {
    private final NodeSources all;

    UndisturbedSources(NodeSources all) {
        this.all = requireNonNull(all, "all is null");
    }

    @Override
    public List<VerbsDevice> verbsDevices() {
        return List.of();
    }

    @Override
    public RdmaSource rdma() throws NativeException {
        RdmaSource rdma = all.rdma();
        return new RdmaSource() {
            @Override
            public List<RdmaLink> devices() throws NativeException {
                return rdma.devices();
            }

            // The driver would be asked; sysfs names the interface, too.
            @Override
            public List<RdmaPort> ports(int deviceIndex) {
                return List.of();
            }

            @Override
            public Optional<RdmaCharacterDevice> characterDevice(int deviceIndex) throws NativeException {
                return rdma.characterDevice(deviceIndex);
            }

            @Override
            public NetnsMode netnsMode() throws NativeException {
                return rdma.netnsMode();
            }

            @Override
            public void close() {
                rdma.close();
            }
        };
    }

    @Override
    public List<Link> links() throws NativeException {
        return all.links();
    }

    @Override
    public SysfsSource sysfs() throws IOException {
        return all.sysfs();
    }

    @Override
    public OpenDevice open(String device) {
        throw new UnsupportedOperationException("no device is opened");
    }

    @Override
    public Watch<LinkChange> watchLinks() {
        throw new UnsupportedOperationException("nothing is watched");
    }

    @Override
    public Optional<Watch<RdmaChange>> watchRdma() {
        throw new UnsupportedOperationException("nothing is watched");
    }

    @Override
    public DirectoryWatch watchDirectories() {
        throw new UnsupportedOperationException("nothing is watched");
    }

    @Override
    public void close() {
        all.close();
    }
}
