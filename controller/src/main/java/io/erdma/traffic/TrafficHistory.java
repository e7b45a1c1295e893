package io.erdma.traffic;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What devices have carried over the last readings; of a bounded size, whatever happens. Belongs to one thread, which
 * hands its {@link #series} to others.
 */
public final class TrafficHistory {
    private final int most;
    private final Map<String, Kept> kept = new HashMap<>();

    /** @param rates since the reading before; unknown in the first of a device */
    public record Point(Instant at, TrafficRates rates) {
        public Point {
            requireNonNull(at, "at is null");
            requireNonNull(rates, "rates is null");
        }
    }

    /**
     * One device.
     *
     * @param points the oldest first
     * @param latest what the device has carried up to the last of them
     */
    public record Series(List<Point> points, TrafficTotals latest) {
        public Series {
            points = List.copyOf(points);
            requireNonNull(latest, "latest is null");
        }
    }

    private record Kept(Deque<Point> points, TrafficTotals latest) {}

    /** @param most how many points of each device are kept, at least one */
    public TrafficHistory(int most) {
        if (most < 1) {
            throw new IllegalArgumentException("most is " + most);
        }
        this.most = most;
    }

    /**
     * Takes a reading of all devices. One that is not among them is forgotten.
     *
     * @param totals by device
     */
    public void add(Instant at, Map<String, TrafficTotals> totals) {
        kept.keySet().retainAll(totals.keySet());
        totals.forEach((device, now) -> kept.compute(device, (_, before) -> {
            Deque<Point> points = before == null ? new ArrayDeque<>() : before.points();
            points.addLast(
                    new Point(at, before == null ? TrafficRates.UNKNOWN : TrafficRates.between(before.latest(), now)));
            if (points.size() > most) {
                points.removeFirst();
            }
            return new Kept(points, now);
        }));
    }

    /** By device, as it is now. */
    public Map<String, Series> series() {
        Map<String, Series> series = new HashMap<>();
        kept.forEach((device, one) -> series.put(device, new Series(new ArrayList<>(one.points()), one.latest())));
        return Map.copyOf(series);
    }
}
