package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Where the kubelet is, what we offer it, and how patient we are.
 *
 * @param kubeletRoot usually {@code /var/lib/kubelet}
 * @param resource the extended resource's name
 * @param registerDeadline for one Register call; the kubelet dials back within it and allows itself 10 s
 *     for that, so it is longer
 * @param firstBackOff before the second try; doubles from there
 * @param longestBackOff where the doubling ends
 * @param streamPatience how long after a registration the kubelet may take to open ListAndWatch
 * @param settle the kubelet's time to notice that a stream has ended before we register again: a late notice of the old
 *     stream's end would stop the new endpoint
 * @param absence how long a kubelet may be away before that is worth a warning; it is, while it restarts
 * @param poll how often we look by ourselves where nobody tells us
 * @param closeWithin how long {@link KubeletSession#close} waits for the session to end
 */
public record SessionSettings(
        Path kubeletRoot,
        String resource,
        Duration registerDeadline,
        Duration firstBackOff,
        Duration longestBackOff,
        Duration streamPatience,
        Duration settle,
        Duration absence,
        Duration poll,
        Duration closeWithin) {
    /** sun_path has 108 bytes, the last of them a NUL. */
    static final int LONGEST_SOCKET_PATH = 107;

    public SessionSettings {
        requireNonNull(kubeletRoot, "kubeletRoot is null");
        requireNonNull(resource, "resource is null");
        Path longest = kubeletRoot.resolve(SocketDirectory.NAME).resolve(SocketDirectory.exampleName(resource));
        int bytes = longest.toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > LONGEST_SOCKET_PATH) {
            throw new IllegalArgumentException("kubelet root " + kubeletRoot + " is too long: the plugin's socket "
                    + longest + " would have a path of " + bytes + " bytes, and Linux allows " + LONGEST_SOCKET_PATH
                    + ". Mount the directory at a shorter path and give that one.");
        }
        for (Duration duration : new Duration[] {
            registerDeadline, firstBackOff, longestBackOff, streamPatience, settle, absence, poll, closeWithin
        }) {
            if (duration.isNegative() || duration.isZero()) {
                throw new IllegalArgumentException(
                        "a waiting time of the kubelet session is not positive: " + duration);
            }
        }
    }

    public static SessionSettings of(Path kubeletRoot, String resource) {
        return new SessionSettings(
                kubeletRoot,
                resource,
                Duration.ofSeconds(15),
                Duration.ofMillis(50),
                Duration.ofSeconds(5),
                Duration.ofSeconds(5),
                Duration.ofMillis(100),
                Duration.ofSeconds(30),
                Duration.ofSeconds(1),
                Duration.ofSeconds(2));
    }
}
