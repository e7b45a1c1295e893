package io.erdma.node.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.kube.EventRules.Due;
import io.erdma.node.kube.EventRules.Limits;
import io.erdma.node.kube.EventWrite.Kind;
import io.erdma.node.kube.Occurrence.About;
import io.erdma.node.kube.WriteAnswer.Exists;
import io.erdma.node.kube.WriteAnswer.Forbidden;
import io.erdma.node.kube.WriteAnswer.Gone;
import io.erdma.node.kube.WriteAnswer.Later;
import io.erdma.node.kube.WriteAnswer.Refused;
import io.erdma.node.kube.WriteAnswer.Written;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EventRulesTest {
    private static final About NODE = new About.OnNode("node-a");
    private static final About POD =
            new About.OnPod("training", "job-worker-0", "5f3c2a10-9b7e-4c1d-8a2f-0123456789ab");
    private static final Instant START = Instant.parse("2026-12-01T10:00:00Z");

    private final EventRules rules = new EventRules(Limits.STANDARD);
    private Instant wall = START;
    /** The clock of the machine may be about to begin anew. */
    private long nanos = Long.MAX_VALUE - Duration.ofSeconds(5).toNanos();

    private Moment now() {
        return new Moment(wall, nanos);
    }

    private void pass(Duration time) {
        wall = wall.plus(time);
        nanos += time.toNanos();
    }

    private void unhealthy(String device) {
        rules.occurred(
                new Occurrence(NODE, EventReason.DEVICE_UNHEALTHY, device, device + " is unhealthy: port 1 is DOWN"),
                now());
    }

    private void notUsed() {
        rules.occurred(new Occurrence(POD, EventReason.NOT_USED, "", "asked for eRDMA and does not use it"), now());
    }

    private Optional<EventWrite> write(WriteAnswer answer) {
        Optional<Due> due = rules.next(now());
        due.ifPresent(one -> rules.answered(one, answer, now()));
        return due.map(Due::write);
    }

    private List<EventWrite> writeAll() {
        List<EventWrite> writes = new ArrayList<>();
        for (Optional<EventWrite> one = write(new Written(1)); one.isPresent(); one = write(new Written(1))) {
            writes.add(one.get());
        }
        return writes;
    }

    @Test
    void saysAtOnceWhatHappensForTheFirstTime() {
        assertThat(rules.next(now())).isEmpty();
        assertThat(rules.due(now())).isEmpty();
        unhealthy("erdma_0");

        assertThat(rules.due(now())).hasValue(nanos);
        EventWrite write = write(new Written(1)).orElseThrow();
        assertThat(write.kind()).isEqualTo(Kind.CREATE);
        assertThat(write.namespace()).isEqualTo("default");
        assertThat(write.reason()).isEqualTo(EventReason.DEVICE_UNHEALTHY);
        assertThat(write.count()).isEqualTo(1);
        assertThat(write.first()).isEqualTo(START).isEqualTo(write.last());
        assertThat(write.name()).matches("node-a\\.[0-9a-f]{16}");
        assertThat(rules.next(now())).isEmpty();
        assertThat(rules.counts()).isEqualTo(new EventCounts(1, 0, 0));
    }

    @Test
    void countsTheSameOfTheSameDeviceInOneEvent() {
        unhealthy("erdma_0");
        EventWrite first = write(new Written(1)).orElseThrow();
        pass(Duration.ofMinutes(9));
        unhealthy("erdma_0");
        unhealthy("erdma_1");
        pass(Duration.ofMinutes(9));
        unhealthy("erdma_0");

        List<EventWrite> later = writeAll();
        assertThat(later).hasSize(2);
        EventWrite update = later.stream()
                .filter(one -> one.kind() == Kind.UPDATE)
                .findFirst()
                .orElseThrow();
        assertThat(update.name()).isEqualTo(first.name());
        assertThat(update.count()).isEqualTo(3);
        assertThat(update.first()).isEqualTo(START);
        assertThat(update.last()).isEqualTo(START.plus(Duration.ofMinutes(18)));
    }

    @Test
    void beginsANewEventAfterTheWindow() {
        unhealthy("erdma_0");
        EventWrite first = write(new Written(1)).orElseThrow();
        pass(Duration.ofMinutes(10));
        unhealthy("erdma_0");

        EventWrite second = write(new Written(1)).orElseThrow();
        assertThat(second.kind()).isEqualTo(Kind.CREATE);
        assertThat(second.count()).isEqualTo(1);
        assertThat(second.name()).isNotEqualTo(first.name());
    }

    /** 1,000 devices that go down and come up once a second, for a minute. */
    @Test
    void floodsNobodyWhateverFlaps() {
        List<EventWrite> writes = new ArrayList<>();
        for (int second = 0; second < 60; second++) {
            IntStream.range(0, 1000).forEach(device -> unhealthy("erdma_" + device));
            writes.addAll(writeAll());
            pass(Duration.ofSeconds(1));
        }

        assertThat(writes).hasSize(11);
        EventCounts counts = rules.counts();
        assertThat(counts.written()).isEqualTo(11);
        assertThat(counts.heldBack() + counts.dropped()).isGreaterThan(50_000);
    }

    @Test
    void tellsOnceATokenComesHowOftenItHasBeen() {
        IntStream.range(0, 10).forEach(device -> unhealthy("erdma_" + device));
        assertThat(writeAll()).hasSize(10);
        IntStream.range(0, 50).forEach(time -> unhealthy("erdma_0"));

        assertThat(rules.next(now())).isEmpty();
        long due = rules.due(now()).orElseThrow();
        assertThat(due - nanos).isEqualTo(Duration.ofSeconds(30).toNanos());
        pass(Duration.ofSeconds(30));
        assertThat(writeAll()).extracting(EventWrite::count).containsExactly(51);
        assertThat(rules.counts()).isEqualTo(new EventCounts(11, 50, 0));
    }

    @Test
    void doesNotKeepAPodWaitingBehindANodeThatHasMuchToTell() {
        IntStream.range(0, 100).forEach(device -> unhealthy("erdma_" + device));
        writeAll();
        notUsed();

        pass(Duration.ofSeconds(30));
        assertThat(writeAll()).extracting(EventWrite::about).containsExactly(POD);
    }

    @Test
    void saysOfAPodOnlyOnceThatItDoesNotUseIt() {
        notUsed();
        EventWrite first = write(new Written(1)).orElseThrow();
        notUsed();

        assertThat(first.namespace()).isEqualTo("training");
        assertThat(rules.next(now())).isEmpty();
    }

    /** Whoever is killed between the request and its answer finds its own Event. */
    @Test
    void takesTheEventOfAnEarlierRunOfTheAgentForItsOwn() {
        notUsed();
        unhealthy("erdma_0");
        List<EventWrite> before = writeAll();
        var restarted = new EventRules(Limits.STANDARD);
        pass(Duration.ofSeconds(20));
        restarted.occurred(new Occurrence(POD, EventReason.NOT_USED, "", "again"), now());
        restarted.occurred(new Occurrence(NODE, EventReason.DEVICE_UNHEALTHY, "erdma_0", "again"), now());

        List<EventWrite> after = new ArrayList<>();
        for (Optional<Due> due = restarted.next(now()); due.isPresent(); due = restarted.next(now())) {
            after.add(due.get().write());
            restarted.answered(
                    due.get(),
                    switch (due.get().write().kind()) {
                        case CREATE -> new Exists();
                        case TAKE_OVER -> new Written(7);
                        case UPDATE -> new Written(8);
                    },
                    now());
        }

        assertThat(after)
                .extracting(EventWrite::name)
                .containsOnly(before.get(0).name(), before.get(1).name());
        assertThat(after)
                .filteredOn(one -> one.about().equals(POD))
                .extracting(EventWrite::kind)
                .containsExactly(Kind.CREATE);
        assertThat(after)
                .filteredOn(one -> one.about().equals(NODE))
                .extracting(EventWrite::kind)
                .containsExactly(Kind.CREATE, Kind.TAKE_OVER, Kind.UPDATE);
        assertThat(after.getLast().count()).isEqualTo(8);
    }

    @Test
    void triesAgainMoreAndMoreSeldomWhileTheApiIsDown() {
        unhealthy("erdma_0");
        List<Long> waits = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            assertThat(write(new Later("nobody answers", Optional.empty()))).isPresent();
            waits.add(Duration.ofNanos(rules.due(now()).orElseThrow() - nanos).toSeconds());
            pass(Duration.ofSeconds(waits.getLast()));
            unhealthy("erdma_0");
        }

        assertThat(waits).containsExactly(2L, 4L, 8L, 16L, 32L, 64L, 120L, 120L);
        assertThat(write(new Written(1)).orElseThrow().count()).isEqualTo(9);
    }

    @Test
    void waitsAsLongAsTheApiServerAsks() {
        unhealthy("erdma_0");
        write(new Later("too many requests", Optional.of(Duration.ofSeconds(17))));
        assertThat(Duration.ofNanos(rules.due(now()).orElseThrow() - nanos)).isEqualTo(Duration.ofSeconds(17));

        pass(Duration.ofSeconds(17));
        write(new Later("too many requests", Optional.of(Duration.ofDays(1))));
        assertThat(Duration.ofNanos(rules.due(now()).orElseThrow() - nanos)).isEqualTo(Duration.ofMinutes(2));
    }

    @Test
    void dropsWhatCouldNotBeToldWithinTheWindow() {
        unhealthy("erdma_0");
        unhealthy("erdma_0");
        write(new Later("nobody answers", Optional.empty()));
        pass(Duration.ofMinutes(10));

        assertThat(rules.next(now())).isEmpty();
        assertThat(rules.due(now())).isEmpty();
        assertThat(rules.counts()).isEqualTo(new EventCounts(0, 1, 2));
    }

    @Test
    void leavesAnApiAloneThatGivesNoRight() {
        unhealthy("erdma_0");
        Due due = rules.next(now()).orElseThrow();
        assertThat(rules.answered(due, new Forbidden("no right"), now())).contains("no right");

        pass(Duration.ofMinutes(4));
        assertThat(rules.next(now())).isEmpty();
        pass(Duration.ofMinutes(1));
        assertThat(rules.next(now())).isPresent();
    }

    @Test
    void givesUpOnlyTheEventThatIsRefused() {
        unhealthy("erdma_0");
        unhealthy("erdma_1");
        Due due = rules.next(now()).orElseThrow();
        assertThat(rules.answered(due, new Refused("invalid"), now())).contains("invalid");

        assertThat(writeAll()).hasSize(1);
        assertThat(rules.counts()).isEqualTo(new EventCounts(1, 0, 1));
    }

    @Test
    void writesTheEventAnewWhenTheApiHasForgottenIt() {
        unhealthy("erdma_0");
        writeAll();
        unhealthy("erdma_0");

        assertThat(write(new Gone()).orElseThrow().kind()).isEqualTo(Kind.UPDATE);
        EventWrite again = write(new Written(2)).orElseThrow();
        assertThat(again.kind()).isEqualTo(Kind.CREATE);
        assertThat(again.count()).isEqualTo(2);
    }

    @Test
    void forgetsAnEventWhoseNamespaceHasGone() {
        notUsed();

        assertThat(write(new Gone())).isPresent();
        assertThat(rules.next(now())).isEmpty();
        assertThat(rules.counts().dropped()).isEqualTo(1);
    }

    @Test
    void doesNotMindTheWallClockJumping() {
        unhealthy("erdma_0");
        writeAll();
        wall = START.minus(Duration.ofDays(365));
        nanos += Duration.ofSeconds(1).toNanos();
        unhealthy("erdma_0");

        EventWrite back = writeAll().getFirst();
        assertThat(back.kind()).isEqualTo(Kind.UPDATE);
        assertThat(back.last()).isEqualTo(back.first());

        wall = START.plus(Duration.ofDays(3650));
        unhealthy("erdma_0");
        EventWrite forward = writeAll().getFirst();
        assertThat(forward.kind()).isEqualTo(Kind.UPDATE);
        assertThat(forward.count()).isEqualTo(3);
    }

    @Test
    void cutsAMessageAtTheEndOfACharacterAndHidesNothingInIt() {
        rules.occurred(new Occurrence(NODE, EventReason.DRIVER_FAILED, "", "a\u001b[31mb" + "é".repeat(2_000)), now());

        String message = writeAll().getFirst().message();
        assertThat(message).startsWith("a\\x1b[31mbéé").endsWith("é…");
        assertThat(message.getBytes(java.nio.charset.StandardCharsets.UTF_8).length)
                .isBetween(1_020, 1_024);
    }

    @Test
    void namesTheEventOfALongNameWithinWhatTheApiTakes() {
        About pod = new About.OnPod("training", "a".repeat(199) + "." + "b".repeat(50), "uid");
        rules.occurred(new Occurrence(pod, EventReason.NOT_USED, "", "m"), now());

        assertThat(writeAll().getFirst().name()).matches("a{199}\\.[0-9a-f]{16}");
    }
}
