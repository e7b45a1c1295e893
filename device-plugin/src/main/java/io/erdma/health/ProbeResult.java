package io.erdma.health;

import io.erdma.inventory.SourceStatus;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.verbs.PortState;
import java.util.List;
import java.util.Optional;

/** What asking a device for the state of its port came to. */
sealed interface ProbeResult {
    /** Sources that come before the one that answered, and why they did not. */
    List<SourceStatus> unused();

    /** The source that told something of the device, be it that the device is sick. */
    default Optional<Source> toldBy() {
        return switch (this) {
            case Answered answered -> Optional.of(answered.source());
            case Failed failed -> Optional.of(failed.source());
            case Unanswered _ -> Optional.empty();
        };
    }

    record Answered(PortState state, Source source, List<SourceStatus> unused) implements ProbeResult {
        public Answered {
            unused = List.copyOf(unused);
        }
    }

    /**
     * The device was asked and refused: it is sick.
     *
     * @param gone whether its context is of no more use
     */
    record Failed(String reason, boolean gone) implements ProbeResult {
        /** Only verbs ask the device itself, so only they can be refused by it. */
        Source source() {
            return Source.VERBS;
        }

        @Override
        public List<SourceStatus> unused() {
            return List.of();
        }
    }

    /** No source could be asked, which says nothing about the device. */
    record Unanswered(List<SourceStatus> unused) implements ProbeResult {
        public Unanswered {
            unused = List.copyOf(unused);
        }
    }
}
