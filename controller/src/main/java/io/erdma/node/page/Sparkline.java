package io.erdma.node.page;

import io.erdma.traffic.TrafficHistory.Point;
import io.erdma.traffic.TrafficRates;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** A curve of rates as SVG: time from left to right, the highest rate of both directions at the top. */
final class Sparkline {
    static final int WIDTH = 300;
    static final int HEIGHT = 44;
    /** Half a line's width, so that the highest and lowest ones are not cut. */
    private static final double MARGIN = 2;

    /** Of which side the curve tells. */
    enum Direction {
        RECEIVED,
        SENT;

        TrafficRates.Rate of(Point point) {
            return switch (this) {
                case RECEIVED -> point.rates().received();
                case SENT -> point.rates().sent();
            };
        }
    }

    private Sparkline() {}

    /** Of both directions; 0 when nothing is known. */
    static double highest(List<Point> points) {
        double highest = 0;
        for (Direction direction : Direction.values()) {
            highest = Math.max(highest, highest(points, direction).orElse(0));
        }
        return highest;
    }

    static OptionalDouble highest(List<Point> points, Direction direction) {
        return points.stream()
                .map(point -> direction.of(point).bytes())
                .filter(OptionalDouble::isPresent)
                .mapToDouble(OptionalDouble::getAsDouble)
                .max();
    }

    /**
     * The curve's path, {@code M0 40L5 38…}, with gaps where nothing is known.
     *
     * @param now the right edge
     * @param span from the left edge to the right one
     * @param top the rate at the upper edge
     */
    static String path(List<Point> points, Direction direction, Instant now, Duration span, double top) {
        StringBuilder path = new StringBuilder(points.size() * 12);
        boolean begun = false;
        for (Point point : points) {
            OptionalDouble rate = direction.of(point).bytes();
            double age = Duration.between(point.at(), now).toMillis() / (double) span.toMillis();
            if (rate.isEmpty() || age > 1 || age < 0) {
                begun = false;
                continue;
            }
            double x = WIDTH * (1 - age);
            double share = top <= 0 ? 0 : Math.min(1, rate.getAsDouble() / top);
            double y = HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN);
            path.append(begun ? 'L' : 'M').append(String.format(Locale.ROOT, "%.1f %.1f", x, y));
            begun = true;
        }
        return path.toString();
    }
}
