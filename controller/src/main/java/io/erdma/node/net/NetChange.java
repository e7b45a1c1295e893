package io.erdma.node.net;

import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.Link;
import io.erdma.netlink.Route;

/** One thing to change at one interface. None sets a link down, replaces a route or touches another interface's. */
public sealed interface NetChange {
    /** Index of the interface. */
    int link();

    /** Name of the interface, for people. */
    String dev();

    /** One line, in the words of {@code ip}: "add route 10.9.0.0/24 dev eth1 proto 217 scope link … metric 200". */
    String describe();

    /** @param mtu in bytes */
    record SetMtu(int link, String dev, int mtu) implements NetChange {
        SetMtu(Link link, int mtu) {
            this(link.index(), link.name(), mtu);
        }

        @Override
        public String describe() {
            return "set link " + dev + " mtu " + mtu;
        }
    }

    record SetUp(int link, String dev) implements NetChange {
        SetUp(Link link) {
            this(link.index(), link.name());
        }

        @Override
        public String describe() {
            return "set link " + dev + " up";
        }
    }

    record AddAddress(String dev, InterfaceAddress address) implements NetChange {
        @Override
        public int link() {
            return address.link();
        }

        @Override
        public String describe() {
            return "add address " + address.address() + " dev " + dev
                    + (address.bringsPrefixRoute() ? "" : " noprefixroute");
        }
    }

    /** At cleanup alone. */
    record DeleteAddress(String dev, InterfaceAddress address) implements NetChange {
        @Override
        public int link() {
            return address.link();
        }

        @Override
        public String describe() {
            return "delete address " + address.address() + " dev " + dev;
        }
    }

    /** @param route with one hop */
    record AddRoute(String dev, Route route) implements NetChange {
        @Override
        public int link() {
            return route.link().orElseThrow();
        }

        @Override
        public String describe() {
            return "add route " + RouteText.of(route, _ -> dev);
        }
    }

    /** @param route with one hop */
    record DeleteRoute(String dev, Route route) implements NetChange {
        @Override
        public int link() {
            return route.link().orElseThrow();
        }

        @Override
        public String describe() {
            return "delete route " + RouteText.of(route, _ -> dev);
        }
    }
}
