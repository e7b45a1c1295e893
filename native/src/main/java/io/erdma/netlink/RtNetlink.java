package io.erdma.netlink;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Links of the caller's network namespace, and notifications of their changes. Requests and notifications have a socket
 * each, so that a flood of notifications can't break an answer.
 */
public final class RtNetlink implements AutoCloseable {
    /** So that a caller gets back what happened so far, even while more keeps coming. */
    private static final int MAX_DATAGRAMS_PER_CALL = 4096;

    private final NetlinkSocket requests;
    private final NetlinkSocket notifications;

    RtNetlink(NetlinkSocket requests, NetlinkSocket notifications) {
        this.requests = requests;
        this.notifications = notifications;
    }

    /** From here on changes are kept for {@link #nextChanges}; so a first {@link #links} after it misses nothing. */
    public static RtNetlink open() throws NativeException {
        NetlinkSocket notifications = NetlinkSocket.open(NetlinkSocket.ROUTE, "netlink notifications of links");
        try {
            notifications.join(RtMessages.GROUP_LINK);
            return new RtNetlink(NetlinkSocket.open(NetlinkSocket.ROUTE, "netlink for links"), notifications);
        } catch (NativeException e) {
            notifications.close();
            throw e;
        }
    }

    /** As many bytes of notifications as the kernel keeps for us before it drops further ones. */
    void notificationBuffer(int bytes) throws NativeException {
        notifications.receiveBuffer(bytes);
    }

    /** A consistent dump: one that the kernel interrupted is repeated. */
    public List<Link> links() throws NativeException {
        return requests.dump("RTM_GETLINK", RtMessages.GET_LINK, RtMessages.allLinks()).stream()
                .flatMap(message -> RtMessages.link(message).stream())
                .toList();
    }

    /** Descriptor that becomes readable when {@link #nextChanges} has something. */
    public int changeDescriptor() {
        return notifications.descriptor();
    }

    /** What has been notified since the last call; never blocks. */
    public List<LinkChange> nextChanges() throws NativeException {
        var changes = new ArrayList<LinkChange>();
        for (int i = 0; i < MAX_DATAGRAMS_PER_CALL; i++) {
            try {
                Optional<byte[]> datagram = notifications.receive();
                if (datagram.isEmpty()) {
                    break;
                }
                for (NetlinkMessage message : NetlinkMessage.split(datagram.get())) {
                    RtMessages.change(message).ifPresent(changes::add);
                }
            } catch (NetlinkFormatException e) {
                // What it said can't be known, which is the same as not having heard it.
                changes.add(new LinkChange.Lost());
            } catch (NativeException e) {
                if (e.errno() != Errno.ENOBUFS) {
                    throw e;
                }
                changes.add(new LinkChange.Lost());
            }
        }
        return List.copyOf(changes);
    }

    @Override
    public void close() {
        notifications.close();
        requests.close();
    }
}
