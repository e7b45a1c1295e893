package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.libc.Errno;
import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.FakeVerbs;
import io.erdma.verbs.FakeVerbs.Call;
import io.erdma.verbs.FakeVerbs.Counter;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DevinfoCommandTest {
    @TempDir
    private Path directory;

    private FakeVerbs fake;

    @BeforeEach
    void startWithoutDevices() {
        fake = FakeVerbs.at(directory.resolve("verbs"));
    }

    @AfterEach
    void leaveNothingOpen() {
        long opened = fake.count(Counter.OPEN_DEVICE);
        long closed = fake.count(Counter.CLOSE_DEVICE);
        fake.close();
        assertThat(closed).isEqualTo(opened);
    }

    static Stream<List<String>> orders() {
        return permutations(List.of("mlx5_0", "erdma_0", "erdma_1")).stream();
    }

    @ParameterizedTest
    @MethodSource("orders")
    void goesOnBehindADeviceThatCannotBeOpenedAndOneThatDoesNotAnswer(List<String> order) {
        fake.device("mlx5_0").uverbs("uverbs0").failing(Call.OPEN_DEVICE, Errno.EPERM);
        fake.device("erdma_0").uverbs("uverbs1").portState(PortState.ACTIVE);
        fake.device("erdma_1").uverbs("uverbs2").failing(Call.QUERY_PORT, Errno.EIO);
        for (String name : order) {
            fake.device(name).index(order.indexOf(name));
        }
        Run run = devinfo(NodeFixture.NO_RDMA);
        assertThat(run.exitCode()).isZero();
        assertThat(run.out().lines().filter(line -> line.startsWith("hca_id:")))
                .containsExactlyElementsOf(order.stream()
                        .filter(name -> !name.equals("mlx5_0"))
                        .map(name -> "hca_id:\t" + name)
                        .toList());
        assertThat(run.out()).containsOnlyOnce("PORT_ACTIVE (4)");
        assertThat(run.complaints()).hasSize(2);
        assertThat(run.complaints())
                .anySatisfy(line -> assertThat(line)
                        .startsWith("mlx5_0: cannot open the device: ibv_open_device gives EPERM (1)")
                        .contains("/dev/infiniband/uverbs0"))
                .anySatisfy(line ->
                        assertThat(line).startsWith("erdma_1: cannot read port 1: ibv_query_port gives EIO (5)"));
    }

    @Test
    void goesOnBehindADeviceWhoseDriverHangs() {
        fake.device("erdma_0").uverbs("uverbs0").index(0).hanging(Call.QUERY_PORT);
        fake.device("erdma_1").uverbs("uverbs1").index(1).portState(PortState.ACTIVE);
        Run run = devinfo(NodeFixture.NO_RDMA, "--patience", "1");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("hca_id:\terdma_1").doesNotContain("erdma_0");
        assertThat(run.complaints())
                .containsExactly("erdma_0: did not answer within 1 s; its driver may be hanging, see the kernel log");
        fake.device("erdma_0").answering(Call.QUERY_PORT);
        await().until(() -> fake.count(Counter.OPEN_DEVICE) == fake.count(Counter.CLOSE_DEVICE));
    }

    @Test
    void endsWith1WhenThereAreDevicesButNoneOpens() {
        fake.device("erdma_0").failing(Call.OPEN_DEVICE, Errno.EPERM);
        fake.device("erdma_1").failing(Call.OPEN_DEVICE, Errno.ENOENT);
        Run run = devinfo(NodeFixture.NO_RDMA);
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.complaints()).hasSize(2);
    }

    @Test
    void succeedsWhereThereIsNoDevice() {
        Run run = devinfo(NodeFixture.NO_RDMA);
        assertThat(run).isEqualTo(new Run(0, "", "No IB devices found\n"));
        assertThat(run.err()).isEqualTo(Recording.text("soft-roce/none/stderr"));
        assertThat(devinfo(NodeFixture.NO_RDMA, "-l")).isEqualTo(new Run(0, "0 HCAs found:\n\n", ""));
    }

    @Test
    void succeedsWhereTheKernelHasNoVerbs() {
        fake.failingToList(Errno.ENOSYS);
        assertThat(devinfo(NodeFixture.NO_RDMA)).isEqualTo(new Run(0, "", "No IB devices found\n"));
    }

    @Test
    void endsWith1WhenTheDeviceAskedForIsMissing() {
        fake.device("erdma_0");
        Run run = devinfo(NodeFixture.NO_RDMA, "-d", "erdma_9");
        assertThat(run).isEqualTo(new Run(1, "", "IB device 'erdma_9' wasn't found\n"));
        assertThat(run.err()).isEqualTo(Recording.text("soft-roce/two-d-unknown/stderr"));
    }

    @Test
    void saysWhyADeviceThatTheKernelHasIsMissingFromLibibverbs() {
        NodeFixture node = NodeFixture.lay(NodeFixture.SOFT_ROCE, directory.resolve("node"));
        node.removeDeviceNode("infiniband/uverbs0");
        node.removeDeviceNode("infiniband/uverbs1");
        Run run = devinfo(node);
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.complaints()).hasSize(3).startsWith("No IB devices found");
        assertThat(run.complaints().get(1))
                .startsWith("erdma_0: the kernel has it, but libibverbs does not list it: ")
                .contains("infiniband/uverbs0 is missing");
        assertThat(run.complaints().get(2)).startsWith("erdma_1: ").contains("infiniband/uverbs1 is missing");
    }

    @Test
    void saysOfTheOneDeviceAskedForWhyItIsMissing() {
        fake.device("erdma_1");
        NodeFixture node = NodeFixture.lay(NodeFixture.SOFT_ROCE, directory.resolve("node"));
        node.removeDeviceNode("infiniband/uverbs0");
        Run run = devinfo(node, "-d", "erdma_0");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.complaints()).hasSize(2);
        assertThat(run.complaints().get(1)).startsWith("erdma_0: ").contains("uverbs0 is missing");
    }

    @Test
    void isQuietInAPodAboutTheDevicesThatItWasNotGiven() {
        fake.device("erdma_1");
        NodeFixture node = NodeFixture.lay(NodeFixture.SOFT_ROCE, directory.resolve("node"));
        node.removeDeviceNode("infiniband/uverbs0");
        Run run = devinfo(node);
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith("hca_id:\terdma_1\n");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void printsOnePortAndNoneThatADeviceHasNot() {
        fake.device("mlx5_0").attribute("phys_port_cnt", 2).portAttribute(2, "state", 1);
        fake.device("erdma_0").attribute("phys_port_cnt", 1);
        Run run = devinfo(NodeFixture.NO_RDMA, "-i", "2");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("hca_id:\tmlx5_0\n", "\t\tport:\t2\n").doesNotContain("erdma_0", "port:\t1\n");
        assertThat(run.complaints()).containsExactly("erdma_0: has no port 2, only port 1");
    }

    @Test
    void understandsTheOptionsThatIbvDevinfoUnderstands() {
        fake.device("erdma_0");
        fake.device("erdma_1");
        Run second = devinfo(NodeFixture.NO_RDMA, "-d", "erdma_1", "-v");
        assertThat(second.out())
                .startsWith("hca_id:\terdma_1\n")
                .contains("max_qp:")
                .doesNotContain("erdma_0");
        assertThat(devinfo(NodeFixture.NO_RDMA, "--verbo", "--ib-d", "erdma_1")).isEqualTo(second);
        assertThat(devinfo(NodeFixture.NO_RDMA, "-d", "erdma_0", "-d", "erdma_1", "-vi", "0x1"))
                .isEqualTo(second);
        assertThat(devinfo(NodeFixture.NO_RDMA, "-lv").out()).isEqualTo("2 HCAs found:\n\terdma_0\n\terdma_1\n\n");
    }

    @Test
    void printsTheFilledSlotsOfAGidTableWithTheirTypes() {
        fake.device("erdma_0")
                .nodeType(NodeType.CA)
                .portAttribute(1, "gid_tbl_len", 16)
                .portAttribute(1, "link_layer", 2)
                .withoutGids()
                .gid(0, "fe80::216:3eff:fe00:1", GidEntry.Type.ROCE_V1, 2)
                .gid(1, "fe80::216:3eff:fe00:1", GidEntry.Type.ROCE_V2, 2)
                .gid(2, "::ffff:10.0.0.4", GidEntry.Type.ROCE_V1, 2)
                .gid(5, "::ffff:10.0.0.4", GidEntry.Type.ROCE_V2, 2);
        Run run = devinfo(NodeFixture.NO_RDMA, "-v");
        assertThat(run.out().lines().filter(line -> line.contains("GID[")))
                .containsExactly(
                        "\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:0216:3eff:fe00:0001, RoCE v1",
                        "\t\t\tGID[  1]:\t\tfe80::216:3eff:fe00:1, RoCE v2",
                        "\t\t\tGID[  2]:\t\t0000:0000:0000:0000:0000:ffff:0a00:0004, RoCE v1",
                        "\t\t\tGID[  5]:\t\t::ffff:10.0.0.4, RoCE v2");
    }

    @Test
    void saysInOneLineThatTheLibraryIsMissing() {
        NodeFixture node = NodeFixture.lay(NodeFixture.NO_RDMA, directory.resolve("node"));
        Run run = Run.erdma(
                "devinfo",
                "--verbs-library",
                directory + "/absent.so",
                "--sysfs-root",
                node.sysfs() + "",
                "--dev-root",
                node.dev() + "");
        assertThat(run.exitCode()).isZero();
        assertThat(run.complaints()).hasSize(2).endsWith("No IB devices found");
        assertThat(run.complaints().getFirst()).contains("absent.so", "--verbs-library");
    }

    @Test
    void addsTheExplanationBehindWhatIbvDevinfoPrints() {
        fake.device("erdma_0").uverbs("uverbs1").portState(PortState.DOWN);
        NodeFixture node = NodeFixture.lay(NodeFixture.ERDMA_COMPAT, directory.resolve("node"));
        String plain = devinfo(node).out();
        Run run = devinfo(node, "--explain", "-d", "erdma_0", "--device-selector", "name=erdma_*");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .startsWith(plain)
                .contains("erdma_0\n  advertised:     yes: selector name=erdma_*\n")
                .containsPattern("health: +UNHEALTHY: .*DOWN")
                .contains("\nnode\n")
                .doesNotContain("erdma_1");
    }

    @Test
    void printsOneJsonObjectAlone() {
        fake.device("erdma_0").uverbs("uverbs1");
        Run run = devinfo(NodeFixture.ERDMA_COMPAT, "--json");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith("{\n").endsWith("\n}\n").contains("\"name\" : \"erdma_0\"");
        assertThat(run.out()).doesNotContain("hca_id");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void letsNoDeviceNameReachTheTerminalRaw() {
        fake.device("e\u001b[31m_0").failing(Call.OPEN_DEVICE, Errno.EPERM);
        Run run = devinfo(NodeFixture.NO_RDMA);
        assertThat(run.complaints()).hasSize(1);
        assertThat(run.err()).startsWith("e\\x1b[31m_0: cannot open").doesNotContain("\u001b");
    }

    private Run devinfo(String fixture, String... arguments) {
        return devinfo(NodeFixture.lay(fixture, directory.resolve("node")), arguments);
    }

    private static Run devinfo(NodeFixture node, String... arguments) {
        List<String> all = new ArrayList<>(List.of(
                "devinfo",
                "--verbs-library",
                FakeVerbs.library().toString(),
                "--sysfs-root",
                node.sysfs().toString(),
                "--dev-root",
                node.dev().toString()));
        all.addAll(List.of(arguments));
        return Run.erdma(all.toArray(String[]::new));
    }

    private static List<List<String>> permutations(List<String> names) {
        if (names.isEmpty()) {
            return List.of(List.of());
        }
        List<List<String>> all = new ArrayList<>();
        for (String first : names) {
            List<String> others =
                    names.stream().filter(name -> !name.equals(first)).toList();
            for (List<String> rest : permutations(others)) {
                List<String> whole = new ArrayList<>(List.of(first));
                whole.addAll(rest);
                all.add(whole);
            }
        }
        return all;
    }
}
