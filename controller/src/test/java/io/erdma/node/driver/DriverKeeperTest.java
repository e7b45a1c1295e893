package io.erdma.node.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.inventory.NodePaths;
import io.erdma.pods.PodShares.Answer;
import io.erdma.pods.PodShares.Holder;
import io.erdma.sysfs.NodeFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverKeeperTest {
    private static final String OUT_OF_TREE = "filename: erdma.ko\nparm:           compat_mode:RoCE-like (bool)\n";
    private static final Answer NOBODY = new Answer.Known(List.of());
    private static final Answer A_JOB =
            new Answer.Known(List.of(new Holder("default", "train", "worker", List.of("erdma_0/1"))));

    @TempDir
    private Path directory;

    private NodeFixture node;
    private volatile Answer pods = NOBODY;
    private volatile boolean closesItsContexts = true;
    private Optional<Answer> podsOnceSuspended = Optional.empty();
    private Optional<DriverKeeper> running = Optional.empty();

    /** Beside what kmod.sh writes, so that the order of all is seen. */
    private final class RecordingHold implements DeviceHold {
        @Override
        public void suspend(String reason) {
            event("suspend: " + reason);
        }

        @Override
        public boolean awaitSuspended(Duration atMost) {
            event("suspended");
            podsOnceSuspended.ifPresent(answer -> pods = answer);
            return closesItsContexts;
        }

        @Override
        public void resume() {
            event("resume");
        }
    }

    @BeforeEach
    void lay() throws IOException {
        node = NodeFixture.lay(NodeFixture.ERDMA_COMPAT, directory);
        Files.createDirectories(directory.resolve("proc"));
        Files.createDirectories(directory.resolve("faults"));
        node.write("module/erdma/initstate", "live\n");
        node.write("module/erdma/refcnt", "0\n");
        node.write("module/erdma/parameters/compat_mode", "N\n");
        node.write("bus/pci/devices/0000:00:07.0/vendor", "0x1ded\n");
        node.write("bus/pci/devices/0000:00:07.0/device", "0x107f\n");
        hostHas("erdma", OUT_OF_TREE);
        for (String module : List.of("ib_uverbs", "rdma_ucm", "smc")) {
            node.write("module/" + module + "/refcnt", "0\n");
        }
    }

    @AfterEach
    void stop() {
        running.ifPresent(DriverKeeper::close);
    }

    private void hostHas(String module, String info) throws IOException {
        Files.createDirectories(directory.resolve("modules"));
        Files.writeString(directory.resolve("modules").resolve(module), info);
    }

    private void fault(String name, String says) throws IOException {
        Files.writeString(directory.resolve("faults").resolve(name), says);
    }

    private synchronized void event(String what) {
        try {
            Files.writeString(
                    directory.resolve("events"), what + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> events() throws IOException {
        Path events = directory.resolve("events");
        return Files.exists(events) ? Files.readAllLines(events) : List.of();
    }

    private DriverKeeper keeper(DriverMode preference) {
        return keeper(preference, true);
    }

    private DriverKeeper keeper(DriverMode preference, boolean manage) {
        Path kmod;
        try {
            kmod = Path.of(DriverKeeperTest.class.getResource("/driver/kmod.sh").toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
        HostCommands host = HostCommands.through(List.of("sh", kmod.toString(), directory.toString()));
        NodePaths paths = new NodePaths(directory.resolve("sys"), directory.resolve("dev"), directory.resolve("etc"));
        var reader = new DriverFactsReader(
                paths, directory.resolve("proc"), host, devices -> List.of(), () -> pods, 1, manage);
        return new DriverKeeper(
                new DriverSettings(Optional.ofNullable(preference), manage, Optional.empty()),
                reader,
                new KernelModules(host),
                Optional.empty(),
                new RecordingHold(),
                new DriverKeeper.Pace(
                        Duration.ofMinutes(5),
                        Duration.ofMillis(50),
                        Duration.ofMinutes(1),
                        Duration.ofHours(1),
                        Duration.ofSeconds(1),
                        Duration.ofMillis(5),
                        Duration.ofMillis(300),
                        Duration.ofMillis(5)),
                Clock.systemUTC());
    }

    private DriverKeeper started(DriverMode preference) {
        DriverKeeper keeper = keeper(preference);
        running = Optional.of(keeper);
        keeper.start();
        return keeper;
    }

    private String compatMode() throws IOException {
        return Files.readString(directory.resolve("sys/module/erdma/parameters/compat_mode"))
                .strip();
    }

    private static DriverStatus status(DriverKeeper keeper) {
        return keeper.status().orElseThrow();
    }

    @Test
    void switchesAnIdleDriverAndTellsTheKubeletBefore() throws IOException {
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        assertThat(keeper.check()).isEqualTo(Duration.ofMinutes(5));
        assertThat(compatMode()).isEqualTo("Y");
        assertThat(events().subList(0, 5))
                .containsExactly(
                        "suspend: driver mode switches from default to compat",
                        "suspended",
                        "rmmod erdma",
                        "modprobe erdma compat_mode=Y",
                        "resume");
        assertThat(status(keeper).inForce()).isEqualTo(ModeInForce.COMPAT);
        assertThat(status(keeper).problem()).isEmpty();
        assertThat(status(keeper).pending()).isEmpty();
    }

    @Test
    void doesNothingWhereTheModeIsRight() throws IOException {
        DriverKeeper keeper = keeper(DriverMode.DEFAULT);
        assertThat(keeper.check()).isEqualTo(Duration.ofMinutes(5));
        assertThat(events()).isEmpty();
        assertThat(status(keeper).plan()).isEqualTo("erdma runs in mode default");
    }

    @Test
    void fromCompatToOfedNothingNeedsToBeLoadedAnew() throws IOException {
        node.write("module/erdma/parameters/compat_mode", "Y\n");
        DriverKeeper keeper = keeper(DriverMode.OFED);
        keeper.check();
        assertThat(events()).isEmpty();
        assertThat(status(keeper).inForce()).isEqualTo(ModeInForce.OFED);
    }

    @Test
    void waitsForAJobToEndAndSwitchesThenByItself() throws IOException {
        pods = A_JOB;
        DriverKeeper keeper = started(DriverMode.COMPAT);
        await().until(() -> keeper.status().isPresent());
        assertThat(status(keeper).pending())
                .contains("switch from default to compat pending: 1 user: pod default/train");
        assertThat(status(keeper).usedBy()).containsExactly("pod default/train");
        assertThat(status(keeper).inForce()).isEqualTo(ModeInForce.DEFAULT);
        assertThat(events()).isEmpty();

        pods = NOBODY;
        await().until(() -> status(keeper).inForce() == ModeInForce.COMPAT);
        assertThat(compatMode()).isEqualTo("Y");
    }

    @Test
    void unreadablePodSharesKeepTheModeAsItIs() throws IOException {
        pods = new Answer.Unreadable("kubelet.sock is not there");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(status(keeper).pending())
                .hasValueSatisfying(why -> assertThat(why).contains("possibly pods: kubelet.sock is not there"));
        assertThat(events()).isEmpty();
    }

    /** A pod may be admitted after the look that made the plan, and before the kubelet knows that no share can be used. */
    @Test
    void looksAgainOnceTheKubeletKnowsAndLeavesAPodThatCameMeanwhileAlone() throws IOException {
        podsOnceSuspended = Optional.of(A_JOB);
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(events())
                .containsExactly("suspend: driver mode switches from default to compat", "suspended", "resume");
        assertThat(compatMode()).isEqualTo("N");
        assertThat(status(keeper).pending())
                .hasValueSatisfying(why -> assertThat(why).contains("pod default/train"));
    }

    /** Each try takes the devices out of use for a second: those who come and go must not make that a habit. */
    @Test
    void usersWhoComeAndGoAreNotSuspendedAgainAndAgain() throws IOException {
        podsOnceSuspended = Optional.of(A_JOB);
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        try (RecordedLog log = RecordedLog.of(DriverKeeper.class)) {
            keeper.check();
            for (int i = 0; i < 20; i++) {
                pods = i % 2 == 0 ? NOBODY : A_JOB;
                keeper.check();
            }
            assertThat(events())
                    .containsExactly("suspend: driver mode switches from default to compat", "suspended", "resume");
            assertThat(log.lines()).hasSize(2);
        }
        pods = NOBODY;
        keeper.check();
        assertThat(status(keeper).pending())
                .as("why it waits although nobody is there now")
                .hasValueSatisfying(why -> assertThat(why).contains("pod default/train"));
    }

    /** Somebody opens the device between the last look and the unloading. */
    @Test
    void aUserWhoComesAtTheLastMomentIsNoFault() throws IOException {
        fault("user-comes", "");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(events()).endsWith("rmmod erdma", "resume");
        assertThat(status(keeper).problem()).isEmpty();
        assertThat(status(keeper).pending())
                .hasValueSatisfying(why -> assertThat(why).startsWith("switch from default to compat pending: 1 user"));
        assertThat(compatMode()).isEqualTo("N");
    }

    @Test
    void whatFailedIsNotTriedSoonerBecauseAUserCameInBetween() throws IOException {
        fault("unload-erdma", "busy\n");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        List<String> before = events();
        pods = A_JOB;
        keeper.check();
        assertThat(status(keeper).pending()).isPresent();
        pods = NOBODY;
        keeper.check();
        assertThat(events()).isEqualTo(before);
        assertThat(status(keeper).problem())
                .hasValueSatisfying(why -> assertThat(why).contains("busy"));
    }

    /** There is nothing to take away from anybody any more, so it need not wait as long as a switch. */
    @Test
    void loadsADriverThatCouldNotBeLoadedAsSoonAsItCan() throws IOException {
        fault("load-erdma-compat_mode=Y", "out of memory\n");
        fault("load-erdma-compat_mode=N", "out of memory\n");
        try (RecordedLog log = RecordedLog.of(DriverKeeper.class)) {
            DriverKeeper keeper = started(DriverMode.COMPAT);
            await().until(() -> events().stream()
                            .filter("modprobe erdma compat_mode=Y"::equals)
                            .count()
                    >= 4);
            assertThat(log.linesWith("SEVERE")).hasSizeLessThanOrEqualTo(2);
            assertThat(status(keeper).inForce()).isEqualTo(ModeInForce.NOT_LOADED);
            Files.delete(directory.resolve("faults/load-erdma-compat_mode=Y"));
            await().until(() -> status(keeper).inForce() == ModeInForce.COMPAT
                    && status(keeper).problem().isEmpty());
        }
    }

    @Test
    void beginsNothingOnceItIsToldToStop() throws IOException {
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.stop();
        keeper.check();
        assertThat(events()).doesNotContain("rmmod erdma").endsWith("resume");
        assertThat(compatMode()).isEqualTo("N");
    }

    /** As an agent that was killed between unloading and loading leaves the node. */
    @Test
    void repairsWhatAnAgentLeftThatWasKilledInTheMiddleOfASwitch() throws IOException {
        node.remove("module/erdma");
        Files.createDirectories(directory.resolve("unloaded"));
        for (String directories : List.of("infiniband", "infiniband_verbs")) {
            Files.move(
                    directory.resolve("sys/class").resolve(directories),
                    directory.resolve("unloaded").resolve(directories));
        }
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(compatMode()).isEqualTo("Y");
        assertThat(status(keeper).problem()).isEmpty();
        assertThat(directory.resolve("sys/class/infiniband")).exists();
    }

    @Test
    void leavesTheDriverAloneWhileAContextOfItsOwnHangs() throws IOException {
        closesItsContexts = false;
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(events()).doesNotContain("rmmod erdma").endsWith("resume");
        assertThat(status(keeper).problem())
                .hasValueSatisfying(problem -> assertThat(problem).contains("did not close within 1 s"));
    }

    @Test
    void resumesAndReportsWhenTheDriverCannotBeUnloaded() throws IOException {
        fault("unload-erdma", "rmmod: ERROR: could not remove 'erdma': Device or resource busy\n");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(events())
                .contains("rmmod erdma")
                .doesNotContain("modprobe erdma compat_mode=Y")
                .endsWith("resume");
        assertThat(status(keeper).problem())
                .hasValueSatisfying(problem ->
                        assertThat(problem).contains("rmmod erdma failed with exit code 1", "Device or resource busy"));
        assertThat(status(keeper).inForce()).isEqualTo(ModeInForce.DEFAULT);
    }

    @Test
    void loadsTheFormerModeAgainWhenTheNewOneCannotBeLoaded() throws IOException {
        fault("load-erdma-compat_mode=Y", "modprobe: ERROR: could not insert 'erdma': Invalid argument\n");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(events()).containsSequence("modprobe erdma compat_mode=Y", "modprobe erdma compat_mode=N", "resume");
        assertThat(compatMode()).isEqualTo("N");
        assertThat(status(keeper).problem())
                .hasValueSatisfying(problem -> assertThat(problem)
                        .contains(
                                "cannot load erdma for mode compat",
                                "Invalid argument",
                                "loaded again for mode default"));
    }

    @Test
    void saysBothWhenTheFormerModeCannotBeLoadedEither() throws IOException {
        fault("load-erdma-compat_mode=Y", "out of memory\n");
        fault("load-erdma-compat_mode=N", "still out of memory\n");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(status(keeper).problem())
                .hasValueSatisfying(problem -> assertThat(problem)
                        .contains(
                                ": out of memory",
                                "Nor could it be loaded again for mode default",
                                ": still out of memory"));
        assertThat(status(keeper).inForce()).isEqualTo(ModeInForce.NOT_LOADED);
        assertThat(events()).containsSequence("modprobe erdma compat_mode=N", "resume");
    }

    @Test
    void doesNotBelieveALoadThatChangedNothing() throws IOException {
        fault("stays", "");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(status(keeper).problem())
                .hasValueSatisfying(problem -> assertThat(problem)
                        .contains("modprobe reported success, but erdma has compat_mode=N and not compat_mode=Y"));
        assertThat(events()).endsWith("resume");
    }

    @Test
    void doesNotRepeatAFailedSwitchAtOnceSinceEachTryTakesTheDevicesAway() throws IOException {
        fault("unload-erdma", "busy\n");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        int before = events().size();
        keeper.check();
        assertThat(events()).hasSize(before);
        assertThat(status(keeper).problem()).isPresent();
    }

    @Test
    void triesAgainAtOnceWhenAskedTo() throws IOException {
        fault("unload-erdma", "busy\n");
        DriverKeeper keeper = started(DriverMode.COMPAT);
        await().until(() -> keeper.status().flatMap(DriverStatus::problem).isPresent());
        Files.delete(directory.resolve("faults/unload-erdma"));
        keeper.checkNow();
        await().until(() -> status(keeper).inForce() == ModeInForce.COMPAT
                && status(keeper).problem().isEmpty());
    }

    @Test
    void saysWhenDevicesDoNotComeBackAndForgetsItOnceTheyDo() throws IOException {
        fault("slow-devices", "");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(events()).contains("resume");
        assertThat(status(keeper).problem())
                .hasValueSatisfying(problem -> assertThat(problem).startsWith("0 of 2 RDMA devices came back"));
        for (String directories : List.of("infiniband", "infiniband_verbs")) {
            Files.move(
                    directory.resolve("unloaded").resolve(directories),
                    directory.resolve("sys/class").resolve(directories));
        }
        keeper.check();
        assertThat(status(keeper).problem()).isEmpty();
    }

    @Test
    void loadsAMissingDriverInThePreferredModeAndWhatGoesWithIt() throws IOException {
        for (String module : List.of("erdma", "ib_uverbs", "rdma_ucm", "smc")) {
            node.remove("module/" + module);
        }
        hostHas("ib_uverbs", "");
        hostHas("rdma_ucm", "");
        DriverKeeper keeper = keeper(null);
        keeper.check();
        assertThat(events())
                .contains("modprobe erdma compat_mode=N", "modprobe ib_uverbs", "modprobe rdma_ucm", "modprobe smc")
                .doesNotContain("suspended");
        assertThat(compatMode()).isEqualTo("N");
        // P42: the host has no smc.
        assertThat(status(keeper).problem()).isEmpty();
        assertThat(status(keeper).chosenByNode()).isTrue();
        int before = events().size();
        keeper.check();
        assertThat(events()).as("what can't be loaded is tried once").hasSize(before);
    }

    @Test
    void loadsTheKernelsOwnDriverAsItIs() throws IOException {
        node.remove("module/erdma");
        hostHas("erdma", "filename: erdma.ko\nintree: Y\n");
        DriverKeeper keeper = keeper(DriverMode.COMPAT);
        keeper.check();
        assertThat(events()).contains("modprobe erdma");
        assertThat(status(keeper).inForce()).isEqualTo(ModeInForce.UNKNOWN);
        assertThat(status(keeper).plan()).contains("mode is unknown");
    }

    @Test
    void changesNothingWhereItMayNot() throws IOException {
        DriverKeeper keeper = keeper(DriverMode.COMPAT, false);
        keeper.check();
        assertThat(events()).isEmpty();
        assertThat(status(keeper).problem())
                .contains("cannot switch from default to compat: --manage-driver=false forbids it");
    }

    @Test
    void closesAtOnceWhileItWaits() {
        pods = A_JOB;
        DriverKeeper keeper = started(DriverMode.COMPAT);
        await().until(() -> keeper.status().isPresent());
        long start = System.nanoTime();
        keeper.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(3));
    }
}
