package io.erdma.netlink;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Links, addresses and routes of the caller's network namespace, and notifications of their changes. Requests and
 * notifications have a socket each, so that a flood of notifications can't break an answer. Reading needs no right,
 * changing needs CAP_NET_ADMIN in the namespace.
 */
public final class RtNetlink implements AutoCloseable {
    /** So that a caller gets back what happened so far, even while more keeps coming. */
    private static final int MAX_DATAGRAMS_PER_CALL = 4096;

    private final NetlinkSocket requests;
    private final Optional<NetlinkSocket> notifications;

    private RtNetlink(NetlinkSocket requests, Optional<NetlinkSocket> notifications) {
        this.requests = requests;
        this.notifications = notifications;
    }

    /** For requests alone. */
    public static RtNetlink open() throws NativeException {
        return new RtNetlink(NetlinkSocket.open(NetlinkSocket.ROUTE, "netlink for links"), Optional.empty());
    }

    /** From here on changes are kept for {@link #nextChanges}; so a first {@link #links} after it misses nothing. */
    public static RtNetlink openWithNotifications() throws NativeException {
        return open("links", RtMessages.GROUP_LINK);
    }

    /** As {@link #openWithNotifications}, and changes of addresses and routes of both families are notified too. */
    public static RtNetlink openWithRoutes() throws NativeException {
        return open(
                "links, addresses and routes",
                RtMessages.GROUP_LINK,
                RtMessages.GROUP_IPV4_ADDRESS,
                RtMessages.GROUP_IPV4_ROUTE,
                RtMessages.GROUP_IPV6_ADDRESS,
                RtMessages.GROUP_IPV6_ROUTE);
    }

    private static RtNetlink open(String subject, int... groups) throws NativeException {
        NetlinkSocket notifications = NetlinkSocket.open(NetlinkSocket.ROUTE, "netlink notifications of " + subject);
        try {
            for (int group : groups) {
                notifications.join(group);
            }
            return new RtNetlink(
                    NetlinkSocket.open(NetlinkSocket.ROUTE, "netlink for " + subject), Optional.of(notifications));
        } catch (NativeException e) {
            notifications.close();
            throw e;
        }
    }

    /** As many bytes of notifications as the kernel keeps for us before it drops further ones. */
    void notificationBuffer(int bytes) throws NativeException {
        notifications().receiveBuffer(bytes);
    }

    /** A consistent dump: one that the kernel interrupted is repeated. */
    public List<Link> links() throws NativeException {
        return requests.dump("RTM_GETLINK", RtMessages.GET_LINK, RtMessages.allLinks()).stream()
                .flatMap(message -> RtMessages.link(message).stream())
                .toList();
    }

    /** Of both families; a consistent dump as {@link #links}. */
    public List<InterfaceAddress> addresses() throws NativeException {
        return requests.dump("RTM_GETADDR", RtMessages.GET_ADDRESS, RtMessages.allAddresses()).stream()
                .flatMap(message -> RtMessages.address(message).stream())
                .toList();
    }

    /**
     * The main table's routes of both families, of every type: one that leads nowhere also occupies its metric. A
     * consistent dump as {@link #links}.
     */
    public List<Route> routes() throws NativeException {
        return routes(() -> _ -> true);
    }

    /**
     * As {@link #routes()}, of a table of any size: what is not wanted is dropped as it comes. The answer fails with EIO
     * when what is wanted of it takes more than 8 MB.
     *
     * @param wanted asked for anew each time that the kernel interrupted the dump
     */
    public List<Route> routes(Supplier<? extends Predicate<Route>> wanted) throws NativeException {
        return requests.dump("RTM_GETROUTE", RtMessages.GET_ROUTE, RtMessages.allRoutes(), () -> {
            Predicate<Route> these = wanted.get();
            return message -> RtMessages.routeOfMainTable(message).filter(these);
        });
    }

