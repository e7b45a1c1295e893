package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * gRPC over unix sockets, servers and clients alike, on one thread of its own. It uses the JDK's own domain sockets, so
 * there is no native library to unpack and no directory that must be writable for it. Handlers and callbacks run on that
 * thread: they must not block.
 */
public final class UnixTransport implements AutoCloseable {
    static final String THREAD = "erdma-grpc";

    /** What grpc-go, and so the kubelet, receives at most unless told otherwise. */
    public static final int DEFAULT_MAX_MESSAGE_BYTES = 4 << 20;

    /** A kubelet keeps its stream open, so a connection without a call for as long is a forgotten or a broken one. */
    private static final Duration IDLE = Duration.ofMinutes(1);

    // gRPC asks for TCP keep-alive on every socket, and Netty warns each time that a unix socket has no such option.
    // Held here because java.util.logging forgets the level of a logger that nobody holds.
    private static final List<Logger> QUIET_LOGGERS = List.of(
            Logger.getLogger("io.netty.bootstrap.Bootstrap"), Logger.getLogger("io.netty.bootstrap.ServerBootstrap"));

    private final EventLoopGroup loop;

    private UnixTransport(EventLoopGroup loop) {
        this.loop = loop;
    }

    public static UnixTransport open() {
        QUIET_LOGGERS.forEach(logger -> logger.setLevel(Level.SEVERE));
        ThreadFactory threads = Thread.ofPlatform().name(THREAD).daemon().factory();
        return new UnixTransport(new MultiThreadIoEventLoopGroup(1, threads, NioIoHandler.newFactory()));
    }

    /**
     * Serves on a new socket file; once this returns, calls are answered. The file stays when the server ends, and one
     * that is there already is an error: both are the caller's.
     */
    public Server serve(Path socket, ServerServiceDefinition service) throws IOException {
        return serve(socket, service, IDLE);
    }

    Server serve(Path socket, ServerServiceDefinition service, Duration idle) throws IOException {
        requireNonNull(service, "service is null");
        return NettyServerBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioServerDomainSocketChannel.class)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .directExecutor()
                .maxInboundMessageSize(DEFAULT_MAX_MESSAGE_BYTES)
                .maxConnectionIdle(idle.toNanos(), TimeUnit.NANOSECONDS)
                .addService(service)
                .build()
                .start();
    }

    /** A client; it connects with its first call. Whoever asks for it shuts it down. */
    public ManagedChannel connect(Path socket, int maxInboundBytes) {
        return NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class)
                .eventLoopGroup(loop)
                .directExecutor()
                .offloadExecutor(loop)
                .usePlaintext()
                // Strict servers refuse a path here, and the kubelet's own client says the same.
                .overrideAuthority("localhost")
                .maxInboundMessageSize(maxInboundBytes)
                .disableRetry()
                .build();
    }

    /** Ends the thread, and with it each connection that is still open. */
    @Override
    public void close() {
        loop.shutdownGracefully(0, 500, TimeUnit.MILLISECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
