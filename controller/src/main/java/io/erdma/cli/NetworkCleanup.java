package io.erdma.cli;

import java.io.IOException;
import java.util.List;

/** Takes back what the agent set up on the node's interfaces: its own routes and addresses, and nothing of anybody else. */
@FunctionalInterface
interface NetworkCleanup {
    /**
     * What became of it.
     *
     * @param removed one line for each thing; empty when there was nothing
     * @param left one line for each thing that is still there, with why
     */
    record Outcome(List<String> removed, List<String> left) {
        public Outcome {
            removed = List.copyOf(removed);
            left = List.copyOf(left);
        }
    }

    /** @throws IOException when nobody can tell what is there */
    Outcome run() throws IOException;
}
