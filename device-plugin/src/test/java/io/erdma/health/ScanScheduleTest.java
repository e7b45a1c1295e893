package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Times are milliseconds of a clock that the test moves. */
final class ScanScheduleTest {
    private static final Duration INTERVAL = Duration.ofSeconds(30);

    private int silentDrivers;
    private final ScanSchedule scans = new ScanSchedule(Pace.STANDARD, () -> silentDrivers);

    private static long at(long millis) {
        return Duration.ofMillis(100_000 + millis).toNanos();
    }

    private boolean due(long millis) {
        return scans.due(at(millis));
    }

    private boolean begin(long millis) {
        return scans.begin(at(millis), INTERVAL);
    }

    private boolean ended(long begun, long now) {
        return scans.ended(at(begun), at(now));
    }

    private void scanAt(long millis) {
        assertThat(begin(millis)).isTrue();
        assertThat(ended(millis, millis + 10)).isTrue();
    }

    @Test
    void scansAtTheStartAndThenAtTheInterval() {
        scans.startAt(at(0));
        assertThat(due(0)).isTrue();
        scanAt(0);

        assertThat(due(29_999)).isFalse();
        assertThat(scans.nanosUntilDue(at(20_000)))
                .isEqualTo(Duration.ofSeconds(10).toNanos());
        assertThat(due(30_000)).isTrue();
    }

    @Test
    void manyEventsLeadToOneScanAndASecondLook() {
        scans.startAt(at(0));
        scanAt(0);

        for (long millis = 20; millis < 200; millis += 20) {
            scans.soon(at(millis));
            assertThat(due(millis)).isFalse();
        }
        assertThat(due(200)).isTrue();
        scanAt(200);

        assertThat(due(1_199)).isFalse();
        assertThat(due(1_200)).isTrue();
        scanAt(1_200);
        assertThat(due(31_199)).isFalse();
    }

    @Test
    void oneThatHangsIsReplacedOnceUnlessMoreDriversAreSilent() {
        scans.startAt(at(0));
        assertThat(begin(0)).isTrue();
        assertThat(due(1_999)).isFalse();
        assertThat(scans.nanosUntilDue(at(1_500)))
                .isEqualTo(Duration.ofMillis(500).toNanos());

        assertThat(due(2_000)).isTrue();
        assertThat(begin(2_000)).isTrue();
        assertThat(due(4_000)).isFalse();

        silentDrivers = 2;
        assertThat(due(4_000)).isTrue();
        assertThat(begin(4_000)).isTrue();
    }

    @Test
    void whatCameDueMeanwhileIsScannedOnceOneHasEnded() {
        scans.startAt(at(0));
        assertThat(begin(0)).isTrue();
        scans.soon(at(100));
        assertThat(due(200)).isTrue();
        assertThat(begin(200)).isFalse();
        assertThat(due(300)).isFalse();

        assertThat(ended(0, 300)).isTrue();

        assertThat(due(300)).isTrue();
    }

    @Test
    void theNewestScanCountsWhicheverEndsFirst() {
        scans.startAt(at(0));
        assertThat(begin(0)).isTrue();
        assertThat(begin(2_000)).isTrue();

        assertThat(ended(2_000, 2_100)).isTrue();
        assertThat(ended(0, 2_200)).isFalse();
    }

    @Test
    void nothingIsDueWhilePausedAndWhatBeganBeforeCountsNoMore() {
        scans.startAt(at(0));
        assertThat(begin(0)).isTrue();

        scans.pause();
        scans.soon(at(100));
        assertThat(due(60_000)).isFalse();
        assertThat(scans.nanosUntilDue(at(60_000))).isEqualTo(Long.MAX_VALUE);
        assertThat(ended(0, 60_000)).isFalse();

        scans.startOver(at(61_000));
        assertThat(due(61_000)).isTrue();
        scanAt(61_000);
    }

    @Test
    void oneThatDiedMakesRoomForTheNext() {
        scans.startAt(at(0));
        assertThat(begin(0)).isTrue();
        scans.died();

        assertThat(due(30_000)).isTrue();
        assertThat(begin(30_000)).isTrue();
    }
}
