package io.erdma.node.net;

import io.erdma.netlink.Route;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Which metric our routes to one destination get: above everybody else's, so that an eRDMA interface never takes over
 * the traffic of another, and each its own, since the kernel allows a metric once per destination.
 */
final class RouteMetrics {
    private RouteMetrics() {}

    /**
     * The lowest metric that is above everybody else's.
     *
     * @param floor 1 to 2³²−1
     * @param others metrics of the routes to this destination on interfaces that are not ours
     * @return up to 2³², which is no metric any more
     */
    static long base(long floor, Collection<Long> others) {
        return others.stream().mapToLong(metric -> metric + 1).reduce(floor, Math::max);
    }

    /**
     * One metric for each of our interfaces. One in force that is high enough stays, so nothing moves when others come
     * down, nor creeps up from plan to plan.
     *
     * @param base of {@link #base}
     * @param inForce for each interface, in their order, the metrics of its own routes that are right otherwise
     * @param occupied every metric that a route to this destination has now, also one that is about to be deleted: the
     *     new route is added before the old one goes
     * @return absent: none is left up to 2³²−1
     */
    static List<OptionalLong> choose(long base, List<List<Long>> inForce, Collection<Long> occupied) {
        Set<Long> taken = new HashSet<>();
        List<OptionalLong> kept = new ArrayList<>();
        for (List<Long> metrics : inForce) {
            OptionalLong keep = metrics.stream()
                    .mapToLong(Long::longValue)
                    .filter(metric -> metric >= base && !taken.contains(metric))
                    .min();
            keep.ifPresent(taken::add);
            kept.add(keep);
        }
        taken.addAll(occupied);
        List<OptionalLong> chosen = new ArrayList<>();
        for (int rank = 0; rank < kept.size(); rank++) {
            if (kept.get(rank).isPresent()) {
                chosen.add(kept.get(rank));
                continue;
            }
            long metric = base + rank;
            while (taken.contains(metric)) {
                metric++;
            }
            taken.add(metric);
            chosen.add(metric > Route.MAX_METRIC ? OptionalLong.empty() : OptionalLong.of(metric));
        }
        return chosen;
    }
}
