package io.erdma.node.net;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the keeper of the interfaces last saw and did; immutable, for other threads.
 *
 * @param plan as it was at that time; once its changes are made, the next one has none
 * @param notes those of the plan, and who keeps undoing it
 * @param lastError why something could not be read or changed; absent when all went well the last time
 * @param repairs how often something was set right that somebody had undone, since the start
 * @param managing false: the changes are only planned
 * @param at when; absent before the first look
 */
public record KeeperStatus(
        Plan plan, List<Note> notes, Optional<String> lastError, long repairs, boolean managing, Optional<Instant> at) {
    public KeeperStatus {
        requireNonNull(plan, "plan is null");
        notes = List.copyOf(notes);
        requireNonNull(lastError, "lastError is null");
        requireNonNull(at, "at is null");
    }
}
