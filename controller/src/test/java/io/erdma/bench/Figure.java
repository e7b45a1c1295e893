package io.erdma.bench;

import java.util.OptionalDouble;

/**
 * One measured number; smaller is better.
 *
 * @param name what was measured; with the number of devices it finds the same figure in an earlier report
 * @param samples how many measurements it is taken from, 0 where that says nothing
 * @param aim what it should not exceed
 */
record Figure(String name, int devices, double value, String unit, int samples, OptionalDouble aim) {
    static Figure of(String name, int devices, double value, String unit) {
        return new Figure(name, devices, value, unit, 0, OptionalDouble.empty());
    }

    Figure aim(double limit) {
        return new Figure(name, devices, value, unit, samples, OptionalDouble.of(limit));
    }

    static Figure p50(String name, int devices, Samples samples) {
        return of(name + " p50", devices, samples.p50Millis(), "ms");
    }

    /** The report calls it the maximum that it is where there are less than a hundred samples. */
    static Figure p99(String name, int devices, Samples samples) {
        return new Figure(name + " p99", devices, samples.p99Millis(), "ms", samples.size(), OptionalDouble.empty());
    }

    boolean isMaximum() {
        return samples > 0 && samples < 100;
    }

    boolean misses() {
        return aim.isPresent() && value > aim.getAsDouble();
    }
}
