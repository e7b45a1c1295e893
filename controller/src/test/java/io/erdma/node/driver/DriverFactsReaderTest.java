package io.erdma.node.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.inventory.NodePaths;
import io.erdma.node.driver.DeviceUsers.UsingProcess;
import io.erdma.pods.PodShares.Answer;
import io.erdma.pods.PodShares.Holder;
import io.erdma.sysfs.NodeFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DriverFactsReaderTest {
    private static final long SELF = 77;
    /** Not the mode that the node is in, so that users matter. */
    private static final Optional<DriverMode> OTHER = Optional.of(DriverMode.DEFAULT);

    private static final Answer NO_PODS = new Answer.Known(List.of());

    @TempDir
    private Path directory;

    private final List<OptionalLong> contexts = new ArrayList<>();
    private Answer pods = NO_PODS;

    private DriverFacts read() {
        return reader(devices -> contexts).read(OTHER);
    }

    private DriverFactsReader reader(OpenContexts open) {
        NodePaths paths = new NodePaths(directory.resolve("sys"), directory.resolve("dev"), directory.resolve("etc"));
        return new DriverFactsReader(
                paths, directory.resolve("proc"), HostCommands.direct(), open, () -> pods, SELF, true);
    }

    private NodeFixture node() throws IOException {
        NodeFixture node = NodeFixture.lay(NodeFixture.ERDMA_COMPAT, directory);
        Files.createDirectories(directory.resolve("proc"));
        node.write("module/erdma/initstate", "live\n");
        node.write("module/erdma/refcnt", "0\n");
        node.write("module/erdma/parameters/compat_mode", "Y\n");
        return node;
    }

    private void process(long pid, String command, String... descriptors) throws IOException {
        Path process = directory.resolve("proc").resolve(Long.toString(pid));
        Files.createDirectories(process.resolve("fd"));
        Files.writeString(process.resolve("comm"), command + "\n");
        for (int i = 0; i < descriptors.length; i++) {
            Files.createSymbolicLink(process.resolve("fd").resolve(Integer.toString(i + 3)), Path.of(descriptors[i]));
        }
    }

    @ParameterizedTest
    @CsvSource({"Y, true", "N, false"})
    void readsTheModeOfALoadedModule(String text, boolean compat) throws IOException {
        node().write("module/erdma/parameters/compat_mode", text + "\n");
        assertThat(read().module()).isEqualTo(new DriverModule.Loaded(Optional.of(compat), true, 0, List.of()));
    }

    @Test
    void takesAModuleWithoutTheParameterAsOfUnknownModeAndNotAsN() throws IOException {
        node().remove("module/erdma/parameters");
        assertThat(read().module()).isEqualTo(new DriverModule.Loaded(Optional.empty(), true, 0, List.of()));
    }

    @Test
    void tellsABuiltInDriverFromAModule() throws IOException {
        NodeFixture node = node();
        node.remove("module/erdma/initstate");
        node.remove("module/erdma/refcnt");
        assertThat(read().module()).isEqualTo(new DriverModule.Loaded(Optional.of(true), false, 0, List.of()));
    }

    @Test
    void seesAModuleOnItsWayInOrOut() throws IOException {
        NodeFixture node = node();
        node.write("module/erdma/initstate", "going\n");
        assertThat(read().module()).isEqualTo(new DriverModule.Changing("going"));
        node.remove("module/erdma");
        assertThat(read().module()).isEqualTo(new DriverModule.Absent());
    }

    @Test
    void readsReferencesAndHolders() throws IOException {
        NodeFixture node = node();
        node.write("module/erdma/refcnt", "3\n");
        node.write("module/erdma/holders/erdma_test/x", "");
        assertThat(read().module())
                .isEqualTo(new DriverModule.Loaded(Optional.of(true), true, 3, List.of("erdma_test")));
    }

    @Test
    void countsErdmaFunctionsAndNoOthers() throws IOException {
        NodeFixture node = node();
        node.remove("bus/pci/devices");
        node.write("bus/pci/devices/0000:00:07.0/vendor", "0x1ded\n");
        node.write("bus/pci/devices/0000:00:07.0/device", "0x107f\n");
        node.write("bus/pci/devices/0000:00:08.0/vendor", "0x1ded\n");
        node.write("bus/pci/devices/0000:00:08.0/device", "0x5007\n");
        node.write("bus/pci/devices/0000:00:09.0/vendor", "0x15b3\n");
        node.write("bus/pci/devices/0000:00:09.0/device", "0x107f\n");
        assertThat(read().pciFunctions()).isEqualTo(1);
    }

    @Test
    void aDeviceIsReadyWithItsUverbsNodeAndNotBefore() throws IOException {
        NodeFixture node = node();
        assertThat(read().devices()).containsExactly("erdma_0", "erdma_1");
        node.removeDeviceNode("infiniband/uverbs1");
        assertThat(read().devices()).containsExactly("erdma_1");
    }

    @ParameterizedTest
    @CsvSource({"proc/driver/nvidia/version", "sys/module/nvidia/refcnt"})
    void knowsAGpuNodeByItsDriver(String file) throws IOException {
        node();
        assertThat(read().gpuDriver()).isFalse();
        Path sign = directory.resolve(file);
        Files.createDirectories(sign.getParent());
        Files.writeString(sign, "NVRM version\n");
        assertThat(read().gpuDriver()).isTrue();
    }

    @Test
    void knowsAContainerOptimisedSystemByItsKernel() throws IOException {
        node();
        Files.createDirectories(directory.resolve("proc/sys/kernel"));
        Files.writeString(directory.resolve("proc/sys/kernel/osrelease"), Facts.CONTAINER_OS + "\n");
        assertThat(read().containerOptimised()).isTrue();
    }

    @Test
    void doesNotCountItsOwnContextsAndFiles() throws IOException {
        NodeFixture node = node();
        node.write("module/erdma/refcnt", "2\n");
        contexts.add(OptionalLong.of(SELF));
        contexts.add(OptionalLong.of(SELF));
        process(SELF, "java", "/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1", "/dev/null");
        assertThat(read().users()).isEqualTo(DeviceUsers.NONE);
    }

    @Test
    void namesEachProcessOnceWhetherTheKernelOrItsFilesTellOfIt() throws IOException {
        NodeFixture node = node();
        node.write("module/erdma/refcnt", "2\n");
        contexts.add(OptionalLong.of(4711));
        contexts.add(OptionalLong.of(4712));
        process(4711, "python3", "/dev/infiniband/uverbs0");
        process(4712, "ib_write_bw", "/dev/infiniband/uverbs1");
        process(4713, "other", "/dev/infiniband/uverbs9", "/dev/infiniband/rdma_cm");
        assertThat(read().users())
                .isEqualTo(new DeviceUsers(
                        List.of(new UsingProcess(4711, "python3"), new UsingProcess(4712, "ib_write_bw")),
                        List.of(),
                        List.of()));
    }

    /** The kernel names threads: here 78 of this process, and 4799 of another. */
    @Test
    void knowsTheProcessOfAThread() throws IOException {
        node();
        contexts.add(OptionalLong.of(78));
        contexts.add(OptionalLong.of(4799));
        process(SELF, "java", "/dev/infiniband/uverbs0");
        process(4711, "python3", "/dev/infiniband/uverbs1");
        for (long[] thread : new long[][] {{78, SELF}, {4799, 4711}}) {
            Path directoryOfThread = Files.createDirectories(directory.resolve("proc/" + thread[0]));
            Files.writeString(directoryOfThread.resolve("status"), "Name:\tx\nTgid:\t" + thread[1] + "\nNgid:\t0\n");
        }
        assertThat(read().users())
                .isEqualTo(new DeviceUsers(List.of(new UsingProcess(4711, "python3")), List.of(), List.of()));
    }

    @Test
    void aContextOfItsOwnThatAThreadOpenedWhichHasEndedIsNoUser() throws IOException {
        node().write("module/erdma/refcnt", "1\n");
        contexts.add(OptionalLong.empty());
        process(SELF, "java", "/dev/infiniband/uverbs0");
        assertThat(read().users()).isEqualTo(DeviceUsers.NONE);
    }

    @Test
    void aReferenceThatNobodyAccountsForIsAUserToo() throws IOException {
        node().write("module/erdma/refcnt", "3\n");
        process(4711, "python3", "/dev/infiniband/uverbs0");
        assertThat(read().users().others()).singleElement().asString().startsWith("2 of processes");
    }

    @Test
    void aContextWithoutAnOwnerInSightIsAUser() throws IOException {
        node();
        contexts.add(OptionalLong.empty());
        assertThat(read().users().others()).singleElement().asString().startsWith("1 of processes");
    }

    @Test
    void aKernelThatDoesNotTellMakesTheDriverInUse() throws IOException {
        node();
        DriverFactsReader reader = reader(devices -> {
            throw new IOException("EPERM");
        });
        assertThat(reader.read(OTHER).users().inUse()).isTrue();
    }

    @Test
    void asksNobodyForUsersWhereTheModeIsRight() throws IOException {
        node();
        pods = new Answer.Unreadable("no socket");
        DriverFactsReader reader = reader(devices -> {
            throw new IllegalStateException("asked");
        });
        assertThat(reader.read(Optional.of(DriverMode.OFED)).users()).isEqualTo(DeviceUsers.NONE);
    }

    @Test
    void asksOnlyForContextsOfItsOwnDevices() throws IOException {
        node().write("class/infiniband/mlx5_0/node_type", "1: CA\n");
        List<String> asked = new ArrayList<>();
        reader(devices -> {
                    asked.addAll(devices);
                    return List.of();
                })
                .read(OTHER);
        assertThat(asked).containsExactly("erdma_0", "erdma_1");
    }

    @Test
    void namesPodsThatHoldSharesOnceEach() throws IOException {
        node();
        pods = new Answer.Known(List.of(
                new Holder("default", "train", "worker", List.of("erdma_0/1")),
                new Holder("default", "train", "sidecar", List.of("erdma_0/2")),
                new Holder("lab", "train", "worker", List.of("erdma_1/7"))));
        assertThat(read().users().pods()).containsExactly("default/train", "lab/train");
    }

    @Test
    void unreadablePodSharesCountAsInUse() throws IOException {
        node();
        pods = new Answer.Unreadable("no socket");
        assertThat(read().users().summary()).isEqualTo("1 user: possibly pods: no socket");
    }

    @Test
    void readsANodeWithoutAnything() {
        DriverFacts facts = read();
        assertThat(facts.module()).isEqualTo(new DriverModule.Absent());
        assertThat(facts.pciFunctions()).isZero();
        assertThat(facts.devices()).isEmpty();
        assertThat(facts.users()).isEqualTo(DeviceUsers.NONE);
        assertThat(facts.kernel()).isEqualTo("unknown");
    }

    /** What cannot be read may hide a user. */
    @ParameterizedTest
    @ValueSource(strings = {"module/erdma/refcnt", "class/infiniband", "class/infiniband_verbs"})
    void countsAsInUseWhatCannotBeRead(String file) throws IOException {
        NodeFixture node = node();
        node.remove(file);
        if (file.endsWith("refcnt")) {
            Files.createDirectory(directory.resolve("sys").resolve(file));
        }
        assertThat(read().users().describe())
                .containsExactly("possibly others: " + directory.resolve("sys").resolve(file) + " cannot be read");
    }

    /** It would be installed over one that is there. */
    @ParameterizedTest
    @CsvSource({
        "127, nsenter: failed to execute modinfo: No such file or directory, false",
        "139, '', false",
        "1, modinfo: ERROR: could not get modinfo: Permission denied, false",
        "1, modinfo: ERROR: Module erdma not found., true"
    })
    void takesNoModuleForMissingWhereTheHostCannotTell(int code, String says, boolean missing) throws IOException {
        NodeFixture node = node();
        node.remove("module/erdma");
        node.write("bus/pci/devices/0000:00:07.0/vendor", "0x1ded\n");
        node.write("bus/pci/devices/0000:00:07.0/device", "0x107f\n");
        HostCommands host = HostCommands.through(List.of("sh", "-c", "echo '" + says + "' >&2; exit " + code, "kmod"));
        NodePaths paths = new NodePaths(directory.resolve("sys"), directory.resolve("dev"), directory.resolve("etc"));
        ModuleFile file = new DriverFactsReader(
                        paths, directory.resolve("proc"), host, devices -> contexts, () -> pods, SELF, true)
                .read(OTHER)
                .file();
        if (missing) {
            assertThat(file).isEqualTo(new ModuleFile.Missing());
        } else {
            assertThat(file)
                    .isInstanceOfSatisfying(
                            ModuleFile.Unknown.class,
                            unknown -> assertThat(unknown.reason())
                                    .contains("modinfo erdma failed with exit code " + code, says));
        }
    }
}
