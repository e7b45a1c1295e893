package io.erdma.netlink;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Puts the answer to one request together from the datagrams that arrive. What bears another sequence number belongs to
 * a request that was given up, or to nobody, and is left out.
 */
final class NetlinkAnswer {
    /**
     * Enough for thousands of interfaces and some ten thousand routes; beyond it, this is no answer that we can use. The
     * agent's heap is 24 MB: an answer that fills it would end all of the agent and not just the question.
     */
    static final int MAX_BYTES = 8 << 20;

    /** What the objects of one message take beside its bytes, with those that it is turned into. */
    static final int OBJECTS_OF_A_MESSAGE = 200;

    private final int sequence;
    private final boolean dump;
    private final Predicate<NetlinkMessage> wanted;
    private final List<NetlinkMessage> messages = new ArrayList<>();
    private long bytes;
    private boolean complete;
    private boolean interrupted;
    private Optional<NetlinkMessage.Verdict> failure = Optional.empty();

    /** @param dump whether the answer ends with DONE; else it ends with the acknowledgement */
    NetlinkAnswer(int sequence, boolean dump) {
        this(sequence, dump, _ -> true);
    }

    /** @param wanted others are left out as they come, so that they cost nothing */
    NetlinkAnswer(int sequence, boolean dump, Predicate<NetlinkMessage> wanted) {
        this.sequence = sequence;
        this.dump = dump;
        this.wanted = wanted;
    }

    /** @return whether the answer is now complete */
    boolean accept(byte[] datagram) throws NetlinkFormatException {
        for (NetlinkMessage message : NetlinkMessage.split(datagram)) {
            if (!complete && message.sequence() == sequence) {
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
                if (!wanted.test(message)) {
                    return;
                }
                bytes += OBJECTS_OF_A_MESSAGE
                        + NetlinkMessage.HEADER
                        + message.payload().limit();
                if (bytes > MAX_BYTES) {
                    throw new NetlinkFormatException(
                            "an answer goes on after " + messages.size() + " messages, which is all that is kept");
                }
                messages.add(message);
            }
        }
    }

    /** The table changed during the dump, so parts of it may be missing or there twice. */
    boolean interrupted() {
        return interrupted;
    }

    Optional<NetlinkMessage.Verdict> failure() {
        return failure;
    }

    List<NetlinkMessage> messages() {
        return List.copyOf(messages);
    }
}
