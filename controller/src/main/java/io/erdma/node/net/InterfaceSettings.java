package io.erdma.node.net;

import io.erdma.netlink.Route;

/**
 * How the agent looks after eRDMA interfaces.
 *
 * @param routeMetric the least metric of their routes, 1 to 2³²−1
 * @param manage false: only say what would be changed
 * @param jumboFrameMtu in bytes, for instances that have jumbo frames
 */
public record InterfaceSettings(long routeMetric, boolean manage, int jumboFrameMtu) {
    public static final InterfaceSettings STANDARD = new InterfaceSettings(200, true, 8500);

    public InterfaceSettings {
        if (routeMetric < 1 || routeMetric > Route.MAX_METRIC) {
            throw new IllegalArgumentException("the least route metric is 1 to 2^32-1, not " + routeMetric);
        }
    }
}
