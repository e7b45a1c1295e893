package io.erdma.health;

import io.erdma.inventory.NodePaths;
import io.erdma.inventory.NodeSources;
import io.erdma.inventory.NodeSources.DirectoryWatch;
import io.erdma.inventory.NodeSources.RdmaChange;
import io.erdma.inventory.NodeSources.Watch;
import io.erdma.libc.Errno;
import io.erdma.libc.Inotify;
import io.erdma.libc.NativeException;
import io.erdma.libc.Poller;
import io.erdma.log.InotifyShortage;
import io.erdma.log.Log;
import io.erdma.netlink.Link;
import io.erdma.netlink.LinkChange;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * What the kernel notifies of the node as a whole: links, device nodes, RDMA devices. One that can't be opened or breaks
 * off is opened again after the next scan; until then polling does its work. Owned by the health thread.
 */
final class NodeWatches implements AutoCloseable {
    private static final Log LOG = Log.of(NodeWatches.class);

    /** What is to be done about the news. */
    interface Reactions {
        void linkChanged(Link link, long now);

        void linkRemoved(int index, String name, long now);

        /** The entries of /dev/infiniband are others, or may be. */
        void nodesChanged(long now);

        /** The kernel doesn't tell what. */
        void anythingChanged(long now);
    }

    private final NodeSources sources;
    private final NodePaths paths;
    private final InotifyShortage inotifyShortage;
    private final Duration poll;
    private final Reactions reactions;

    private Optional<Watch<LinkChange>> linkWatch = Optional.empty();
    private Optional<Watch<RdmaChange>> rdmaWatch = Optional.empty();
    private Optional<DirectoryWatch> nodeWatch = Optional.empty();
    private Optional<String> linkWatchProblem = Optional.empty();
    private Optional<String> nodeWatchProblem = Optional.empty();

    /** @param poll how often /dev is looked at by others when the kernel can't notify */
    NodeWatches(
            NodeSources sources, NodePaths paths, InotifyShortage inotifyShortage, Duration poll, Reactions reactions) {
        this.sources = sources;
        this.paths = paths;
        this.inotifyShortage = inotifyShortage;
        this.poll = poll;
        this.reactions = reactions;
    }

    boolean ofLinks() {
        return linkWatch.isPresent();
    }

    boolean ofNodes() {
        return nodeWatch.isPresent();
    }

    Optional<String> whyNodesArePolled() {
        return nodeWatchProblem;
    }

    Set<Integer> descriptors() {
        Set<Integer> descriptors = new HashSet<>();
        linkWatch.ifPresent(watch -> descriptors.add(watch.descriptor()));
        rdmaWatch.ifPresent(watch -> descriptors.add(watch.descriptor()));
        nodeWatch.ifPresent(watch -> descriptors.add(watch.descriptor()));
        return descriptors;
    }

    @Override
    public void close() {
        linkWatch.ifPresent(Watch::close);
        rdmaWatch.ifPresent(Watch::close);
        nodeWatch.ifPresent(Watch::close);
    }

    // ---- opening

    /** Opens those that are not open: at the start, and again after each scan. */
    void open() {
        openLinkWatch();
        openRdmaWatch();
        openNodeWatch();
    }

    private void openLinkWatch() {
        if (linkWatch.isPresent()) {
            return;
        }
        try {
            linkWatch = Optional.of(sources.watchLinks());
            linkWatchProblem = Optional.empty();
        } catch (NativeException e) {
            if (linkWatchProblem.isEmpty()) {
                LOG.warn("changes of links are polled, not notified: " + e.getMessage());
            }
            linkWatchProblem = Optional.of(e.getMessage());
        }
    }

    /** Failure is ordinary: RDMA may not be loaded yet, or the kernel may be older than these notifications. */
    private void openRdmaWatch() {
        if (rdmaWatch.isPresent()) {
            return;
        }
        try {
            rdmaWatch = sources.watchRdma();
        } catch (NativeException e) {
            LOG.debug("no notifications of RDMA devices: " + e.getMessage());
        }
    }

