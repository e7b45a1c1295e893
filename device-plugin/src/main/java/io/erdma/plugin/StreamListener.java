package io.erdma.plugin;

/** Told how many ListAndWatch streams are open, each time that number changes. */
@FunctionalInterface
public interface StreamListener {
    /** Called in order and one at a time, from gRPC's threads; must neither block nor call back into the stream. */
    void streams(int open);
}
