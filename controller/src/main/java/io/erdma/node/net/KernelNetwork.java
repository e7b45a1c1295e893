package io.erdma.node.net;

import io.erdma.libc.NativeException;
import io.erdma.netlink.RtNetlink;
import java.util.List;
import java.util.Set;

/** The running kernel's, by netlink. */
final class KernelNetwork implements HostNetwork {
    private final RtNetlink netlink;
    private RouteInterest interest = RouteInterest.NONE;

    private KernelNetwork(RtNetlink netlink) {
        this.netlink = netlink;
    }

    static KernelNetwork open() throws NativeException {
        return new KernelNetwork(RtNetlink.openWithRoutes());
    }

    @Override
    public NetState read(WantedInterfaces wanted) throws NativeException {
        // What changes between the three is notified, and looked at again.
        var found = new NetState(netlink.links(), netlink.addresses(), List.of());
        RouteInterest.Reading reading = RouteInterest.of(found, wanted).read(netlink::routes, interest);
        interest = reading.interest();
        return new NetState(found.links(), found.addresses(), reading.routes());
    }

    @Override
    public void make(NetChange change) throws NativeException {
        switch (change) {
            case NetChange.SetMtu set -> netlink.setMtu(set.link(), set.mtu());
            case NetChange.SetUp set -> netlink.setUp(set.link());
            case NetChange.AddAddress add -> netlink.addAddress(add.address());
            case NetChange.DeleteAddress delete -> netlink.deleteAddress(delete.address());
            case NetChange.AddRoute add -> netlink.addRoute(add.route());
            case NetChange.DeleteRoute delete -> netlink.deleteRoute(delete.route());
        }
    }

    @Override
    public Set<Integer> descriptors() {
        return Set.of(netlink.changeDescriptor());
    }

    @Override
    public boolean anythingChanged() throws NativeException {
        return netlink.anythingChanged(interest);
    }

    @Override
    public void close() {
        netlink.close();
    }
}
