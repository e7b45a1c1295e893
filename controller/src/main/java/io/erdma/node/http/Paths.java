package io.erdma.node.http;

import io.netty.handler.codec.http.HttpMethod;
import java.net.InetAddress;
import java.util.function.Supplier;

/** What one address answers at its paths. Called by the server's one thread, so it must not block. */
@FunctionalInterface
public interface Paths {
    /**
     * The head of a request.
     *
     * @param query behind the question mark; empty without one
     */
    record Request(HttpMethod method, String path, String query, InetAddress peer) {
        boolean reads() {
            return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
        }

        Answer get(Supplier<Answer> answer) {
            return reads() ? answer.get() : Answer.notAllowed("GET, HEAD");
        }
    }

    Answer answer(Request request);
}
