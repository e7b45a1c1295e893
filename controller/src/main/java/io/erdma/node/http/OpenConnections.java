package io.erdma.node.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Bounds how many connections are open, and for how long, without ever turning a newcomer away: when there is one too
 * many, the oldest of the peer that holds most of them is closed. So whoever collects connections loses its own, and a
 * peer with one, such as the kubelet, keeps it. All state belongs to the one thread that serves the connections.
 */
@Sharable
final class OpenConnections extends ChannelInboundHandlerAdapter {
    private final int most;
    private final Duration longest;
    /** In the order in which they came. */
    private final Map<Channel, InetAddress> open = new LinkedHashMap<>();

    /** @param longest from accepting a connection to its end, whatever happens on it */
    OpenConnections(int most, Duration longest) {
        this.most = most;
        this.longest = longest;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        Channel channel = context.channel();
        SocketAddress peer = channel.remoteAddress();
        if (!(peer instanceof InetSocketAddress address)) {
            // It has gone already.
            end(channel);
            return;
        }
        open.put(channel, address.getAddress());
        var end = context.executor().schedule(() -> end(channel), longest.toNanos(), TimeUnit.NANOSECONDS);
        channel.closeFuture().addListener(closed -> {
            open.remove(channel);
            end.cancel(false);
        });
        if (open.size() > most) {
            end(oldestOfTheGreediest());
        }
        context.fireChannelActive();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // nobody is there to hear how the closing went
    static void end(Channel channel) {
        channel.close();
    }

    private Channel oldestOfTheGreediest() {
        Map<InetAddress, Integer> held = new HashMap<>();
        open.values().forEach(peer -> held.merge(peer, 1, Integer::sum));
        InetAddress greediest = held.entrySet().stream()
                .max(Comparator.comparingInt(Map.Entry::getValue))
                .orElseThrow()
                .getKey();
        return open.entrySet().stream()
                .filter(entry -> entry.getValue().equals(greediest))
                .findFirst()
                .orElseThrow()
                .getKey();
    }
}