    /**
     * How packets to an address leave at this moment; its metric is not told.
     *
     * @throws NativeException with ENETUNREACH when there is no way
     */
    public Optional<Route> routeTo(InetAddress destination) throws NativeException {
        return requests.ask("RTM_GETROUTE", RtMessages.GET_ROUTE, RtMessages.routeTo(destination)).stream()
                .flatMap(message -> RtMessages.route(message).stream())
                .findFirst();
    }

    /** @param bytes within the limits of the link's driver, else EINVAL */
    public void setMtu(int link, int bytes) throws NativeException {
        requests.ask("RTM_NEWLINK", RtMessages.SET_LINK, RtMessages.mtu(link, bytes));
    }

    public void setUp(int link) throws NativeException {
        requests.ask("RTM_NEWLINK", RtMessages.SET_LINK, RtMessages.up(link));
    }

    /** @throws NativeException with EEXIST when the link has it already, with whatever flags */
    public void addAddress(InterfaceAddress address) throws NativeException {
        requests.add("RTM_NEWADDR", RtMessages.NEW_ADDRESS, RtMessages.address(address));
    }

    /**
     * The kernel also removes the routes that have it as their source, and, unless told to promote them, the addresses
     * that are secondary to it.
     *
     * @throws NativeException with EADDRNOTAVAIL when it isn't there
     */
    public void deleteAddress(InterfaceAddress address) throws NativeException {
        requests.ask("RTM_DELADDR", RtMessages.DELETE_ADDRESS, RtMessages.address(address));
    }

    /**
     * Replaces nothing.
     *
     * @param route with exactly one hop
     * @throws NativeException with EEXIST when the destination has a route of that metric, be it by another interface;
     *     with ENETDOWN while the link is down; with ENETUNREACH when the gateway is not on the link
     */
    public void addRoute(Route route) throws NativeException {
        requests.add("RTM_NEWROUTE", RtMessages.NEW_ROUTE, RtMessages.newRoute(route));
    }

    /**
     * Deletes this route and no other.
     *
     * @param route with exactly one hop
     * @throws NativeException with ESRCH when it isn't there
     */
    public void deleteRoute(Route route) throws NativeException {
        requests.ask("RTM_DELROUTE", RtMessages.DELETE_ROUTE, RtMessages.deleteRoute(route));
    }

    /** Descriptor that becomes readable when {@link #nextChanges} has something. */
    public int changeDescriptor() {
        return notifications().descriptor();
    }

    private NetlinkSocket notifications() {
        return notifications.orElseThrow(() -> new IllegalStateException("opened without notifications"));
    }

    /** What has been notified of links since the last call; never blocks. */
    public List<LinkChange> nextChanges() throws NativeException {
        var changes = new ArrayList<LinkChange>();
        drain(message -> RtMessages.change(message).ifPresent(changes::add), () -> changes.add(new LinkChange.Lost()));
        return List.copyOf(changes);
    }

    /**
     * Whether anything has been notified since the last call, or was lost; never blocks. In place of {@link #nextChanges}
     * for who reads everything anew in any case.
     *
     * @param wanted of the main table's routes, those that matter; no other table's do
     */
    public boolean anythingChanged(Predicate<Route> wanted) throws NativeException {
        var any = new AtomicBoolean();
        drain(
                message -> {
                    if (!any.get() && RtMessages.mayMatter(message, wanted)) {
                        any.set(true);
                    }
                },
                () -> any.set(true));
        return any.get();
    }

    private void drain(Consumer<NetlinkMessage> heard, Runnable lost) throws NativeException {
        for (int i = 0; i < MAX_DATAGRAMS_PER_CALL; i++) {
            try {
                Optional<byte[]> datagram = notifications().receive();
                if (datagram.isEmpty()) {
                    return;
                }
                NetlinkMessage.split(datagram.get()).forEach(heard);
            } catch (NetlinkFormatException e) {
                // What it said can't be known, which is the same as not having heard it.
                lost.run();
            } catch (NativeException e) {
                if (e.errno() != Errno.ENOBUFS) {
                    throw e;
                }
                lost.run();
            }
        }
    }

    @Override
    public void close() {
        notifications.ifPresent(NetlinkSocket::close);
        requests.close();
    }
}
