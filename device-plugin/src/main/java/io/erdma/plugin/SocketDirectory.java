package io.erdma.plugin;

import io.erdma.log.Log;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The kubelet's directory of plugin sockets: where its own socket is, and those of this agent and of others of its kind.
 * We never create the directory: its mode and label are the kubelet's business.
 *
 * <p>Our sockets are {@code erdma-<16 hex digits>.sock}. The first four digits come from the resource's name, so that
 * agents that serve different resources do not take each other for rivals; the rest is random. The Go agent removes all
 * that ends in {@code -erdma.sock}, which this does not.
 */
final class SocketDirectory {
    static final String NAME = "device-plugins";
    static final String KUBELET_SOCKET = "kubelet.sock";

    private static final Log LOG = Log.of(SocketDirectory.class);
    /** Far longer than between binding a socket and listening on it. */
    private static final Duration STARTING = Duration.ofSeconds(10);

    private static final String ANY_OF_OURS = "{erdma-*.sock,.erdma-*.new}";

    private static final int FILE_TYPE_MASK = 0170000;
    private static final int FILE_TYPE_SOCKET = 0140000;

    private final Path path;
    private final String resource;
    private final SplittableRandom random = new SplittableRandom();

    SocketDirectory(Path kubeletRoot, String resource) {
        this.path = kubeletRoot.resolve(NAME);
        this.resource = resource;
    }

    Path path() {
        return path;
    }

    Path kubeletSocket() {
        return path.resolve(KUBELET_SOCKET);
    }

    boolean exists() {
        return Files.isDirectory(path);
    }

    /** Whether it is a mount of a directory that has no name any more: nothing can ever appear in it. */
    boolean wasRemoved() throws IOException {
        try {
            return exists() && (Integer) Files.getAttribute(path, "unix:nlink") == 0;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    Optional<SocketIdentity> kubelet() throws IOException {
        return SocketIdentity.of(kubeletSocket());
    }

    Path freshSocket() {
        return path.resolve("erdma-" + tag(resource) + "%012x".formatted(random.nextLong(1L << 48)) + ".sock");
    }

    /** No agent takes it for another's, and one that is left behind is removed like the others. */
    Path rehearsalSocket() {
        return path.resolve("erdma-rehearsal-" + "%06x".formatted(random.nextInt(1 << 24)) + ".sock");
    }

    /** Where a socket is made before it gets its name; of the same length. */
    static Path staging(Path socket) {
        String name = socket.getFileName().toString();
        return socket.resolveSibling("." + name.substring(0, name.length() - ".sock".length()) + ".new");
    }

    static String exampleName(String resource) {
        return "erdma-" + tag(resource) + "0".repeat(12) + ".sock";
    }

    private static String tag(String resource) {
        return "%04x".formatted(resource.hashCode() & 0xffff);
    }

    /** Sockets of agents that serve the same resource and answer a connect, except our own. */
    Set<Path> livePeers(Optional<Path> own) throws IOException {
        Set<Path> live = new HashSet<>();
        for (Path socket : list("erdma-" + tag(resource) + "*.sock")) {
            if (!own.equals(Optional.of(socket)) && isSocket(socket) && answer(socket) == Answer.LIVE) {
                live.add(socket);
            }
        }
        return live;
    }

    /** One of the peers whose socket was made after that moment, if there is one. */
    static Optional<Path> newerThan(Instant moment, Set<Path> peers) throws IOException {
        for (Path socket : peers) {
            Optional<SocketIdentity> identity = SocketIdentity.of(socket);
            if (identity.isPresent() && identity.get().created().toInstant().isAfter(moment)) {
                return Optional.of(socket);
            }
        }
        return Optional.empty();
    }

    /** What agents left behind that could not clean up: sockets named like ours on which nobody listens. */
    List<Path> stale() throws IOException {
        List<Path> stale = new ArrayList<>();
        for (Path socket : list(ANY_OF_OURS)) {
            if (isSocket(socket) && !mayBeStarting(socket) && answer(socket) == Answer.REFUSED) {
                stale.add(socket);
            }
        }
        return stale;
    }

    void removeStale() throws IOException {
        for (Path socket : stale()) {
            Files.deleteIfExists(socket);
            LOG.info("removed the socket of an agent that is gone: " + socket.getFileName());
        }
    }

    /** Sockets of agents that answer a connect, whatever resource they serve. */
    List<Path> live() throws IOException {
        List<Path> live = new ArrayList<>();
        for (Path socket : list(ANY_OF_OURS)) {
            if (isSocket(socket) && answer(socket) == Answer.LIVE) {
                live.add(socket);
            }
        }
        return live;
    }

    /** An agent that starts this moment has bound its socket and does not listen yet; it gets its name only then. */
    private static boolean mayBeStarting(Path socket) throws IOException {
        if (socket.getFileName().toString().endsWith(".sock")) {
            return false;
        }
        Optional<SocketIdentity> identity = SocketIdentity.of(socket);
        return identity.isPresent()
                && identity.get().created().toInstant().isAfter(Instant.now().minus(STARTING));
    }

    private enum Answer {
        LIVE,
        REFUSED,
        GONE
    }

    private static Answer answer(Path socket) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            // Blocking, it would wait as long as the backlog of a stopped process is full.
            channel.configureBlocking(false);
            channel.connect(UnixDomainSocketAddress.of(socket));
            return Answer.LIVE;
        } catch (ConnectException e) {
            return Answer.REFUSED;
        } catch (IOException e) {
            // A full backlog or a lack of permission: somebody is there.
            return Files.exists(socket, LinkOption.NOFOLLOW_LINKS) ? Answer.LIVE : Answer.GONE;
        }
    }

    private List<Path> list(String glob) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path, glob)) {
            entries.forEach(found::add);
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return found;
    }

    private static boolean isSocket(Path file) throws IOException {
        try {
            int mode = (Integer) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            return (mode & FILE_TYPE_MASK) == FILE_TYPE_SOCKET;
        } catch (NoSuchFileException e) {
            return false;
        }
    }
}
