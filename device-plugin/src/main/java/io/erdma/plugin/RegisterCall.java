package io.erdma.plugin;

import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.RegisterRequest;
import io.erdma.proto.deviceplugin.v1beta1.RegistrationGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * One Register call on a connection of its own, which ends with it. It does not block its caller: while the kubelet works
 * on it, the session must still see a kubelet that restarts.
 */
final class RegisterCall implements StreamObserver<Empty> {
    private final ManagedChannel channel;
    private final Runnable ended;
    private volatile Optional<Status> result = Optional.empty();

    private RegisterCall(ManagedChannel channel, Runnable ended) {
        this.channel = channel;
        this.ended = ended;
    }

    /** @param ended called once, from a gRPC thread, when {@link #result} is there */
    static RegisterCall begin(
            UnixTransport transport, Path kubeletSocket, RegisterRequest request, Duration deadline, Runnable ended) {
        ManagedChannel channel = transport.connect(kubeletSocket, UnixTransport.DEFAULT_MAX_MESSAGE_BYTES);
        RegisterCall call = new RegisterCall(channel, ended);
        RegistrationGrpc.newStub(channel)
                .withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)
                .register(request, call);
        return call;
    }

    Optional<Status> result() {
        return result;
    }

    void cancel() {
        channel.shutdownNow();
    }

    @Override
    public void onNext(Empty answer) {
        // Accepted; what counts is the status that follows.
    }

    @Override
    public void onError(Throwable failure) {
        end(Status.fromThrowable(failure));
    }

    @Override
    public void onCompleted() {
        end(Status.OK);
    }

    private void end(Status status) {
        result = Optional.of(status);
        channel.shutdownNow();
        ended.run();
    }

    static String reason(Status status) {
        StringBuilder reason = new StringBuilder(status.getCode().name());
        Optional.ofNullable(status.getDescription())
                .ifPresent(description -> reason.append(": ").append(description));
        for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
            if (cause.getCause() == null) {
                reason.append(" (").append(cause.getMessage()).append(')');
            }
        }
        return reason.toString();
    }
}
