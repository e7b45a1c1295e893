package io.erdma.node.net;

import java.util.List;

/**
 * What to do about the node's interfaces.
 *
 * @param changes in the order in which they are to be made
 */
public record Plan(List<NetChange> changes, List<Note> notes) {
    public static final Plan NONE = new Plan(List.of(), List.of());

    public Plan {
        changes = List.copyOf(changes);
        notes = List.copyOf(notes);
    }
}
