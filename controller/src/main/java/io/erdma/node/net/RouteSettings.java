package io.erdma.node.net;

import io.erdma.netlink.Route;

/**
 * How the agent looks after eRDMA interfaces.
 *
 * @param routeMetric the least metric of their routes, 1 to 2³²−1
 * @param manage false: only say what would be changed
 */
public record RouteSettings(long routeMetric, boolean manage) {
    public static final RouteSettings STANDARD = new RouteSettings(200, true);

    public RouteSettings {
        if (routeMetric < 1 || routeMetric > Route.MAX_METRIC) {
            throw new IllegalArgumentException("the least route metric is 1 to 2^32-1, not " + routeMetric);
        }
    }
}
