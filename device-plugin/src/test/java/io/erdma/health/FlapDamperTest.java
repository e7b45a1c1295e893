package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.AdvertisedDevices.Entry;
import io.erdma.device.DeviceHealth;
import io.erdma.device.DeviceHealth.Healthy;
import io.erdma.device.DeviceHealth.Unhealthy;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

final class FlapDamperTest {
    private static final long MILLI = 1_000_000;
    private static final Instant SINCE = Instant.EPOCH;

    enum State {
        ABSENT,
        DOWN,
        UP
    }

    /** A message and when it was sent, in milliseconds. */
    private record Sent(long at, AdvertisedDevices offer) {
        State of(String device) {
            return offer.find(device)
                    .map(entry -> entry.health().isHealthy() ? State.UP : State.DOWN)
                    .orElse(State.ABSENT);
        }
    }

    /** A damper under a clock that is turned by hand; due times are kept like the monitor keeps them. */
    private static final class Line {
        private final FlapDamper damper = new FlapDamper();
        private final Map<String, State> states = new TreeMap<>();
        private final List<Sent> sent = new ArrayList<>();
        private Optional<Path> rdmaCm = Optional.empty();
        private Set<String> withheld = Set.of();
        private long now;

        Line(Map<String, State> initial) {
            states.putAll(initial);
            offer();
        }

        Line at(long millis, String device, State state) {
            until(millis);
            states.put(device, state);
            offer();
            return this;
        }

        Line until(long millis) {
            while (damper.due().isPresent() && damper.due().getAsLong() <= millis * MILLI) {
                now = damper.due().getAsLong();
                int before = sent.size();
                long due = now;
                offer();
                assertThat(sent.size() > before
                                || damper.due().isEmpty()
                                || damper.due().getAsLong() > due)
                        .as("a due time that does nothing would spin")
                        .isTrue();
            }
            now = millis * MILLI;
            return this;
        }

        Line withhold(long millis, String... devices) {
            until(millis);
            withheld = Set.of(devices);
            offer();
            return this;
        }

        void offer() {
            List<Entry> entries = new ArrayList<>();
            states.forEach((name, state) -> {
                switch (state) {
                    case ABSENT -> {}
                    case DOWN -> entries.add(new Entry(device(name), new Unhealthy("port 1 is DOWN", SINCE)));
                    case UP -> entries.add(new Entry(device(name), new Healthy(SINCE)));
                }
            });
            damper.offer(new AdvertisedDevices(entries, rdmaCm), withheld, now)
                    .ifPresent(offer -> sent.add(new Sent(now / MILLI, offer)));
        }

        List<Long> times() {
            return sent.stream().map(Sent::at).toList();
        }
    }

    private static RdmaDevice device(String name) {
        return new RdmaDevice(
                name,
                new NodeGuid(1),
                NodeType.CA,
                "erdma",
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                OptionalInt.empty(),
                RdmaCmUse.UNUSED);
    }

    private static Line oneUp() {
        return new Line(Map.of("a", State.UP));
    }

    private static Line twoUp() {
        return new Line(Map.of("a", State.UP, "b", State.UP));
    }

    @Test
    void sendsTheFirstOfferAtOnceEvenAnEmptyOne() {
        assertThat(new Line(Map.of()).times()).containsExactly(0L);
    }

    @Test
    void sendsNothingWhenNothingChanges() {
        Line line = oneUp();
        for (long millis = 100; millis < 600_000; millis += 5_000) {
            line.until(millis).offer();
        }
        assertThat(line.times()).containsExactly(0L);
    }

    @Test
    void aChangeOfReasonAloneIsNotSent() {
        FlapDamper damper = new FlapDamper();
        damper.offer(down("port 1 is DOWN"), Set.of(), 0);

        assertThat(damper.offer(down("netdev eth1 is down"), Set.of(), 10_000 * MILLI))
                .isEmpty();
        assertThat(damper.due()).isEmpty();
    }

    private static AdvertisedDevices down(String reason) {
        return new AdvertisedDevices(List.of(new Entry(device("a"), new Unhealthy(reason, SINCE))), Optional.empty());
    }

    @Test
    void aChangeAfterTwoSecondsOfQuietIsSentAtOnceDownOrUp() {
        Line line = oneUp().at(5_000, "a", State.DOWN).at(7_000, "a", State.UP).at(9_000, "a", State.DOWN);

        assertThat(line.times()).containsExactly(0L, 5_000L, 7_000L, 9_000L);
        assertThat(line.sent)
                .extracting(sent -> sent.of("a"))
                .containsExactly(State.UP, State.DOWN, State.UP, State.DOWN);
    }

    @Test
    void comingBackTooSoonWaitsUntilItHasBeenUpForASecond() {
        Line line = oneUp().at(5_000, "a", State.DOWN).at(5_500, "a", State.UP).until(10_000);

        assertThat(line.times()).containsExactly(0L, 5_000L, 6_500L);
        assertThat(line.sent.getLast().of("a")).isEqualTo(State.UP);
    }

