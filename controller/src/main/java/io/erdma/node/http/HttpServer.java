package io.erdma.node.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erdma.log.Log;
import io.erdma.log.Log.Field;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Answers one request a connection, at as many addresses as the agent has, on one thread of its own.
 *
 * <p>The agent runs in the host's network namespace, so whoever reaches the node reaches its ports. Hence: the number of
 * connections of each address, the time that each may take and what it may send are bounded, and nobody is locked out by
 * others who hold connections open.
 */
public final class HttpServer implements AutoCloseable {
    /** Of each address. */
    static final int MAX_CONNECTIONS = 32;

    static final Duration MAX_CONNECTION_TIME = Duration.ofSeconds(5);

    private static final Log LOG = Log.of(HttpServer.class);
    private static final String THREAD = "erdma-http";

    /** Room for a burst: the kernel drops what finds none, and the peer tries again a second later. */
    private static final int BACKLOG = 256;

    // Bytes that a request may have.
    private static final int MAX_LINE = 1024;
    private static final int MAX_HEADERS = 8192;
    /** Of a body, which is dropped as it comes. */
    private static final int MAX_CHUNK = 1024;

    private final EventLoopGroup loop;
    private final Duration longest;
    private final List<Channel> servers = new ArrayList<>();

    private HttpServer(EventLoopGroup loop, Duration longest) {
        this.loop = loop;
        this.longest = longest;
    }

    /** Its thread begins with the first address. */
    public static HttpServer create() {
        return create(MAX_CONNECTION_TIME);
    }

    static HttpServer create(Duration longest) {
        ThreadFactory threads = Thread.ofPlatform().name(THREAD).daemon().factory();
        return new HttpServer(new MultiThreadIoEventLoopGroup(1, threads, NioIoHandler.newFactory()), longest);
    }

    /**
     * Serves at once.
     *
     * @return where it listens; the port is the real one also when 0 was asked for
     * @throws IOException in one line for the operator, when the address cannot be taken
     */
    public InetSocketAddress listen(InetSocketAddress address, Paths paths) throws IOException {
        var connections = new OpenConnections(MAX_CONNECTIONS, longest);
        var requests = new Requests(paths);
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
            throw new IOException(
                    "cannot listen on " + describe(address) + ": "
                            + bound.cause().getMessage(),
                    bound.cause());
        }
        servers.add(bound.channel());
        return (InetSocketAddress) bound.channel().localAddress();
    }

    /** One for all connections of an address: it keeps nothing between requests. */
    @Sharable
    private static final class Requests extends SimpleChannelInboundHandler<HttpObject> {
        private final Paths paths;

        Requests(Paths paths) {
            this.paths = paths;
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
                answer = Answer.text(500, "a fault of the agent; its log tells more\n");
            }
            boolean head = request.method().equals(HttpMethod.HEAD);
            context.writeAndFlush(response(answer, head)).addListener(ChannelFutureListener.CLOSE);
        }

        private Answer answer(HttpRequest request, InetSocketAddress peer) {
            if (!request.decoderResult().isSuccess()) {
                return Answer.text(400, "not a request that this server understands\n");
            }
            if (HttpUtil.isTransferEncodingChunked(request) || HttpUtil.getContentLength(request, 0L) > 0) {
                return Answer.text(413, "send no body\n");
            }
            String uri = request.uri();
            int query = uri.indexOf('?');
            return paths.answer(new Paths.Request(
                    request.method(),
                    query < 0 ? uri : uri.substring(0, query),
                    query < 0 ? "" : uri.substring(query + 1),
                    peer.getAddress()));
        }

        private static FullHttpResponse response(Answer answer, boolean head) {
            byte[] body = answer.body().getBytes(UTF_8);
            FullHttpResponse response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1,
                    HttpResponseStatus.valueOf(answer.status()),
                    head ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(body));
            response.headers()
                    .set(HttpHeaderNames.CONTENT_TYPE, answer.type())
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

    private static String describe(InetSocketAddress address) {
        return address.getAddress().isAnyLocalAddress()
                ? ":" + address.getPort()
                : address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    /** Answers under way are cut off. */
    @Override
    public void close() {
        for (Channel server : servers) {
            boolean _ = server.close().awaitUninterruptibly(500, TimeUnit.MILLISECONDS);
        }
        loop.shutdownGracefully(0, 500, TimeUnit.MILLISECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}
