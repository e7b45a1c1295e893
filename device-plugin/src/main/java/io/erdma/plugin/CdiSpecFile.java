package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisementListener;
import io.erdma.device.DeviceHealth;
import io.erdma.log.Log;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;

/**
 * Keeps the CDI spec on disk in step with the offer. It stands before the {@link DeviceStream}, so that the runtime can
 * resolve a device before the kubelet hears of it. With CDI off it only passes the offer on.
 *
 * <p>While the spec can't be written, no name counts as resolvable. With {@link CdiMode#ALSO} containers then get device
 * nodes alone and lose nothing. With {@link CdiMode#ONLY} they would fail to start one after the other, so the devices
 * are offered as unhealthy and pods wait or go to another node. It tries again every 30 s, which also brings back a spec
 * that somebody removed.
 *
 * <p>The write is a kilobyte to what is usually a tmpfs and happens on the advertising thread, only when a device comes
 * or goes; health doesn't change the text.
 */
public final class CdiSpecFile implements AdvertisementListener, CdiNames, AutoCloseable {
    static final String FILE_NAME = "aliyun.com-erdma.json";

    private static final Duration CHECK_EVERY = Duration.ofSeconds(30);
    private static final Duration UNFINISHED_AFTER = Duration.ofMinutes(1);
    private static final Log LOG = Log.of(CdiSpecFile.class);

    private final CdiMode mode;
    private final Path file;
    private final AdvertisementListener next;
    private final InstantSource clock;
    private final Optional<Timer> timer;

    private AdvertisedDevices offer = AdvertisedDevices.NONE;
    private Optional<CdiSpec> wanted = Optional.empty();
    private Optional<Written> written = Optional.empty();
    private Optional<Failure> failure = Optional.empty();
    private boolean advertised;
    private boolean closed;
    private volatile Set<String> resolvable = Set.of();

    public CdiSpecFile(PluginSettings settings, AdvertisementListener next, InstantSource clock) {
        this.mode = settings.cdi();
        this.file = settings.cdiDirectory().resolve(FILE_NAME);
        this.next = requireNonNull(next, "next is null");
        this.clock = requireNonNull(clock, "clock is null");
        if (mode == CdiMode.OFF) {
            this.timer = Optional.empty();
        } else {
            Timer started = new Timer("erdma-cdi", true);
            started.schedule(
                    new TimerTask() {
                        @Override
                        public void run() {
                            check();
                        }
                    },
                    CHECK_EVERY.toMillis(),
                    CHECK_EVERY.toMillis());
            this.timer = Optional.of(started);
        }
    }

    @Override
    public boolean resolvable(String name) {
        return resolvable.contains(name);
    }

    @Override
    public synchronized void advertise(AdvertisedDevices devices, long observedNanos) {
        if (mode == CdiMode.OFF) {
            next.advertise(devices, observedNanos);
            return;
        }
        offer = devices;
        Optional<CdiSpec> spec = CdiSpec.of(devices);
        // The first write also takes over a file that an agent before us left, so that its close leaves ours alone.
        if (!closed && (!advertised || failure.isPresent() || !spec.equals(wanted))) {
            wanted = spec;
            bringInStep();
        }
        advertised = true;
        next.advertise(withoutUnresolvable(), observedNanos);
    }

    /** Writes the spec again if it is not there as we wrote it. */
    synchronized void check() {
        if (closed || !advertised || (failure.isEmpty() && isInStep())) {
            return;
        }
        try {
            boolean failedBefore = failure.isPresent();
            bringInStep();
            if (failedBefore != failure.isPresent()) {
                next.advertise(withoutUnresolvable(), System.nanoTime());
            }
        } catch (RuntimeException e) {
            LOG.error("the check of the CDI spec failed; it is tried again", e);
        }
    }