    @Test
    void aShortDownWinsOverTheUpAroundIt() {
        Line line = oneUp().at(5_000, "a", State.DOWN)
                .at(7_000, "a", State.UP)
                .at(7_300, "a", State.DOWN)
                .at(7_600, "a", State.UP)
                .until(20_000);

        assertThat(line.times()).containsExactly(0L, 5_000L, 7_000L, 8_000L, 9_000L);
        assertThat(line.sent.get(3).of("a")).isEqualTo(State.DOWN);
        assertThat(line.sent.get(3).offer().find("a").orElseThrow().health())
                .isInstanceOfSatisfying(
                        Unhealthy.class, health -> assertThat(health.reason()).contains("flapping"));
        assertThat(line.sent.getLast().of("a")).isEqualTo(State.UP);
    }

    @Test
    void aDeviceThatFlapsOnAndOnIsUnhealthyAllTheWhile() {
        Line line = oneUp();
        for (int i = 0; i < 40; i++) {
            line.at(5_000 + i * 250L, "a", i % 2 == 0 ? State.DOWN : State.UP);
        }
        line.until(30_000);

        assertThat(line.times()).containsExactly(0L, 5_000L, 5_000L + 39 * 250 + 1_000);
    }

    @Test
    void aQuietDeviceIsTellingAtOnceWhileAnotherFlaps() {
        Line line = twoUp().at(5_000, "a", State.DOWN)
                .at(5_100, "a", State.UP)
                .at(5_200, "b", State.DOWN)
                .until(20_000);

        assertThat(line.times()).containsExactly(0L, 5_000L, 5_200L, 6_200L);
        assertThat(line.sent.get(2).of("b")).isEqualTo(State.DOWN);
        assertThat(line.sent.get(2).of("a")).isEqualTo(State.DOWN);
        assertThat(line.sent.get(3).of("a")).isEqualTo(State.UP);
    }

    @Test
    void whatWaitsTravelsWithAMessageOfAnotherDevice() {
        Line line = twoUp().at(5_000, "a", State.DOWN)
                .at(7_000, "a", State.UP)
                .at(7_200, "a", State.DOWN)
                .at(7_400, "b", State.DOWN)
                .until(20_000);

        assertThat(line.times()).containsExactly(0L, 5_000L, 7_000L, 7_400L);
        assertThat(line.sent.getLast().of("a")).isEqualTo(State.DOWN);
    }

    @Test
    void appearingAndVanishingObeyTheSamePace() {
        Line line = oneUp().at(5_000, "b", State.UP)
                .at(5_300, "b", State.ABSENT)
                .at(5_400, "b", State.UP)
                .at(5_500, "b", State.ABSENT)
                .until(20_000);

        assertThat(line.times()).containsExactly(0L, 5_000L, 6_000L);
        assertThat(line.sent.getLast().of("b")).isEqualTo(State.ABSENT);
    }

    @Test
    void rdmaCmAppearingIsSent() {
        Line line = oneUp().until(5_000);
        line.rdmaCm = Optional.of(Path.of("/dev/infiniband/rdma_cm"));
        line.offer();

        assertThat(line.times()).containsExactly(0L, 5_000L);
    }

    @Test
    void withholdingAndOfferingAgainIsToldAtOnceHoweverSoonAndIsNoFlapping() {
        Line line = twoUp().withhold(100, "a")
                .withhold(150)
                .withhold(200, "a")
                .withhold(300)
                .until(20_000);

        assertThat(line.times()).containsExactly(0L, 100L, 150L, 200L, 300L);
        assertThat(line.sent)
                .extracting(sent -> sent.of("a"))
                .containsExactly(State.UP, State.ABSENT, State.UP, State.ABSENT, State.UP);
        assertThat(line.sent).allMatch(sent -> sent.of("b") == State.UP);
    }

    @Test
    void aWithheldDeviceThatFlapsCausesNoMessageAndIsNotTrustedSoonerForIt() {
        Line line = twoUp().withhold(5_000, "a")
                .at(5_100, "a", State.DOWN)
                .at(5_200, "a", State.UP)
                .withhold(5_300)
                .until(20_000);

        assertThat(line.times()).containsExactly(0L, 5_000L, 5_300L, 6_300L);
        assertThat(line.sent.get(2).of("a")).isEqualTo(State.DOWN);
        assertThat(line.sent.get(3).of("a")).isEqualTo(State.UP);
    }

    @Test
    void afterAFreshStartTheChangesOfThePastCountNoMore() {
        Line line = oneUp().at(5_000, "a", State.DOWN).until(5_200);
        line.damper.startOver();

        line.at(5_300, "a", State.UP).until(20_000);

        assertThat(line.times()).containsExactly(0L, 5_000L, 5_300L);
        assertThat(line.sent.getLast().of("a")).isEqualTo(State.UP);
    }

