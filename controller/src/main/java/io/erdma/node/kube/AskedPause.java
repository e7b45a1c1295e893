package io.erdma.node.kube;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Keeps for how long the API server's last answer asks to be left alone, which the client's failures do not tell. */
final class AskedPause implements Interceptor {
    static final String NAME = "asked-pause";

    private volatile Optional<Duration> last = Optional.empty();

    void forget() {
        last = Optional.empty();
    }

    Optional<Duration> last() {
        return last;
    }

    @Override
    public void after(HttpRequest request, HttpResponse<?> response, AsyncBody.Consumer<List<ByteBuffer>> consumer) {
        // A date instead of seconds is allowed, and no API server sends one.
        last = Optional.ofNullable(response.header("Retry-After"))
                .filter(text -> text.matches("[0-9]{1,6}"))
                .map(text -> Duration.ofSeconds(Long.parseLong(text)));
    }
}
