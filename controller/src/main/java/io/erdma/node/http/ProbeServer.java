package io.erdma.node.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.node.log.LogLevel;
import io.erdma.node.log.Logging;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Answers {@code /healthz}, {@code /readyz}, {@code /metrics}, {@code /plans} and {@code /loglevel}, one request a
 * connection, on one thread of its own. The suppliers run on that thread and must not block.
 *
 * <p>The agent runs in the host's network namespace, so whoever reaches the node reaches this port. Hence: the number of
 * connections, the time that each may take and what it may send are bounded, nobody is locked out by others who hold
 * connections open, and the one path that changes something answers the node itself only.
 */
public final class ProbeServer implements AutoCloseable {
    static final int MAX_CONNECTIONS = 32;
    static final Duration MAX_CONNECTION_TIME = Duration.ofSeconds(5);

    private static final Log LOG = Log.of(ProbeServer.class);
    private static final String THREAD = "erdma-http";

    /** Room for a burst: the kernel drops what finds none, and the peer tries again a second later. */
    private static final int BACKLOG = 256;

    // Bytes that a request may have.
    private static final int MAX_LINE = 1024;
    private static final int MAX_HEADERS = 8192;
    /** Of a body, which is dropped as it comes. */
    private static final int MAX_CHUNK = 1024;

    private final EventLoopGroup loop;
    private final Channel server;

    private ProbeServer(EventLoopGroup loop, Channel server) {
        this.loop = loop;
        this.server = server;
    }

    /**
     * Serves at once.
     *
     * @param metrics the text of a scrape
     * @param plans what the agent is about to do, one line each
     * @throws IOException in one line for the operator, when the address cannot be taken
     */
    public static ProbeServer open(
            InetSocketAddress address,
            Supplier<Verdict> health,
            Supplier<Verdict> readiness,
            Supplier<String> metrics,
            Supplier<String> plans,
            Logging logging)
            throws IOException {
        return open(address, health, readiness, metrics, plans, logging, MAX_CONNECTION_TIME);
    }

