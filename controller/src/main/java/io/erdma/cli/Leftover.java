package io.erdma.cli;

import java.io.IOException;
import java.util.List;

/** Takes back what the agent set up on the node's interfaces: its own routes and addresses, and nothing of anybody else. */
@FunctionalInterface
interface NetworkCleanup {
    /**
     * One line for each thing.
     *
     * @param left what stays, with the reason
     */
    record Result(List<String> removed, List<String> left) {
        public Result {
            removed = List.copyOf(removed);
            left = List.copyOf(left);
        }
    }

    /** @throws IOException when the interfaces can't even be looked at */
    Result run() throws IOException;
}
