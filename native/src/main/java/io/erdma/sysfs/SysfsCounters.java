package io.erdma.sysfs;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Reads the counters that the kernel exports for RDMA devices below a sysfs root. Which ones there are differs from
 * driver to driver, so directories are listed and no name is expected. Each reading may be a command to the device.
 */
public final class SysfsCounters {
    private static final String INFINIBAND = "class/infiniband";
    private static final String HARDWARE = "hw_counters";
    private static final String STANDARD = "counters";

    /** Not a counter: for how many milliseconds the kernel repeats a reading instead of asking the device again. */
    private static final String LIFESPAN = "lifespan";

    private static final Duration DEFAULT_LIFESPAN = Duration.ofMillis(10);
    private static final Pattern UNSIGNED = Pattern.compile("[0-9]{1,20}");
    private static final Pattern SMALL_NUMBER = Pattern.compile("[0-9]{1,9}");
    private static final int SHOWN = 40;

    private final SysfsFiles files;

    /** @param root usually /sys */
    public SysfsCounters(Path root) {
        this.files = new SysfsFiles(requireNonNull(root, "root is null"));
    }

    /** Names of the RDMA devices that are there now, sorted; asks no device anything. */
    public List<String> devices() {
        return files.entries(INFINIBAND);
    }

    /** Counters of each port by number; empty when there is no such device. */
    public Optional<List<PortCounters>> read(String rdmaDevice) {
        String ports = INFINIBAND + "/" + rdmaDevice + "/ports";
        if (!SysfsFiles.isPlainName(rdmaDevice) || !files.isDirectory(INFINIBAND + "/" + rdmaDevice)) {
            return Optional.empty();
        }
        List<PortCounters> read = new ArrayList<>();
        for (String port : files.entries(ports)) {
            if (SMALL_NUMBER.matcher(port).matches()) {
                read.add(port(Integer.parseInt(port), ports + "/" + port));
            }
        }
        read.sort((a, b) -> Integer.compare(a.port(), b.port()));
        return Optional.of(List.copyOf(read));
    }

    private PortCounters port(int number, String path) {
        SortedMap<String, String> unreadable = new TreeMap<>();
        return new PortCounters(
                number,
                directory(path, HARDWARE, unreadable),
                directory(path, STANDARD, unreadable),
                unreadable,
                files.read(path + "/" + HARDWARE + "/" + LIFESPAN)
                        .filter(text -> SMALL_NUMBER.matcher(text).matches())
                        .map(text -> Duration.ofMillis(Integer.parseInt(text)))
                        .orElse(DEFAULT_LIFESPAN));
    }

    private SortedMap<String, Long> directory(String port, String directory, SortedMap<String, String> unreadable) {
        SortedMap<String, Long> counters = new TreeMap<>();
        for (String name : files.entries(port + "/" + directory)) {
            if (name.equals(LIFESPAN)) {
                continue;
            }
            SysfsFiles.Attempt attempt = files.attempt(port + "/" + directory + "/" + name);
            OptionalLong value = unsigned(attempt.text());
            if (value.isPresent()) {
                counters.put(name, value.getAsLong());
            } else {
                unreadable.put(
                        directory + "/" + name,
                        attempt.text().map(SysfsCounters::notANumber).orElse(attempt.problem()));
            }
        }
        return counters;
    }

    private static String notANumber(String text) {
        return "not a number: '" + text.substring(0, Math.min(SHOWN, text.length())) + "'";
    }

    /**
     * What a network interface has counted, as an unsigned number.
     *
     * @param statistic a file of its statistics: {@code rx_bytes}, {@code tx_bytes}, …
     */
    public OptionalLong netdevStatistic(String netdev, String statistic) {
        if (!SysfsFiles.isPlainName(netdev) || !SysfsFiles.isPlainName(statistic)) {
            return OptionalLong.empty();
        }
        return unsigned(files.read("class/net/" + netdev + "/statistics/" + statistic));
    }

    private static OptionalLong unsigned(Optional<String> text) {
        if (text.isEmpty() || !UNSIGNED.matcher(text.get()).matches()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseUnsignedLong(text.get()));
        } catch (NumberFormatException tooLarge) {
            return OptionalLong.empty();
        }
    }

    /**
     * What a port has counted since its driver was loaded. All numbers are unsigned and wrap at 2^64.
     *
     * @param hardware those of {@code hw_counters}, which the driver chooses, by name
     * @param standard those of {@code counters}, which InfiniBand names; a card that has none has an empty directory
     * @param unreadable why the others are missing, by path below the port ({@code hw_counters/tx_bytes_cnt})
     * @param lifespan a second reading within that time repeats the first
     */
    public record PortCounters(
            int port,
            SortedMap<String, Long> hardware,
            SortedMap<String, Long> standard,
            SortedMap<String, String> unreadable,
            Duration lifespan) {
        public PortCounters {
            hardware = Collections.unmodifiableSortedMap(new TreeMap<>(hardware));
            standard = Collections.unmodifiableSortedMap(new TreeMap<>(standard));
            unreadable = Collections.unmodifiableSortedMap(new TreeMap<>(unreadable));
            requireNonNull(lifespan, "lifespan is null");
        }
    }
}
