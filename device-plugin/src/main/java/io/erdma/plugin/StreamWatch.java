package io.erdma.plugin;

import io.erdma.log.Log;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;

/**
 * Sees each ListAndWatch call of one endpoint from its first to its last moment, whichever side ends it, and can end
 * them. It stands before the service, so what it reports does not depend on the service's own book-keeping.
 */
final class StreamWatch implements ServerInterceptor {
    private static final Log LOG = Log.of(StreamWatch.class);

    private final Runnable changed;
    private final Set<WatchedCall<?, ?>> open = new LinkedHashSet<>();
    private boolean everOpened;

    /**
     * @param changed told each time a stream has begun or ended, from gRPC's threads; must neither block nor call back into
     *     the stream
     */
    StreamWatch(Runnable changed) {
        this.changed = changed;
    }

    synchronized int open() {
        return open.size();
    }

    synchronized boolean everOpened() {
        return everOpened;
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        String method = call.getMethodDescriptor().getFullMethodName();
        if (!method.equals(DevicePluginGrpc.getListAndWatchMethod().getFullMethodName())) {
            return next.startCall(call, headers);
        }
        WatchedCall<Q, A> watched = new WatchedCall<>(call);
        add(watched);
        try {
            return watched.listener(next.startCall(watched, headers));
        } catch (RuntimeException e) {
            remove(watched);
            throw e;
        }
    }

    /** Ends the open streams with OK; to the service it looks as if the kubelet had cancelled them. */
    void endAll() {
        List<WatchedCall<?, ?>> calls;
        synchronized (this) {
            calls = List.copyOf(open);
        }
        calls.forEach(WatchedCall::end);
    }

    private void add(WatchedCall<?, ?> call) {
        synchronized (this) {
            open.add(call);
            everOpened = true;
        }
        changed.run();
    }

    private void remove(WatchedCall<?, ?> call) {
        synchronized (this) {
            if (!open.remove(call)) {
                return;
            }
        }
        changed.run();
    }

    private final class WatchedCall<Q, A> extends SimpleForwardingServerCall<Q, A> {
        private boolean closed;
        private boolean endedByUs;

        WatchedCall(ServerCall<Q, A> call) {
            super(call);
        }

        @Override
        public synchronized void sendMessage(A message) {
            if (!endedByUs) {
                super.sendMessage(message);
            }
        }

        @Override
        public synchronized void close(Status status, Metadata trailers) {
            if (!endedByUs) {
                closed = true;
                super.close(status, trailers);
            }
        }

        // The service may be sending on another thread, and gRPC refuses messages after the close.
        synchronized void end() {
            if (closed || endedByUs) {
                return;
            }
            try {
                super.close(Status.OK, new Metadata());
            } catch (RejectedExecutionException e) {
                LOG.debug("the transport has ended before a ListAndWatch stream: " + e);
            }
            endedByUs = true;
        }

        private synchronized boolean endedByUs() {
            return endedByUs;
        }

        ServerCall.Listener<Q> listener(ServerCall.Listener<Q> service) {
            return new SimpleForwardingServerCallListener<>(service) {
                @Override
                public void onCancel() {
                    remove(WatchedCall.this);
                    super.onCancel();
                }

                @Override
                public void onComplete() {
                    remove(WatchedCall.this);
                    if (endedByUs()) {
                        super.onCancel();
                    } else {
                        super.onComplete();
                    }
                }
            };
        }
    }
}
