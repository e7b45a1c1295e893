package io.erdma.cli;

import java.io.IOException;
import java.util.List;

/** A kind of thing that an agent leaves on its node or tells the cluster of it, and how it is taken back. */
interface Leftover {
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

    /** What is said to stay, such as "routes and addresses". */
    String name();

    /** Whether it has to stay while a pod holds a share. */
    boolean podsNeedIt();

    /**
     * Takes it back, and nothing of anybody else; not called while an agent runs. Where there is nothing, both lists are
     * empty.
     *
     * @throws IOException when it can't even be looked at
     */
    Result remove() throws IOException;
}
