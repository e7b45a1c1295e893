package io.erdma.node.http;

import static java.util.Objects.requireNonNull;

import java.util.Map;

/**
 * What a path answers.
 *
 * @param status HTTP's number
 * @param type with the character set, which is UTF-8
 * @param headers beside those that every answer has
 */
public record Answer(int status, String type, String body, Map<String, String> headers) {
    static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";
    static final String HTML = "text/html; charset=utf-8";

    public Answer {
        requireNonNull(type, "type is null");
        requireNonNull(body, "body is null");
        headers = Map.copyOf(headers);
    }

    static Answer text(int status, String body) {
        return new Answer(status, TEXT, body, Map.of());
    }

    static Answer notAllowed(String allowed) {
        return new Answer(405, TEXT, "use " + allowed + "\n", Map.of("Allow", allowed));
    }

    static Answer notFound() {
        return text(404, "not found\n");
    }
}
