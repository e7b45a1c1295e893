package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.cli.PatientCounters.Counted;
import io.erdma.cli.PatientCounters.Gone;
import io.erdma.cli.PatientCounters.Late;
import io.erdma.traffic.CounterReading;
import io.erdma.traffic.TrafficCounters;
import io.erdma.traffic.TrafficDevice;
import io.erdma.traffic.TrafficRates;
import io.erdma.traffic.TrafficTotals;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * {@code erdma stat -l}: a line for each device at each step, until there is no next one. A device that goes is awaited;
 * one that comes is watched when it is among the wanted.
 */
final class LiveStat {
    /** Passes the time between two readings. */
    @FunctionalInterface
    interface Pace {
        /** Returns when it is time for the next reading; false when there is to be none. */
        boolean next();
    }

    /** Writes one device's line at one moment. */
    @FunctionalInterface
    interface Style {
        /** @param among how many devices are being watched */
        String write(CounterReading reading, TrafficTotals totals, TrafficRates rates, int among) throws IOException;
    }

    private final Supplier<List<String>> present;
    private final Supplier<List<TrafficDevice>> wanted;
    private final PatientCounters counters;
    private final Style style;
    private final Console console;

    private final Map<String, TrafficDevice> watched = new LinkedHashMap<>();
    private final Map<String, TrafficTotals> before = new HashMap<>();
    private final Set<String> gone = new HashSet<>();
    private final Set<String> substituted = new HashSet<>();
    private final Set<String> late = new HashSet<>();
    private List<String> known = List.of();

    /**
     * @param present names of all devices that are there, which costs little
     * @param wanted those to watch, asked for anew whenever the names have changed
     */
    LiveStat(
            Supplier<List<String>> present,
            Supplier<List<TrafficDevice>> wanted,
            PatientCounters counters,
            Style style,
            Console console) {
        this.present = requireNonNull(present, "present is null");
        this.wanted = requireNonNull(wanted, "wanted is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.style = requireNonNull(style, "style is null");
        this.console = requireNonNull(console, "console is null");
    }

    /** @throws IOException when nobody reads the lines any more */
    void run(Pace pace) throws IOException {
        known = present.get();
        wanted.get().forEach(device -> watched.put(device.name(), device));
        // Rates are between two readings, so the first gives no line.
        for (TrafficDevice device : watched.values()) {
            read(device, false);
        }
        while (pace.next()) {
            lookForOthers();
            for (TrafficDevice device : List.copyOf(watched.values())) {
                read(device, true);
            }
        }
    }

    private void lookForOthers() {
        List<String> now = present.get();
        if (now.equals(known)) {
            return;
        }
        known = now;
        for (TrafficDevice device : wanted.get()) {
            if (watched.put(device.name(), device) == null) {
                console.complain(device.name() + " is there now");
            }
        }
    }

    private void read(TrafficDevice device, boolean print) throws IOException {
        String name = device.name();
        switch (counters.read(device)) {
            case Gone _ -> {
                before.remove(name);
                if (gone.add(name)) {
                    console.complain(name + " is gone; waiting for it");
                }
            }
            case Late answer -> {
                before.remove(name);
                if (late.add(name)) {
                    console.complain(name + " " + answer.problem());
                }
            }
            case Counted(var reading) -> {
                if (gone.remove(name)) {
                    console.complain(name + " is back");
                }
                if (late.remove(name)) {
                    console.complain(name + " answers again");
                }
                TrafficTotals totals = TrafficCounters.of(reading);
                TrafficTotals last = before.put(name, totals);
                totals.carrier()
                        .filter(_ -> substituted.add(name))
                        .ifPresent(netdev -> console.complain(name + ": " + StatFormat.substitute(netdev)));
                if (print) {
                    TrafficRates rates = last == null ? TrafficRates.UNKNOWN : TrafficRates.between(last, totals);
                    console.print(style.write(reading, totals, rates, watched.size()));
                }
            }
        }
    }
}
