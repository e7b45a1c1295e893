package io.erdma.doctor;

import static java.util.Objects.requireNonNull;

import java.util.Optional;
import java.util.function.Function;

/** The answer of something that was looked at, or why there is none. */
public sealed interface Fact<T> {
    record Known<T>(T answer) implements Fact<T> {
        public Known {
            requireNonNull(answer, "answer is null");
        }
    }

    /** @param why in one line for people: what was asked, and what it answered */
    record Unknown<T>(String why) implements Fact<T> {
        public Unknown {
            requireNonNull(why, "why is null");
        }
    }

    static <T> Fact<T> known(T answer) {
        return new Known<>(answer);
    }

    static <T> Fact<T> unknown(String why) {
        return new Unknown<>(why);
    }

    /** What follows from the answer; without one, why there is none. */
    default <R> Fact<R> map(Function<T, Fact<R>> next) {
        return switch (this) {
            case Known<T>(T answer) -> next.apply(answer);
            case Unknown<T>(String why) -> new Unknown<>(why);
        };
    }

    default Optional<T> content() {
        return switch (this) {
            case Known<T>(T answer) -> Optional.of(answer);
            case Unknown<T> _ -> Optional.empty();
        };
    }
}
