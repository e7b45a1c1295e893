package io.erdma.health;

import io.erdma.device.Netdev;
import io.erdma.device.RdmaDevice;
import io.erdma.health.HealthRules.LinkView;
import io.erdma.netlink.Link;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The node's links, by the latest dump and the notifications since. Owned by the health thread. */
final class LinkTable {
    private final Map<Integer, Link> links = new HashMap<>();
    private final Map<Integer, Long> notifiedAt = new HashMap<>();
    private boolean dumped;

    /** @return what was known of that link until now */
    Optional<Link> changed(Link link, long now) {
        notifiedAt.put(link.index(), now);
        return Optional.ofNullable(links.put(link.index(), link));
    }

    void removed(int index, long now) {
        notifiedAt.put(index, now);
        links.remove(index);
    }

    /**
     * What was notified while the dump was made is newer than the dump.
     *
     * @param startedAt when the dump began, or before
     */
    void merge(List<Link> dump, long startedAt) {
        notifiedAt.values().removeIf(at -> at - startedAt < 0);
        links.keySet().retainAll(notifiedAt.keySet());
        for (Link link : dump) {
            if (!notifiedAt.containsKey(link.index())) {
                links.put(link.index(), link);
            }
        }
        dumped = true;
    }

    /** What is known of the device's link. */
    LinkView view(RdmaDevice device) {
        Optional<Netdev> netdev = device.netdev();
        if (netdev.isEmpty() || !dumped) {
            return new LinkView.NotJudged();
        }
        Optional<Link> link = Optional.ofNullable(links.get(netdev.get().index()));
        return link.<LinkView>map(LinkView.Seen::new)
                .orElseGet(() -> new LinkView.Gone(netdev.get().name()));
    }
}
