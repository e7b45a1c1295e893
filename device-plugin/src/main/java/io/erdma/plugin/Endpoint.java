package io.erdma.plugin;

import io.erdma.log.Log;
import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.ServerInterceptors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** One socket on which the plugin's service answers. It is registered at most once; the next registration gets its own. */
final class Endpoint {
    private static final Log LOG = Log.of(Endpoint.class);
    private static final Duration GRACE = Duration.ofMillis(200);

    private final Path socket;
    private final SocketIdentity identity;
    private final Server server;
    private final StreamWatch streams;

    private Endpoint(Path socket, SocketIdentity identity, Server server, StreamWatch streams) {
        this.socket = socket;
        this.identity = identity;
        this.server = server;
        this.streams = streams;
    }

    /**
     * Once this returns, the kubelet can dial.
     *
     * @param streamsChanged see {@link StreamWatch}
     */
    static Endpoint open(UnixTransport transport, Path socket, BindableService service, Runnable streamsChanged)
            throws IOException {
        StreamWatch streams = new StreamWatch(streamsChanged);
        Path staging = SocketDirectory.staging(socket);
        Server server = transport.serve(staging, ServerInterceptors.intercept(service, streams));
        try {
            // The kubelet is root; nobody else has business here.
            Files.setPosixFilePermissions(staging, PosixFilePermissions.fromString("rw-------"));
            // The socket appears under its name only when it answers, so no agent takes it for a dead one. And Netty
            // never touches that name, since it removes the path that it bound, whatever is there by then.
            Files.move(staging, socket);
            Optional<SocketIdentity> identity = SocketIdentity.of(socket);
            if (identity.isEmpty()) {
                throw new IOException("the new socket " + socket + " was removed at once");
            }
            return new Endpoint(socket, identity.get(), server, streams);
        } catch (IOException | RuntimeException e) {
            end(server, Duration.ZERO);
            throw e;
        }
    }

    Path socket() {
        return socket;
    }

    Instant created() {
        return identity.created().toInstant();
    }

    StreamWatch streams() {
        return streams;
    }

    boolean socketIsThere() throws IOException {
        return SocketIdentity.of(socket).equals(Optional.of(identity));
    }

    /** For a kubelet that lives: it sees its streams end, then the connection, then the file. */
    void close() {
        streams.endAll();
        close(GRACE);
    }

    /** For a kubelet that is gone: nobody is there to be told. */
    void discard() {
        close(Duration.ZERO);
    }

    private void close(Duration grace) {
        end(server, grace);
        try {
            if (socketIsThere()) {
                Files.deleteIfExists(socket);
            }
        } catch (IOException e) {
            LOG.warn("cannot remove our socket " + socket + ": " + e + ". The next agent removes it when it starts.");
        }
    }

    private static void end(Server server, Duration grace) {
        try {
            server.shutdown();
            if (grace.isZero() || !server.awaitTermination(grace.toMillis(), TimeUnit.MILLISECONDS)) {
                server.shutdownNow().awaitTermination(GRACE.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