    static ProbeServer open(
            InetSocketAddress address,
            Supplier<Verdict> health,
            Supplier<Verdict> readiness,
            Supplier<String> metrics,
            Supplier<String> plans,
            Logging logging,
            Duration longest)
            throws IOException {
        ThreadFactory threads = Thread.ofPlatform().name(THREAD).daemon().factory();
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, threads, NioIoHandler.newFactory());
        var connections = new OpenConnections(MAX_CONNECTIONS, longest);
        var requests = new Requests(health, readiness, metrics, plans, logging);
        ChannelFuture bound = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline()
                                .addLast(connections, new HttpServerCodec(MAX_LINE, MAX_HEADERS, MAX_CHUNK), requests);
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            stop(loop);
            throw new IOException(
                    "cannot listen on " + describe(address) + " for probes and metrics: "
                            + bound.cause().getMessage()
                            + ". The agent shares the node's ports: give it a free one with --probe-address (and the"
                            + " pod's probes the same), or turn it off with --probe-address=",
                    bound.cause());
        }
        return new ProbeServer(loop, bound.channel());
    }

    private record Answer(int status, String body, Map<String, String> headers) {
        Answer(int status, String body) {
            this(status, body, Map.of());
        }

        static Answer notAllowed(String allowed) {
            return new Answer(405, "use " + allowed + "\n", Map.of("Allow", allowed));
        }

        static Answer of(Verdict verdict) {
            return verdict.holds()
                    ? new Answer(200, "ok\n")
                    : new Answer(503, String.join("\n", verdict.failures()) + "\n");
        }
    }

    /** One for all connections: it keeps nothing between requests. */
    @Sharable
    private static final class Requests extends SimpleChannelInboundHandler<HttpObject> {
        private final Supplier<Verdict> health;
        private final Supplier<Verdict> readiness;
        private final Supplier<String> metrics;
        private final Supplier<String> plans;
        private final Logging logging;

        Requests(
                Supplier<Verdict> health,
                Supplier<Verdict> readiness,
                Supplier<String> metrics,
                Supplier<String> plans,
                Logging logging) {
            this.health = health;
            this.readiness = readiness;
            this.metrics = metrics;
            this.plans = plans;
            this.logging = logging;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
            // The connection ends with the first answer, so what follows the head is nothing to us.
            if (!(part instanceof HttpRequest request)) {
                return;
            }
            Answer answer;
            try {
                answer = answer(request, (InetSocketAddress) context.channel().remoteAddress());
            } catch (RuntimeException e) {
                LOG.error("request failed", e, Field.of("request", request.method() + " " + request.uri()));
                answer = new Answer(500, "a fault of the agent; its log tells more\n");
            }
            boolean head = request.method().equals(HttpMethod.HEAD);
            context.writeAndFlush(response(answer, head)).addListener(ChannelFutureListener.CLOSE);
        }

        private Answer answer(HttpRequest request, InetSocketAddress peer) {
            if (!request.decoderResult().isSuccess()) {
                return new Answer(400, "not a request that this server understands\n");
            }
            if (HttpUtil.isTransferEncodingChunked(request) || HttpUtil.getContentLength(request, 0L) > 0) {
                return new Answer(413, "send no body\n");
            }
            String uri = request.uri();
            int query = uri.indexOf('?');
            return switch (query < 0 ? uri : uri.substring(0, query)) {
                case "/healthz" -> get(request, () -> Answer.of(health.get()));
                case "/readyz" -> get(request, () -> Answer.of(readiness.get()));
                case "/metrics" -> get(request, () -> new Answer(200, metrics.get()));
                case "/plans" -> get(request, () -> new Answer(200, plans.get()));
                case "/loglevel" -> logLevel(request.method(), query < 0 ? "" : uri.substring(query + 1), peer);
                default -> new Answer(404, "not found\n");
            };
        }

        private static Answer get(HttpRequest request, Supplier<Answer> answer) {
            return reads(request.method()) ? answer.get() : Answer.notAllowed("GET, HEAD");
        }

        private static boolean reads(HttpMethod method) {
            return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
        }

        /** Only PUT changes the level: a web page opened on the node could send a POST to it, but no PUT without asking. */
        private Answer logLevel(HttpMethod method, String query, InetSocketAddress peer) {
            if (reads(method)) {
                return new Answer(200, logging.level().word() + "\n");
            }
            if (!method.equals(HttpMethod.PUT)) {
                return Answer.notAllowed("GET, HEAD, PUT");
            }
            if (!peer.getAddress().isLoopbackAddress()) {
                return new Answer(403, "the log level is changed from the node itself only\n");
            }
            Optional<LogLevel> level =
                    query.startsWith("level=") ? LogLevel.of(query.substring("level=".length())) : Optional.empty();
            if (level.isEmpty()) {
                return new Answer(400, "use /loglevel?level=debug, info, warn or error\n");
            }
            LogLevel before = logging.level();
            logging.level(level.get());
            LOG.warn(
                    "log level changed",
                    Field.of("from", before.word()),
                    Field.of("to", level.get().word()));
            return new Answer(200, level.get().word() + "\n");
        }

        private static FullHttpResponse response(Answer answer, boolean head) {
            byte[] body = answer.body().getBytes(UTF_8);
            FullHttpResponse response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1,
                    HttpResponseStatus.valueOf(answer.status()),
                    head ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(body));
            response.headers()
                    .set(HttpHeaderNames.CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")
                    .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
                    .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
                    .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
            answer.headers().forEach(response.headers()::set);
            return response;
        }

        /** A peer that went away or sent what no request has: nothing to tell anybody. */
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            OpenConnections.end(context.channel());
        }
    }

    /** Where it listens; the port is the real one also when 0 was asked for. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.localAddress();
    }

    private static String describe(InetSocketAddress address) {
        return address.getAddress().isAnyLocalAddress()
                ? ":" + address.getPort()
                : address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    /** Answers under way are cut off. */
    @Override
    public void close() {
        boolean _ = server.close().awaitUninterruptibly(500, TimeUnit.MILLISECONDS);
        stop(loop);
    }

    private static void stop(EventLoopGroup loop) {
        loop.shutdownGracefully(0, 500, TimeUnit.MILLISECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
