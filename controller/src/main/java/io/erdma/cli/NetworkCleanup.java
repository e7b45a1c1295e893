package io.erdma.cli;

import java.io.IOException;
import java.util.List;

/** Takes back what the agent set up on the node's interfaces: its own routes and addresses, and nothing of anybody else. */
@FunctionalInterface
interface NetworkCleanup {
    /** For as long as the agent sets up none. */
    NetworkCleanup NONE = List::of;

    /**
     * @return one line for each thing removed; empty when there was nothing
     * @throws IOException with what could not be removed
     */
    List<String> run() throws IOException;
}
