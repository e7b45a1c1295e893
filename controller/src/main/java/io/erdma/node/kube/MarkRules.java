package io.erdma.node.kube;

import io.erdma.plugin.BackOff;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/** Decides when the marks on the Node object are written, without I/O; for one thread. */
final class MarkRules {
    /**
     * @param between writes of the condition at least: of a device that flaps, the cluster hears how it stands then
     * @param heartbeat after which a condition is written although nothing has changed
     * @param withoutDevice for how long a node has no device before its label goes: a driver that is loaded anew takes
     *     the devices away for a while
     * @param firstRetry after a failure; it doubles from one to the next
     * @param longestRetry where the doubling ends
     */
    record Pace(
            Duration between, Duration heartbeat, Duration withoutDevice, Duration firstRetry, Duration longestRetry) {
        static final Pace STANDARD = new Pace(
                Duration.ofSeconds(15),
                Duration.ofMinutes(15),
                Duration.ofMinutes(10),
                Duration.ofSeconds(5),
                Duration.ofMinutes(5));
    }

    /** One thing to write. */
    sealed interface Mark {
        record Condition(NodeCondition condition) implements Mark {}

        record Label(boolean wanted) implements Mark {}
    }

    private final boolean conditions;
    private final boolean labels;
    private final Pace pace;
    private final BackOff retries;

    private Optional<NodeCondition> condition = Optional.empty();
    private OptionalLong conditionAt = OptionalLong.empty();
    private Optional<Boolean> label = Optional.empty();
    private OptionalLong lastDevice = OptionalLong.empty();
    private OptionalLong notBefore = OptionalLong.empty();

    /**
     * @param conditions whether the condition is written at all
     * @param labels whether the label is
     */
    MarkRules(boolean conditions, boolean labels, Pace pace) {
        this.conditions = conditions;
        this.labels = labels;
        this.pace = pace;
        this.retries = new BackOff(pace.firstRetry(), pace.longestRetry());
    }

    /** What is to be written now; its outcome goes to {@link #written} or {@link #failed}. */
    Optional<Mark> next(NodeState state, Moment now) {
        if (state.hasDevices() || lastDevice.isEmpty()) {
            lastDevice = OptionalLong.of(now.nanos());
        }
        if (notBefore.isPresent() && now.isBefore(notBefore.getAsLong())) {
            return Optional.empty();
        }
        if (conditions && conditionIsDue(state, now)) {
            return Optional.of(new Mark.Condition(state.condition()));
        }
        boolean certain =
                state.hasDevices() || now.since(lastDevice.getAsLong()).compareTo(pace.withoutDevice()) >= 0;
        return labels && certain && !label.equals(Optional.of(state.hasDevices()))
                ? Optional.of(new Mark.Label(state.hasDevices()))
                : Optional.empty();
    }

    private boolean conditionIsDue(NodeState state, Moment now) {
        if (conditionAt.isEmpty()) {
            return true;
        }
        Duration age = now.since(conditionAt.getAsLong());
        return age.compareTo(condition.equals(Optional.of(state.condition())) ? pace.heartbeat() : pace.between()) >= 0;
    }

    void written(Mark mark, Moment now) {
        retries.reset();
        switch (mark) {
            case Mark.Condition(NodeCondition one) -> {
                condition = Optional.of(one);
                conditionAt = OptionalLong.of(now.nanos());
            }
            case Mark.Label(boolean wanted) -> label = Optional.of(wanted);
        }
    }

    void failed(Moment now) {
        notBefore = OptionalLong.of(now.plus(retries.next()));
    }
}
