package io.erdma.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Server;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Takes its time: gRPC gives a connection at least a second, and ten more to answer the goodbye. */
class IdleConnectionsIT {
    @TempDir
    private Path root;

    @Test
    @Timeout(40)
    void closesConnectionsOnWhichNothingHappens() throws IOException {
        Path socket = root.resolve("idle.sock");
        List<SocketChannel> idle = new ArrayList<>();
        try (UnixTransport transport = UnixTransport.open()) {
            Server server = transport.serve(socket, new TestPlugin(1).bindService(), Duration.ofSeconds(1));
            for (int i = 0; i < 100; i++) {
                idle.add(SocketChannel.open(UnixDomainSocketAddress.of(socket)));
            }
            for (SocketChannel channel : idle) {
                // To the end of the stream, which only the server can bring about.
                assertThat(Channels.newInputStream(channel).readAllBytes()).hasSizeLessThan(200);
            }
            assertThat(server.isShutdown()).isFalse();
            server.shutdownNow();
        } finally {
            for (SocketChannel channel : idle) {
                channel.close();
            }
        }
    }
}
