package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.verbs.DeviceAttributes;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.PortAttributes;
import io.erdma.verbs.VerbsDevice;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What libibverbs answered about one device of its list. */
record DeviceReading(VerbsDevice device, Outcome outcome) {
    DeviceReading {
        requireNonNull(device, "device is null");
        requireNonNull(outcome, "outcome is null");
    }

    sealed interface Outcome {}

    /**
     * @param problem why it could not be opened, and what to do about it
     * @param refused whether that is for want of a right of this process
     */
    record Unopened(String problem, boolean refused) implements Outcome {}

    /**
     * Opened, but without an answer to print.
     *
     * @param problem why not
     */
    record Unanswered(String problem) implements Outcome {}

    /**
     * @param boardId of sysfs
     * @param completionVectors how many completion vectors the context has
     * @param ports the ports asked for, up to the first that failed
     * @param failure what ended the reading early
     */
    record Answered(
            DeviceAttributes attributes,
            Optional<String> boardId,
            int completionVectors,
            List<Port> ports,
            Optional<PortFailure> failure)
            implements Outcome {
        Answered {
            ports = List.copyOf(ports);
        }
    }

    /**
     * One port.
     *
     * @param gids filled slots of its GID table, where they were asked for
     */
    record Port(int number, PortAttributes attributes, List<GidEntry> gids) {
        Port {
            gids = List.copyOf(gids);
        }
    }

    /** A port that gave no answer, or whose GID table didn't. */
    record PortFailure(int port, String problem) {}

    /** Of a device that did not answer in that time. */
    static DeviceReading late(VerbsDevice device, Duration patience) {
        return new DeviceReading(
                device,
                new Unopened(
                        "did not answer within " + patience.toSeconds()
                                + " s; its driver may be hanging, see the kernel log",
                        false));
    }

    boolean isOpened() {
        return !(outcome instanceof Unopened);
    }

    /** What went wrong, for one line of text. */
    Optional<String> problem() {
        return switch (outcome) {
            case Unopened unopened -> Optional.of(unopened.problem());
            case Unanswered unanswered -> Optional.of(unanswered.problem());
            case Answered answered -> answered.failure().map(PortFailure::problem);
        };
    }
}
