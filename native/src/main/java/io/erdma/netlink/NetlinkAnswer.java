package io.erdma.netlink;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Puts the answer to one request together from the datagrams that arrive. What bears another sequence number belongs to
 * a request that was given up, or to nobody, and is left out.
 *
 * @param <T> what is kept of a message
 */
final class NetlinkAnswer<T> {
    /**
     * Enough for thousands of interfaces and some ten thousand routes; beyond it, this is no answer that we can use. The
     * agent's heap is 24 MB: an answer that fills it would end all of the agent and not just the question. What is left
     * out as it comes does not count.
     */
    static final int MAX_BYTES = 8 << 20;

    /** What the objects of one message take beside its bytes, with those that it is turned into. */
    static final int OBJECTS_OF_A_MESSAGE = 200;

    private final int sequence;
    private final boolean dump;
    private final Function<NetlinkMessage, Optional<T>> reader;
    private final List<T> kept = new ArrayList<>();
    private long bytes;
    private boolean complete;
    private boolean progressed;
    private boolean interrupted;
    private Optional<NetlinkMessage.Verdict> failure = Optional.empty();

    /**
     * @param dump whether the answer ends with DONE; else it ends with the acknowledgement
     * @param reader what to keep of each message as it comes; one that is left out costs nothing, however many there are
     */
    NetlinkAnswer(int sequence, boolean dump, Function<NetlinkMessage, Optional<T>> reader) {
        this.sequence = sequence;
        this.dump = dump;
        this.reader = reader;
    }

    /** Keeps the messages as they are. */
    static NetlinkAnswer<NetlinkMessage> ofMessages(int sequence, boolean dump) {
        return new NetlinkAnswer<>(sequence, dump, Optional::of);
    }

    /** @return whether the answer is now complete */
    boolean accept(byte[] datagram) throws NetlinkFormatException {
        progressed = false;
        for (NetlinkMessage message : NetlinkMessage.split(datagram)) {
            if (!complete && message.sequence() == sequence) {
                progressed = true;
                accept(message);
            }
        }
        return complete;
    }

    private void accept(NetlinkMessage message) throws NetlinkFormatException {
        if (dump && (message.flags() & NetlinkMessage.FLAG_DUMP_INTERRUPTED) != 0) {
            interrupted = true;
        }
        switch (message.type()) {
            case NetlinkMessage.NOOP -> {}
            case NetlinkMessage.OVERRUN -> interrupted = true;
            case NetlinkMessage.ERROR, NetlinkMessage.DONE -> {
                NetlinkMessage.Verdict verdict = message.verdict();
                if (verdict.errno() != 0) {
                    failure = Optional.of(verdict);
                }
                // An acknowledgement without error may come before the parts of a dump, never after them.
                complete = failure.isPresent() || !dump || message.type() == NetlinkMessage.DONE;
            }
            default -> {
                Optional<T> item = reader.apply(message);
                if (item.isEmpty()) {
                    return;
                }
                bytes += OBJECTS_OF_A_MESSAGE
                        + NetlinkMessage.HEADER
                        + message.payload().limit();
                if (bytes > MAX_BYTES) {
                    throw new NetlinkFormatException(
                            "an answer goes on after " + kept.size() + " messages, which is all that is kept");
                }
                kept.add(item.get());
            }
        }
    }

    /** Whether the last datagram had a part of the answer. */
    boolean progressed() {
        return progressed;
    }

    /** The table changed during the dump, so parts of it may be missing or there twice. */
    boolean interrupted() {
        return interrupted;
    }

    Optional<NetlinkMessage.Verdict> failure() {
        return failure;
    }

    List<T> kept() {
        return List.copyOf(kept);
    }
}
