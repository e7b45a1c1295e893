package io.erdma.node.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.kube.MarkRules.Mark;
import io.erdma.node.kube.MarkRules.Pace;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MarkRulesTest {
    private static final NodeCondition WELL = new NodeCondition(true, "DevicesHealthy", "erdma_0 is healthy");
    private static final NodeCondition SICK = new NodeCondition(false, "DeviceUnhealthy", "1 of 1 devices: erdma_0");

    private long nanos = -5;

    private Moment now() {
        return new Moment(Instant.EPOCH, nanos);
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
    }

    private Optional<Mark> write(MarkRules rules, NodeState state) {
        Optional<Mark> mark = rules.next(state, now());
        mark.ifPresent(one -> rules.written(one, now()));
        return mark;
    }

    @Test
    void writesNothingThatIsSwitchedOff() {
        var rules = new MarkRules(false, false, Pace.STANDARD);

        assertThat(write(rules, new NodeState(WELL, true))).isEmpty();
    }

    @Test
    void writesTheConditionOnAChangeAndOtherwiseRarely() {
        var rules = new MarkRules(true, false, Pace.STANDARD);

        assertThat(write(rules, new NodeState(WELL, true))).contains(new Mark.Condition(WELL));
        assertThat(write(rules, new NodeState(WELL, true))).isEmpty();
        pass(Duration.ofMinutes(14));
        assertThat(write(rules, new NodeState(WELL, true))).isEmpty();
        assertThat(write(rules, new NodeState(SICK, true))).contains(new Mark.Condition(SICK));
        pass(Duration.ofMinutes(15));
        assertThat(write(rules, new NodeState(SICK, true))).contains(new Mark.Condition(SICK));
    }

    @Test
    void tellsOfAConditionThatFlapsHowItStandsAfterAWhile() {
        var rules = new MarkRules(true, false, Pace.STANDARD);
        write(rules, new NodeState(WELL, true));

        pass(Duration.ofSeconds(1));
        assertThat(write(rules, new NodeState(SICK, true))).isEmpty();
        assertThat(write(rules, new NodeState(WELL, true))).isEmpty();
        pass(Duration.ofSeconds(14));
        assertThat(write(rules, new NodeState(SICK, true))).contains(new Mark.Condition(SICK));
    }

    @Test
    void keepsTheLabelWhileTheDriverIsLoadedAnewAndTakesItAwayFromANodeWithoutDevices() {
        var rules = new MarkRules(false, true, Pace.STANDARD);

        assertThat(write(rules, new NodeState(WELL, true))).contains(new Mark.Label(true));
        assertThat(write(rules, new NodeState(SICK, true))).isEmpty();
        assertThat(write(rules, new NodeState(SICK, false))).isEmpty();
        pass(Duration.ofMinutes(9));
        assertThat(write(rules, new NodeState(SICK, false))).isEmpty();
        assertThat(write(rules, new NodeState(WELL, true))).isEmpty();
        pass(Duration.ofMinutes(10));
        assertThat(write(rules, new NodeState(SICK, false))).contains(new Mark.Label(false));
        assertThat(write(rules, new NodeState(WELL, true))).contains(new Mark.Label(true));
    }

    @Test
    void takesALabelOfAnEarlierRunAwayOnlyOnceNoDeviceHasComeForLong() {
        var rules = new MarkRules(false, true, Pace.STANDARD);

        assertThat(write(rules, new NodeState(SICK, false))).isEmpty();
        pass(Duration.ofMinutes(10));
        assertThat(write(rules, new NodeState(SICK, false))).contains(new Mark.Label(false));
        assertThat(write(rules, new NodeState(SICK, false))).isEmpty();
    }

    @Test
    void triesAgainMoreAndMoreSeldomWhatFailed() {
        var rules = new MarkRules(true, true, Pace.STANDARD);
        NodeState state = new NodeState(WELL, true);

        assertThat(rules.next(state, now())).isPresent();
        rules.failed(now());
        pass(Duration.ofSeconds(4));
        assertThat(rules.next(state, now())).isEmpty();
        pass(Duration.ofSeconds(1));
        assertThat(rules.next(state, now())).isPresent();
        rules.failed(now());
        pass(Duration.ofSeconds(5));
        assertThat(rules.next(state, now())).isEmpty();
        pass(Duration.ofSeconds(5));
        assertThat(write(rules, state)).contains(new Mark.Condition(WELL));
        assertThat(write(rules, state)).contains(new Mark.Label(true));
        assertThat(write(rules, state)).isEmpty();
    }
}