    @Test
    void aForcedOfferIsSentAlsoWhenOnlyAReasonIsNew() {
        FlapDamper damper = new FlapDamper();
        damper.offer(down("port 1 is DOWN"), Set.of(), 0);

        damper.force();

        assertThat(damper.offer(down("the driver is changed"), Set.of(), MILLI)).isPresent();
        assertThat(damper.offer(down("port 1 is DOWN"), Set.of(), 2 * MILLI)).isEmpty();
    }

    /** One step of a random history: a pause, then a device takes a state. */
    record Step(int pauseMillis, String device, State state) {}

    @Provide
    Arbitrary<List<Step>> histories() {
        Arbitrary<Integer> pauses = Arbitraries.oneOf(
                Arbitraries.integers().between(0, 400),
                Arbitraries.integers().between(0, 4_000),
                Arbitraries.of(999, 1_000, 1_001, 1_999, 2_000, 2_001));
        return Combinators.combine(pauses, Arbitraries.of("a", "b", "c"), Arbitraries.of(State.class))
                .as(Step::new)
                .list()
                .ofMaxSize(60);
    }

    @Property(tries = 500)
    void theFinalStateIsAlwaysSentWithinTwoSeconds(@ForAll("histories") List<Step> history) {
        Line line = play(history);
        long end = line.now / MILLI;
        line.until(end + 2_000);

        Sent last = line.sent.getLast();
        line.states.forEach((device, state) -> assertThat(last.of(device)).isEqualTo(state));
        assertThat(line.damper.due()).isEmpty();
    }

    @Property(tries = 500)
    void onlyAChangeAfterQuietIsSentWithinASecondOfAnotherMessage(@ForAll("histories") List<Step> history) {
        Line line = play(history);
        line.until(line.now / MILLI + 5_000);
        List<Long> urgent = changesAfterQuiet(history);

        for (int i = 1; i < line.sent.size(); i++) {
            long at = line.sent.get(i).at();
            assertThat(at - line.sent.get(i - 1).at() >= 1_000 || urgent.contains(at))
                    .as("messages %s, urgent %s", line.times(), urgent)
                    .isTrue();
        }
    }

    @Property(tries = 500)
    void everyChangeAfterQuietIsTrueForTheKubeletAtOnce(@ForAll("histories") List<Step> history) {
        Line line = new Line(Map.of());
        Map<String, Long> changedAt = new TreeMap<>();
        long at = 10_000;
        for (Step step : history) {
            at += step.pauseMillis();
            State former = line.states.getOrDefault(step.device(), State.ABSENT);
            line.at(at, step.device(), step.state());
            if (former != step.state()) {
                long quiet = at - changedAt.getOrDefault(step.device(), at - 10_000);
                changedAt.put(step.device(), at);
                if (quiet >= 2_000) {
                    assertThat(line.sent.getLast().of(step.device())).isEqualTo(step.state());
                }
            }
        }
    }

    @Property(tries = 500)
    void noMessageRepeatsTheFormerOne(@ForAll("histories") List<Step> history) {
        Line line = play(history);
        line.until(line.now / MILLI + 5_000);

        for (int i = 1; i < line.sent.size(); i++) {
            Sent former = line.sent.get(i - 1);
            Sent latter = line.sent.get(i);
            assertThat(List.of("a", "b", "c")).anyMatch(device -> former.of(device) != latter.of(device));
        }
    }

    private static Line play(List<Step> history) {
        Line line = new Line(Map.of());
        long at = 10_000;
        for (Step step : history) {
            at += step.pauseMillis();
            line.at(at, step.device(), step.state());
        }
        return line;
    }

    private static List<Long> changesAfterQuiet(List<Step> history) {
        Map<String, State> states = new TreeMap<>();
        Map<String, Long> changedAt = new TreeMap<>();
        List<Long> urgent = new ArrayList<>();
        long at = 10_000;
        for (Step step : history) {
            at += step.pauseMillis();
            if (states.getOrDefault(step.device(), State.ABSENT) != step.state()) {
                if (at - changedAt.getOrDefault(step.device(), at - 10_000) >= 2_000) {
                    urgent.add(at);
                }
                changedAt.put(step.device(), at);
                states.put(step.device(), step.state());
            }
        }
        return urgent;
    }

    @Test
    void keepsTheHealthThatTheKubeletHearsFromTheJudgementItself() {
        AdvertisedDevices first =
                new FlapDamper().offer(down("port 1 is DOWN"), Set.of(), 0).orElseThrow();
        DeviceHealth health = first.find("a").orElseThrow().health();

        assertThat(health).isEqualTo(new Unhealthy("port 1 is DOWN", SINCE));
    }
}
