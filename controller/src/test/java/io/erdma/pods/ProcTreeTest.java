package io.erdma.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.erdma.pods.ProcessLimits.LockedMemory;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcTreeTest {
    private static final String LIMITS = """
            Limit                     Soft Limit           Hard Limit           Units    \s
            Max cpu time              unlimited            unlimited            seconds  \s
            Max locked memory         8388608              unlimited            bytes    \s
            Max address space         unlimited            unlimited            bytes    \s
            """;

    @TempDir
    private Path directory;

    private ProcFixture proc;
    private ProcTree tree;

    @BeforeEach
    void lay() {
        proc = new ProcFixture(directory).process(7, "python", "0::/");
        tree = new ProcTree(directory);
    }

    @Test
    void listsProcessesAndNothingElse() {
        proc.process(12, "sh", "0::/");
        proc.directory("sys");
        proc.directory("007");
        proc.write("meminfo/x", "");
        assertThat(tree.pids()).containsExactly(7L, 12L);
    }

    @Test
    void seesAllProcessesOnlyFromTheFirstPidNamespace() {
        assertThat(tree.seesAllProcesses()).isTrue();
        proc.link("self/ns/pid", "pid:[4026532836]");
        assertThat(tree.seesAllProcesses()).isFalse();
        assertThat(new ProcTree(directory.resolve("none")).seesAllProcesses()).isFalse();
    }

    @Test
    void findsTheVerbsNodesThatAProcessHasOpen() {
        proc.link("7/fd/0", "/dev/null");
        proc.link("7/fd/3", "/dev/infiniband/uverbs0");
        proc.link("7/fd/4", "/dev/infiniband/uverbs12");
        proc.link("7/fd/5", "/dev/infiniband/rdma_cm");
        proc.link("7/fd/6", "anon_inode:[infinibandevent]");
        proc.link("7/fd/7", "/dev/infiniband/uverbs1 (deleted)");
        assertThat(tree.openUverbs(7))
                .hasValueSatisfying(open -> assertThat(open).containsExactly("uverbs0", "uverbs12"));
        assertThat(tree.openUverbs(8)).isEmpty();
    }

    @Test
    void findsTheVerbsNodesOfAContainerThatHasThemElsewhere() {
        proc.link("7/fd/3", "/rdma/uverbs3");
        proc.link("7/fd/4", "/tmp/no-uverbs4");
        assertThat(tree.openUverbs(7))
                .hasValueSatisfying(open -> assertThat(open).containsExactly("uverbs3"));
    }

    /** As without CAP_SYS_PTRACE, where the kernel lists descriptors and lets none be followed. */
    @Test
    void doesNotTakeADescriptorThatCantBeFollowedForOneThatIsNotOpen() {
        proc.write("7/fd/3", "not a link");
        assertThat(tree.openUverbs(7)).isEmpty();
    }

    @Test
    void knowsAProgramByItsNameStateAndCapabilities() {
        assertThat(tree.status(7)).contains(new ProcessStatus(7, "python", false, false));
        proc.write("7/status", "Name:\tpause\nTgid:\t5\nState:\tT (stopped)\nCapEff:\t000001ffffffffff\n");
        assertThat(tree.status(7)).contains(new ProcessStatus(5, "pause", true, true));
        assertThat(tree.status(8)).isEmpty();
    }

    @Test
    void readsTheSoftLimitOfLockedMemory() {
        proc.write("7/limits", LIMITS);
        assertThat(tree.limits(7).lockedMemory()).contains(new LockedMemory(OptionalLong.of(8_388_608)));
        proc.write("7/limits", LIMITS.replace("8388608  ", "unlimited"));
        assertThat(tree.limits(7).lockedMemory()).contains(new LockedMemory(OptionalLong.empty()));
    }

    @Test
    void keepsOnlyNcclsDeviceVariablesOfAnEnvironment() {
        proc.write(
                "7/environ", "PASSWORD=secret\0NCCL_IB_HCA==erdma_0\0NCCL_IB_DISABLE=\0XNCCL_IB_HCA=no\0broken\0=\0");
        assertThat(tree.limits(7).variables()).contains(Map.of("NCCL_IB_HCA", "=erdma_0", "NCCL_IB_DISABLE", ""));
        assertThat(tree.limits(7).toString()).doesNotContain("secret");
    }

    @Test
    void looksForTheProviderInTheImagesLibraryDirectories() {
        assertThat(tree.limits(7).provider()).isEmpty();
        proc.directory("7/root/usr/lib/x86_64-linux-gnu/libibverbs");
        assertThat(tree.limits(7).provider()).contains(false);
        proc.write("7/root/usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so", "");
        assertThat(tree.limits(7).provider()).contains(false);
        proc.write("7/root/usr/lib/x86_64-linux-gnu/libibverbs/liberdma-rdmav34.so", "");
        assertThat(tree.limits(7).provider()).contains(true);
        proc.write("8/root/usr/lib64/libibverbs/liberdma-rdmav57.so", "");
        assertThat(tree.limits(8).provider()).contains(true);
    }

    @Test
    void followsNoLinkOutOfTheImage() {
        proc.write("9/elsewhere/libibverbs/liberdma-rdmav34.so", "");
        proc.directory("9/root/usr/lib");
        String elsewhere = directory.resolve("9/elsewhere").toString();
        proc.link("9/root/usr/lib/x86_64-linux-gnu", elsewhere);
        proc.link("9/root/usr/lib64", elsewhere);
        proc.link("9/root/usr/lib/libibverbs", elsewhere + "/libibverbs");
        assertThat(tree.limits(9).provider()).contains(false);
    }

    @Test
    void knowsNothingOfAProcessThatHasEnded() {
        assertThat(tree.container(8)).isEmpty();
        assertThat(tree.limits(8))
                .isEqualTo(new ProcessLimits(Optional.empty(), false, Optional.empty(), Optional.empty()));
    }

    @Property
    void survivesAnyText(@ForAll String text) {
        assertThatCode(() -> {
                    ProcessStatus.parse(1, text);
                    ProcessLimits.lockedMemory(text);
                })
                .doesNotThrowAnyException();
    }
}
