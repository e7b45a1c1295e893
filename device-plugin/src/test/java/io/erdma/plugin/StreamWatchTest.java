package io.erdma.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

final class StreamWatchTest {
    /** What is done to a ListAndWatch call of the kubelet. */
    private static final class Call extends ServerCall<Empty, ListAndWatchResponse> {
        final List<Status> closed = new ArrayList<>();
        final List<ListAndWatchResponse> sent = new ArrayList<>();
        boolean ofAnEndedTransport;

        @Override
        public void request(int messages) {
            // Nothing more comes.
        }

        @Override
        public void sendHeaders(Metadata headers) {
            // Of no interest.
        }

        @Override
        public void sendMessage(ListAndWatchResponse message) {
            sent.add(message);
        }

        @Override
        public void close(Status status, Metadata trailers) {
            if (ofAnEndedTransport) {
                throw new RejectedExecutionException("event executor terminated");
            }
            closed.add(status);
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public MethodDescriptor<Empty, ListAndWatchResponse> getMethodDescriptor() {
            return DevicePluginGrpc.getListAndWatchMethod();
        }
    }

    private final List<ServerCall<Empty, ListAndWatchResponse>> served = new ArrayList<>();
    private final List<Integer> counts = new ArrayList<>();
    private final StreamWatch streams = new StreamWatch(this::count);

    private void count() {
        counts.add(streams.open());
    }

    private ServerCall.Listener<Empty> open(Call call) {
        return streams.interceptCall(call, new Metadata(), (watched, headers) -> {
            served.add(watched);
            return new ServerCall.Listener<>() {};
        });
    }

    @Test
    void tellsOfEachStreamThatBeginsOrEndsWhicheverSideEndsIt() {
        ServerCall.Listener<Empty> first = open(new Call());
        ServerCall.Listener<Empty> second = open(new Call());
        first.onCancel();
        second.onComplete();

        assertThat(counts).containsExactly(1, 2, 1, 0);
        assertThat(streams.everOpened()).isTrue();
    }

    @Test
    void afterItHasEndedAStreamTheServiceSendsNothingMore() {
        Call call = new Call();
        open(call);

        streams.endAll();
        served.getFirst().sendMessage(ListAndWatchResponse.getDefaultInstance());
        served.getFirst().close(Status.INTERNAL, new Metadata());

        assertThat(call.closed).containsExactly(Status.OK);
        assertThat(call.sent).isEmpty();
    }

    /** A session that ends only after its transport has its socket to remove still. */
    @Test
    void aTransportThatHasEndedKeepsNoOtherStreamFromBeingEnded() {
        Call first = new Call();
        first.ofAnEndedTransport = true;
        Call second = new Call();
        open(first);
        open(second);

        streams.endAll();

        assertThat(second.closed).containsExactly(Status.OK);
    }
}
