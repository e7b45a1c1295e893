package io.erdma.plugin;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The server's end of one call, played by the test: whether it is ready, and when it is cancelled. */
final class RecordingCall<T> extends ServerCallStreamObserver<T> {
    final List<T> messages = new ArrayList<>();
    Optional<Throwable> error = Optional.empty();
    boolean completed;
    boolean ready = true;
    boolean broken;
    private boolean cancelled;
    private Runnable onCancel = () -> {};
    private Runnable onReady = () -> {};

    void becomeReady() {
        ready = true;
        onReady.run();
    }

    void cancel() {
        cancelled = true;
        onCancel.run();
    }

    @Override
    public void onNext(T message) {
        if (completed || broken || error.isPresent()) {
            throw new IllegalStateException("call already closed");
        }
        messages.add(message);
    }

    @Override
    public void onError(Throwable failure) {
        error = Optional.of(failure);
    }

    @Override
    public void onCompleted() {
        completed = true;
    }

    @Override
    public boolean isReady() {
        return ready;
    }

    @Override
    public boolean isCancelled() {
        return cancelled;
    }

    @Override
    public void setOnReadyHandler(Runnable handler) {
        onReady = handler;
    }

    @Override
    public void setOnCancelHandler(Runnable handler) {
        onCancel = handler;
    }

    @Override
    public void setCompression(String compression) {
        throw new UnsupportedOperationException("no compression on a unix socket");
    }

    @Override
    public void disableAutoInboundFlowControl() {
        throw new UnsupportedOperationException("the kubelet sends one message");
    }

    @Override
    public void request(int count) {
        throw new UnsupportedOperationException("the kubelet sends one message");
    }

    @Override
    public void setMessageCompression(boolean enable) {
        throw new UnsupportedOperationException("no compression on a unix socket");
    }
}