    private void openNodeWatch() {
        if (nodeWatch.isPresent()) {
            return;
        }
        Optional<DirectoryWatch> opened = Optional.empty();
        try {
            DirectoryWatch watch = sources.watchDirectories();
            opened = Optional.of(watch);
            watch.watch(paths.dev());
            nodeWatch = opened;
            watchInfiniband(watch);
            if (nodeWatchProblem.isPresent()) {
                LOG.info("changes of " + paths.dev() + " are notified again");
            }
            nodeWatchProblem = Optional.empty();
        } catch (NativeException e) {
            opened.ifPresent(DirectoryWatch::close);
            nodeWatch = Optional.empty();
            nodeWatchFailed(e);
        }
    }

    /** The kernel removes the directory with its last node and makes a new one later. */
    private void watchInfiniband(DirectoryWatch watch) throws NativeException {
        try {
            watch.watch(paths.infiniband());
        } catch (NativeException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
    }

    private void nodeWatchFailed(NativeException e) {
        if (nodeWatchProblem.isEmpty()) {
            inotifyShortage.tell(
                    LOG, "changes of " + paths.dev() + " are polled every " + poll.toMillis() + " ms, not notified", e);
        }
        nodeWatchProblem = Optional.of(e.getMessage());
    }

    // ---- reading

    void readLinks(Poller.Ready ready, long now) {
        linkWatch.filter(watch -> told(watch, ready)).ifPresent(watch -> readLinks(watch, now));
    }

    void readNodes(Poller.Ready ready, long now) {
        nodeWatch.filter(watch -> told(watch, ready)).ifPresent(watch -> readNodes(watch, now));
    }

    void readRdma(Poller.Ready ready, long now) {
        rdmaWatch.filter(watch -> told(watch, ready)).ifPresent(watch -> readRdma(watch, now));
    }

    private static boolean told(Watch<?> watch, Poller.Ready ready) {
        return ready.readable().contains(watch.descriptor()) || ready.broken().contains(watch.descriptor());
    }

    private void readLinks(Watch<LinkChange> watch, long now) {
        try {
            for (LinkChange change : watch.read()) {
                switch (change) {
                    case LinkChange.Changed(Link link) -> reactions.linkChanged(link, now);
                    case LinkChange.Removed removed -> reactions.linkRemoved(removed.index(), removed.name(), now);
                    case LinkChange.Lost _ -> reactions.anythingChanged(now);
                }
            }
        } catch (NativeException e) {
            // The close comes last: one that fails must not leave the watch in use.
            linkWatch = Optional.empty();
            reactions.anythingChanged(now);
            LOG.warn("notifications of links broke off, they are opened anew: " + e.getMessage());
            watch.close();
        }
    }

    private void readNodes(DirectoryWatch watch, long now) {
        try {
            boolean relevant = false;
            for (Inotify.Change change : watch.read()) {
                boolean ofInfiniband = change.directory().equals(paths.infiniband());
                boolean directoryItself = change.directory().equals(paths.dev())
                        && change.name().equals(paths.infiniband().getFileName().toString());
                boolean devGone = change.directoryGone() && change.directory().equals(paths.dev());
                relevant |= ofInfiniband || directoryItself || devGone || change.overflow();
                if (devGone) {
                    // The watch ended with the directory; where there is another now, that one counts.
                    watch.watch(paths.dev());
                }
                if ((directoryItself && change.created()) || devGone || change.overflow()) {
                    watchInfiniband(watch);
                }
            }
            if (relevant) {
                reactions.nodesChanged(now);
            }
        } catch (NativeException e) {
            nodeWatch = Optional.empty();
            nodeWatchFailed(e);
            reactions.nodesChanged(now);
            watch.close();
        }
    }

    private void readRdma(Watch<RdmaChange> watch, long now) {
        try {
            if (!watch.read().isEmpty()) {
                reactions.anythingChanged(now);
            }
        } catch (NativeException e) {
            rdmaWatch = Optional.empty();
            reactions.anythingChanged(now);
            LOG.debug("notifications of RDMA devices broke off: " + e.getMessage());
            watch.close();
        }
    }
}
