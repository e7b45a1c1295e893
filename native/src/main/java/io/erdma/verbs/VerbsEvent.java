package io.erdma.verbs;

/** One asynchronous event of an open device. */
public sealed interface VerbsEvent {
    record PortActive(int port) implements VerbsEvent {}

    record PortError(int port) implements VerbsEvent {}

    /** The context is dead: close it and enumerate again. */
    record DeviceFatal() implements VerbsEvent {}

    record GidChange(int port) implements VerbsEvent {}

    /**
     * An event without a meaning for us.
     *
     * @param type {@code enum ibv_event_type}, possibly a number newer than this release
     */
    record Other(int type) implements VerbsEvent {}
}
