package io.erdma.inventory;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.netlink.Link;
import io.erdma.netlink.LinkChange;
import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.VerbsDevice;
import io.erdma.verbs.VerbsUnavailableException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A recorded node through the live sources: its sysfs tree and /dev read by {@link LiveSources}, and libibverbs, which is
 * usually {@code FakeVerbs}. What would ask the kernel of this machine about its own devices is left out: links are
 * given, and there is no RDMA netlink.
 */
public final class FixtureNode implements NodeSources {
    private final LiveSources live;
    private final List<Link> links;

    public FixtureNode(NodeFixture node, String verbsLibrary, List<Link> links) {
        this.live = new LiveSources(verbsLibrary, paths(node));
        this.links = List.copyOf(links);
    }

    public static NodePaths paths(NodeFixture node) {
        return new NodePaths(node.sysfs(), node.dev(), Path.of("/nonexistent"));
    }

    @Override
    public List<VerbsDevice> verbsDevices() throws VerbsUnavailableException, NativeException {
        return live.verbsDevices();
    }

    @Override
    public OpenDevice open(String device) throws VerbsUnavailableException, NativeException {
        return live.open(device);
    }

    @Override
    public RdmaSource rdma() throws NativeException {
        throw new NativeException("socket", Errno.EPROTONOSUPPORT, "netlink for RDMA devices");
    }

    @Override
    public List<Link> links() {
        return links;
    }

    @Override
    public SysfsSource sysfs() throws IOException {
        return live.sysfs();
    }

    @Override
    public Watch<LinkChange> watchLinks() throws NativeException {
        throw new NativeException("socket", Errno.EPERM, "netlink for links");
    }

    @Override
    public Optional<Watch<RdmaChange>> watchRdma() {
        return Optional.empty();
    }

    @Override
    public DirectoryWatch watchDirectories() throws NativeException {
        return live.watchDirectories();
    }

    @Override
    public void close() {
        live.close();
    }
}
