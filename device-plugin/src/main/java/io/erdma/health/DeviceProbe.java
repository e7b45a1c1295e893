package io.erdma.health;

import io.erdma.inventory.NodeSources;
import io.erdma.inventory.NodeSources.OpenDevice;
import io.erdma.inventory.SourceStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaPort;
import io.erdma.verbs.PortState;
import io.erdma.verbs.VerbsUnavailableException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Asks one device for the state of its port: by verbs, else by RDMA netlink, else by sysfs. Each of them may hang in
 * the driver. An eRDMA device has one port; of a card with more, the first counts.
 */
final class DeviceProbe {
    private static final int PORT = 1;

    /** @param context the device's open context, if it could be opened; to be closed by whoever receives it */
    record Outcome(ProbeResult result, Optional<OpenDevice> context) {}

    /**
     * Why a device is not opened now.
     *
     * @param sick whether the reason is the device's own: then no other source is asked, since each of them only repeats
     *     what a driver says that can't do its work
     */
    record NotOpened(String reason, boolean sick) {}

    private final NodeSources sources;

    DeviceProbe(NodeSources sources) {
        this.sources = sources;
    }

    /**
     * @param context an open context of the device
     * @param notOpened why it shall not be opened now; otherwise it is, if it isn't yet
     */
    Outcome ask(String device, Optional<OpenDevice> context, Optional<NotOpened> notOpened) {
        List<SourceStatus> unused = new ArrayList<>();
        Optional<OpenDevice> opened = context;
        if (opened.isEmpty()) {
            if (notOpened.isPresent()) {
                if (notOpened.get().sick()) {
                    return new Outcome(new ProbeResult.Failed(notOpened.get().reason(), false), Optional.empty());
                }
                unused.add(new SourceStatus(Source.VERBS, notOpened.map(NotOpened::reason)));
            } else {
                try {
                    opened = Optional.of(sources.open(device));
                } catch (VerbsUnavailableException e) {
                    unused.add(new SourceStatus(Source.VERBS, Optional.of(e.getMessage())));
                } catch (NativeException e) {
                    if (!isOurs(e.errno())) {
                        return new Outcome(new ProbeResult.Failed(e.getMessage(), false), Optional.empty());
                    }
                    unused.add(new SourceStatus(Source.VERBS, Optional.of(e.getMessage())));
                }
            }
        }
        if (opened.isPresent()) {
            try {
                PortState state = opened.get().portState(PORT);
                return new Outcome(new ProbeResult.Answered(state, Source.VERBS, List.of()), opened);
            } catch (NativeException e) {
                boolean gone = e.errno() == Errno.EIO || e.errno() == Errno.ENODEV || e.errno() == Errno.ENXIO;
                return new Outcome(new ProbeResult.Failed(e.getMessage(), gone), opened);
            } catch (RuntimeException e) {
                // Nobody would receive a context that was opened just now.
                if (context.isEmpty()) {
                    opened.get().close();
                }
                throw e;
            }
        }
        return new Outcome(
                askNetlink(device, unused)
                        .or(() -> askSysfs(device, unused))
                        .orElseGet(() -> new ProbeResult.Unanswered(unused)),
                Optional.empty());
    }

    /**
     * Whether an open failed for a reason that lies in this process: no right to the node, libibverbs doesn't list the
     * device (the inventory says why), or no more descriptors or memory. None of them makes the device sick.
     */
    private static boolean isOurs(int errno) {
        return switch (errno) {
            case Errno.EPERM, Errno.EACCES, Errno.ENODEV, Errno.EMFILE, Errno.ENFILE, Errno.ENOMEM, Errno.ENOSYS ->
                true;
            default -> false;
        };
    }

    private Optional<ProbeResult> askNetlink(String device, List<SourceStatus> unused) {
        try (NodeSources.RdmaSource rdma = sources.rdma()) {
            for (RdmaLink link : rdma.devices()) {
                if (link.name().equals(device)) {
                    for (RdmaPort port : rdma.ports(link.index())) {
                        if (port.port() == PORT) {
                            return Optional.of(
                                    new ProbeResult.Answered(port.state(), Source.RDMA_NETLINK, List.copyOf(unused)));
                        }
                    }
                }
            }
            unused.add(new SourceStatus(Source.RDMA_NETLINK, Optional.of("lists no port 1 of " + device)));
        } catch (NativeException e) {
            unused.add(new SourceStatus(Source.RDMA_NETLINK, Optional.of(e.getMessage())));
        }
        return Optional.empty();
    }

    private Optional<ProbeResult> askSysfs(String device, List<SourceStatus> unused) {
        try {
            Optional<PortState> state = sources.sysfs().portState(device, PORT);
            if (state.isPresent()) {
                return Optional.of(new ProbeResult.Answered(state.get(), Source.SYSFS, List.copyOf(unused)));
            }
            unused.add(new SourceStatus(Source.SYSFS, Optional.of("tells no state of port 1 of " + device)));
        } catch (IOException e) {
            unused.add(new SourceStatus(Source.SYSFS, Optional.of("cannot read sysfs: " + e.getMessage())));
        }
        return Optional.empty();
    }
}
