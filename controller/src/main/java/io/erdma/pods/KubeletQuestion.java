package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import io.erdma.plugin.UnixTransport;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc.PodResourcesListerBlockingStub;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Asks the kubelet by its podresources API. Each question has a connection of its own, so that a kubelet that restarts
 * between two is none of ours to care about. The calling thread waits.
 */
final class KubeletQuestion {
    /** The kubelet limits the rate of questions and answers within milliseconds otherwise. */
    static final Duration DEADLINE = Duration.ofSeconds(5);

    /** A node's whole list comes in one message; clients of this API allow 16 MiB. */
    private static final int MAX_ANSWER_BYTES = 16 << 20;

    private final UnixTransport transport;
    private final Path socket;
    private final Duration deadline;

    /** @param kubeletRoot usually {@code /var/lib/kubelet}; the socket is below it */
    KubeletQuestion(UnixTransport transport, Path kubeletRoot, Duration deadline) {
        this.transport = requireNonNull(transport, "transport is null");
        this.socket = kubeletRoot.resolve("pod-resources").resolve("kubelet.sock");
        this.deadline = requireNonNull(deadline, "deadline is null");
    }

    /**
     * Never from a thread of the transport: it would wait for itself.
     *
     * @param unreadable makes the answer where there is none, of the reason and what to do, in one line
     */
    <A> A ask(Function<PodResourcesListerBlockingStub, A> question, Function<String, A> unreadable) {
        if (!Files.exists(socket)) {
            return unreadable.apply(
                    socket + " is not there: is the kubelet running, and its pod-resources directory mounted?");
        }
        ManagedChannel channel = transport.connect(socket, MAX_ANSWER_BYTES);
        try {
            return question.apply(
                    PodResourcesListerGrpc.newBlockingStub(channel).withInterceptors(new DeadlineOfTheCall(deadline)));
        } catch (StatusRuntimeException e) {
            return unreadable.apply(
                    "the kubelet's pod resources at " + socket + " cannot be read: " + reason(e.getStatus()));
        } finally {
            channel.shutdownNow();
        }
    }

    /**
     * Begins with the call. One given to the stub would have run while the classes of a program's first question are
     * loaded, which on a slow node takes longer than any answer.
     */
    private record DeadlineOfTheCall(Duration deadline) implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            return next.newCall(method, options.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS));
        }
    }

    private static String reason(Status status) {
        Throwable cause = status.getCause();
        String more = status.getDescription() != null
                ? status.getDescription()
                : cause != null ? String.valueOf(cause.getMessage()) : "";
        return more.isEmpty() ? status.getCode().name() : status.getCode().name() + " (" + more + ")";
    }
}