    /** Removes the spec, unless another agent has replaced it. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        timer.ifPresent(Timer::cancel);
        resolvable = Set.of();
        try {
            removeOurs();
        } catch (IOException e) {
            LOG.warn("cannot remove the CDI spec " + file + ": " + e + ". It names devices that nobody keeps current;"
                    + " remove it by hand.");
        }
    }

    private void bringInStep() {
        try {
            if (wanted.isPresent()) {
                write(wanted.get().json());
            } else if (advertised) {
                removeOurs();
            } else {
                // Left by an agent that could not clean up; its devices are gone.
                Files.deleteIfExists(file);
            }
            resolvable = wanted.map(CdiSpec::names).orElse(Set.of());
            if (failure.isPresent()) {
                failure = Optional.empty();
                LOG.info("the CDI spec " + file + " is up to date again");
            }
        } catch (IOException e) {
            resolvable = Set.of();
            if (failure.isEmpty()) {
                failure = Optional.of(
                        new Failure("cannot bring the CDI spec " + file + " up to date: " + e, clock.instant()));
                LOG.warn(failure.get().reason + ". Make the directory writable for the agent (a hostPath mount in its"
                        + " pod); "
                        + switch (mode) {
                            case OFF, ALSO -> "until then containers get their devices without CDI.";
                            case ONLY -> "until then the devices are offered as unhealthy.";
                        });
            }
        }
    }

    private void write(String json) throws IOException {
        Files.createDirectories(file.getParent());
        if (written.isEmpty()) {
            removeUnfinished();
        }
        // Runtimes read what ends in .json or .yaml; this doesn't until it is whole.
        Path temporary = Files.createTempFile(file.getParent(), "." + FILE_NAME, ".tmp");
        try {
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                // Without it a crash can leave the new name with an empty file.
                channel.force(true);
            }
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rw-r--r--"));
            Object key = key(temporary);
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
            written = Optional.of(new Written(key));
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** Of agents that were killed in the middle of a write. One that writes this moment has a file of this moment. */
    private void removeUnfinished() {
        try {
            for (Path unfinished : unfinished(file.getParent())) {
                FileTime written = Files.getLastModifiedTime(unfinished, LinkOption.NOFOLLOW_LINKS);
                if (written.toInstant().isBefore(clock.instant().minus(UNFINISHED_AFTER))) {
                    Files.deleteIfExists(unfinished);
                }
            }
        } catch (IOException e) {
            LOG.debug("cannot remove what was left of a CDI spec in " + file.getParent() + ": " + e);
        }
    }

    /** Files that a spec was to become of. */
    static List<Path> unfinished(Path directory) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "." + FILE_NAME + "*.tmp")) {
            entries.forEach(found::add);
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return found;
    }

    private void removeOurs() throws IOException {
        if (written.isPresent() && isOurs(written.get())) {
            Files.deleteIfExists(file);
        }
        written = Optional.empty();
    }

    private boolean isOurs(Written ours) {
        try {
            return ours.key.equals(key(file));
        } catch (IOException e) {
            // Not there, or not to be seen, which is the same to us.
            return false;
        }
    }

    /** By content: during a rolling update the other agent's spec says the same, and the two must not take turns. */
    private boolean isInStep() {
        if (wanted.isEmpty()) {
            return written.isEmpty();
        }
        byte[] json = wanted.get().json().getBytes(StandardCharsets.UTF_8);
        try {
            BasicFileAttributes attributes = attributes(file);
            // To read a pipe would wait, and a file of any size needs as much memory.
            return attributes.isRegularFile()
                    && attributes.size() == json.length
                    && Arrays.equals(Files.readAllBytes(file), json);
        } catch (IOException e) {
            return false;
        }
    }

    /** Device, inode and time: file systems give the inode of a file that is gone to the next one. */
    private static Object key(Path path) throws IOException {
        BasicFileAttributes attributes = attributes(path);
        return List.of(attributes.fileKey(), attributes.lastModifiedTime());
    }

    private static BasicFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    private AdvertisedDevices withoutUnresolvable() {
        if (mode != CdiMode.ONLY) {
            return offer;
        }
        return new AdvertisedDevices(
                offer.devices().stream().map(this::unhealthyIfUnresolvable).toList(), offer.rdmaCm());
    }

    private AdvertisedDevices.Entry unhealthyIfUnresolvable(AdvertisedDevices.Entry entry) {
        boolean resolved = CdiSpec.qualifiedName(entry.device())
                .filter(resolvable::contains)
                .isPresent();
        if (resolved || !entry.health().isHealthy()) {
            return entry;
        }
        return new AdvertisedDevices.Entry(
                entry.device(),
                failure.map(failed -> new DeviceHealth.Unhealthy(failed.reason, failed.since))
                        .orElseGet(() -> new DeviceHealth.Unhealthy(
                                "its name cannot be the name of a CDI device; rename it or set cdi to off",
                                clock.instant())));
    }

    /** @param key tells this file from all that had or get its name */
    private record Written(Object key) {}

    private record Failure(String reason, Instant since) {}
}
