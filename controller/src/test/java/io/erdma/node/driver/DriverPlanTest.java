package io.erdma.node.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.driver.DriverPlan.Action;
import io.erdma.node.driver.DriverPlan.Step;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DriverPlanTest {
    /** The whole matrix of an idle node: what is preferred, whether GPUs are there, what is loaded. */
    @ParameterizedTest(name = "preferred {0}, GPU {1}, compat_mode {2}: {3}")
    @CsvSource(
            nullValues = "-",
            value = {
                "DEFAULT, false, N,      erdma runs in mode default",
                "DEFAULT, false, Y,      switch erdma from mode compat to default",
                "DEFAULT, false, absent, load erdma compat_mode=N (mode default)",
                "DEFAULT, true,  N,      erdma runs in mode default",
                "DEFAULT, true,  Y,      switch erdma from mode compat to default",
                "COMPAT,  false, N,      switch erdma from mode default to compat",
                "COMPAT,  false, Y,      erdma runs in mode compat",
                "COMPAT,  false, absent, load erdma compat_mode=Y (mode compat)",
                "OFED,    false, N,      switch erdma from mode default to ofed",
                "OFED,    false, Y,      erdma runs in mode ofed",
                "OFED,    true,  N,      switch erdma from mode default to ofed",
                "OFED,    true,  absent, load erdma compat_mode=Y (mode ofed)",
                "-,       false, N,      erdma runs in mode default",
                "-,       false, Y,      switch erdma from mode compat to default",
                "-,       false, absent, load erdma compat_mode=N (mode default)",
                "-,       true,  N,      switch erdma from mode default to ofed",
                "-,       true,  Y,      erdma runs in mode ofed",
                "-,       true,  absent, load erdma compat_mode=Y (mode ofed)",
            })
    void bringsAnIdleNodeIntoThePreferredMode(DriverMode preferred, boolean gpu, String loaded, String told) {
        Facts facts = loaded.equals("absent") ? new Facts() : Facts.loaded(loaded);
        facts.gpu = gpu;
        assertThat(DriverPlan.of(Optional.ofNullable(preferred), facts.made(), false)
                        .describe())
                .isEqualTo(told);
    }

    @ParameterizedTest
    @EnumSource(DriverMode.class)
    void hasNothingToSwitchInTheKernelsOwnDriverWhichHasNoMode(DriverMode preferred) {
        Facts facts = Facts.loaded("");
        assertThat(DriverPlan.of(Optional.of(preferred), facts.made(), false).action())
                .isInstanceOfSatisfying(
                        Action.Nothing.class,
                        nothing -> assertThat(nothing.reason()).contains("mode is unknown", "nothing to switch"));
    }

    @Test
    void loadsTheKernelsOwnDriverWithoutAParameterThatItDoesNotKnow() {
        Facts facts = new Facts();
        facts.file = new ModuleFile.Found(false);
        assertThat(DriverPlan.of(Optional.of(DriverMode.COMPAT), facts.made(), false)
                        .action())
                .isEqualTo(new Action.Load(Optional.empty()));
    }

    @Test
    void leavesADriverInUseAloneAndNamesItsUsers() {
        Facts facts = Facts.loaded("N");
        facts.users = Facts.A_JOB;
        assertThat(DriverPlan.of(Optional.of(DriverMode.OFED), facts.made(), false)
                        .action())
                .isEqualTo(new Action.Pending(
                        "switch from default to ofed pending: 2 users: pod default/train," + " pid 4711 (python3)"));
    }

    @Test
    void waitsAlsoWhereNobodyCanTellWhetherPodsHoldShares() {
        Facts facts = Facts.loaded("Y");
        facts.users = new DeviceUsers(List.of(), List.of(), List.of("possibly pods: no socket"));
        assertThat(DriverPlan.of(Optional.of(DriverMode.DEFAULT), facts.made(), false)
                        .action())
                .isEqualTo(
                        new Action.Pending("switch from compat to default pending: 1 user: possibly pods: no socket"));
    }

    @Test
    void usersDoNotMatterWhereTheModeIsAsItShouldBe() {
        Facts facts = Facts.loaded("Y");
        facts.users = Facts.A_JOB;
        assertThat(DriverPlan.of(Optional.of(DriverMode.COMPAT), facts.made(), false)
                        .action())
                .isInstanceOf(Action.Nothing.class);
    }

    @Test
    void waitsForModulesThatStandOnTheDriver() {
        Facts facts = Facts.loaded("N");
        facts.module = new DriverModule.Loaded(Optional.of(false), true, 1, List.of("erdma_test"));
        assertThat(DriverPlan.of(Optional.of(DriverMode.COMPAT), facts.made(), false)
                        .action())
                .isEqualTo(new Action.Pending(
                        "switch from default to compat pending: these modules stand on erdma: erdma_test"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"coming", "going"})
    void keepsItsHandsOffWhileSomebodyElseLoadsOrUnloads(String state) {
        Facts facts = new Facts();
        facts.module = new DriverModule.Changing(state);
        assertThat(DriverPlan.of(Optional.empty(), facts.made(), true).action()).isInstanceOf(Action.Pending.class);
    }

    @Test
    void switchesInAnOrderThatTellsTheKubeletFirstAndResumesLast() {
        assertThat(new Action.Switch(DriverMode.DEFAULT, DriverMode.COMPAT).steps())
                .containsExactly(
                        Step.SUSPEND,
                        Step.LOOK_AGAIN,
                        Step.UNLOAD,
                        Step.LOAD,
                        Step.VERIFY,
                        Step.AWAIT_DEVICES,
                        Step.RESUME);
    }

    @Test
    void saysWhyItCannotSwitchOrLoadWithoutTheRightTo() {
        Facts loaded = Facts.loaded("N");
        loaded.cannotChange = Optional.of("this process lacks CAP_SYS_MODULE");
        Facts absent = new Facts();
        absent.cannotChange = loaded.cannotChange;
        assertThat(DriverPlan.of(Optional.of(DriverMode.COMPAT), loaded.made(), false)
                        .action())
                .isEqualTo(
                        new Action.Blocked("cannot switch from default to compat: this process lacks CAP_SYS_MODULE"));
        assertThat(DriverPlan.of(Optional.of(DriverMode.COMPAT), absent.made(), false)
                        .action())
                .isEqualTo(new Action.Blocked("cannot load erdma: this process lacks CAP_SYS_MODULE"));
    }

    @Test
    void needsNoRightWhereNothingIsToBeDone() {
        Facts facts = Facts.loaded("N");
        facts.cannotChange = Optional.of("--manage-driver=false forbids it");
        DriverPlan plan = DriverPlan.of(Optional.of(DriverMode.DEFAULT), facts.made(), false);
        assertThat(plan.action()).isInstanceOf(Action.Nothing.class);
        assertThat(plan.companions()).isEmpty();
    }

    @Test
    void doesNotUnloadWhatIsBuiltIntoTheKernel() {
        Facts facts = Facts.loaded("N");
        facts.module = new DriverModule.Loaded(Optional.of(false), false, 0, List.of());
        assertThat(DriverPlan.of(Optional.of(DriverMode.COMPAT), facts.made(), false)
                        .describe())
                .contains("built into this kernel", "erdma.compat_mode=Y");
    }

    @Test
    void hasNothingToDoOnANodeWithoutTheCard() {
        Facts facts = new Facts();
        facts.pciFunctions = 0;
        facts.file = new ModuleFile.Missing();
        assertThat(DriverPlan.of(Optional.of(DriverMode.COMPAT), facts.made(), true)
                        .describe())
                .isEqualTo("no eRDMA function (PCI 1ded:107f) on this node: attach an ERI to the instance");
    }

    @Test
    void installsAMissingDriverOnlyWhenAskedTo() {
        Facts facts = new Facts();
        facts.file = new ModuleFile.Missing();
        assertThat(DriverPlan.of(Optional.empty(), facts.made(), true).action()).isEqualTo(new Action.Install());
        assertThat(DriverPlan.of(Optional.empty(), facts.made(), false).describe())
                .contains(Facts.KERNEL, "--install-driver");
    }

    @Test
    void neverRunsAnInstallerOnAContainerOptimisedSystem() {
        Facts facts = new Facts();
        facts.file = new ModuleFile.Missing();
        facts.kernel = Facts.CONTAINER_OS;
        assertThat(DriverPlan.of(Optional.empty(), facts.made(), true).action())
                .isInstanceOfSatisfying(
                        Action.Blocked.class,
                        blocked -> assertThat(blocked.reason()).contains("container-optimised", Facts.CONTAINER_OS));
    }

    @Test
    void doesNotGuessWhatTheHostHas() {
        Facts facts = new Facts();
        facts.file = new ModuleFile.Unknown("modinfo erdma did not end within 10 s and was killed");
        assertThat(DriverPlan.of(Optional.empty(), facts.made(), true).action())
                .isInstanceOfSatisfying(
                        Action.Blocked.class,
                        blocked -> assertThat(blocked.reason()).contains("did not end within 10 s"));
    }

    /** P42: a kernel without smc has no eRDMA at all where that is a condition. */
    @Test
    void p42_takesTheModulesBesideTheDriverAsWelcomeAndNoMore() {
        Facts facts = Facts.loaded("N");
        assertThat(DriverPlan.of(Optional.of(DriverMode.DEFAULT), facts.made(), false)
                        .companions())
                .containsExactly("ib_uverbs", "rdma_ucm", "smc");
        facts.companions = Set.of("ib_uverbs", "smc");
        assertThat(DriverPlan.of(Optional.of(DriverMode.DEFAULT), facts.made(), false)
                        .companions())
                .containsExactly("rdma_ucm");
    }

    @Test
    void registersGpuMemoryOnlyWhereThereAreGpusAndKeepsSmcAwayFromOfed() {
        Facts facts = Facts.loaded("Y");
        assertThat(DriverPlan.of(Optional.of(DriverMode.OFED), facts.made(), false)
                        .companions())
                .containsExactly("ib_uverbs");
        facts.gpu = true;
        assertThat(DriverPlan.of(Optional.of(DriverMode.OFED), facts.made(), false)
                        .companions())
                .containsExactly("ib_uverbs", "nvidia_peermem");
    }

    @Test
    void namesTenUsersAtMost() {
        List<String> pods = java.util.stream.IntStream.range(0, 12)
                .mapToObj(i -> "ns/p" + i)
                .toList();
        assertThat(new DeviceUsers(List.of(), pods, List.of()).summary())
                .startsWith("12 users: pod ns/p0, ")
                .endsWith("pod ns/p9 and 2 more");
    }
}
