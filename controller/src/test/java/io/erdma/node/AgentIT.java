package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.libc.Errno;
import io.erdma.node.interfaces.FakeMetadata;
import io.erdma.plugin.FakeKubelet;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.Device;
import io.erdma.proto.deviceplugin.v1beta1.DeviceSpec;
import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.FakeVerbs;
import io.erdma.verbs.FakeVerbs.Call;
import io.erdma.verbs.FakeVerbs.Counter;
import io.erdma.verbs.NodeType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole program: launcher, JVM flags, wiring, against a stand-in kubelet and a stand-in libibverbs. */
class AgentIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration STOP = Duration.ofSeconds(5);
    private static final String GUID = "0216:3eff:fe00:0001";
    private static final String PCI = "../../devices/pci0000:00/0000:00:07.0";

    @TempDir
    private Path directory;

    private Path root;
    private NodeFixture node;
    private FakeVerbs verbs;
    private FakeVerbs.Device erdma0;
    private FakeMetadata metadata;
    private int port;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void prepare() throws IOException {
        // Short: a socket's path has at most 107 bytes.
        root = Files.createTempDirectory("erdma");
        node = NodeFixture.lay(NodeFixture.ERDMA_IN_TREE_IWARP, Files.createDirectory(directory.resolve("node")));
        verbs = FakeVerbs.tree(directory.resolve("verbs"));
        erdma0 = verbs.device("erdma_0").uverbs("uverbs0").guid(GUID);
        metadata = closing(FakeMetadata.start()
                .value("mac", "00:16:3e:00:00:01")
                .eni("00:16:3e:00:00:01", "10.9.0.2", "10.9.0.253")
                .eni("00:16:3e:0a:00:01", "10.9.1.3", "10.9.1.253")
                .eni("00:16:3e:0a:00:02", "10.9.2.3", "10.9.2.253"));
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        try (var files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private <T extends AutoCloseable> T closing(T closeable) {
        open.add(closeable);
        return closeable;
    }

    private List<String> settings(String... more) {
        List<String> settings = new ArrayList<>(List.of(
                "--kubelet-root-dir=" + root,
                "--sysfs-root=" + node.sysfs(),
                "--dev-root=" + node.dev(),
                "--verbs-library=" + FakeVerbs.library(),
                "--probe-address=127.0.0.1:" + port,
                "--page-address=",
                "--metadata-address=http://127.0.0.1:" + metadata.address().getPort(),
                // The recorded interface is none of this machine's.
                "--log-level=debug"));
        settings.addAll(List.of(more));
        return settings;
    }

    private AgentProcess agent(String... more) throws IOException {
        return closing(AgentProcess.start(directory, verbs.environment(), settings(more)));
    }

    private FakeKubelet kubelet() throws IOException {
        return closing(FakeKubelet.start(root));
    }

    private boolean ready() {
        try {
            return AgentProcess.get(port, "/readyz").statusCode() == 200;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void offersTheDeviceAllocatesItTellsOfItsPortAndStopsCleanly() throws Exception {
        FakeKubelet kubelet = kubelet();
        AgentProcess agent = agent("--shares-per-device=5", "--nccl-ib-hca");

        kubelet.awaitRegistration(1, SOON);
        FakeKubelet.Message first = kubelet.awaitMessage(0, message -> true, SOON);
        assertThat(first.list().getDevicesList()).as(agent.log()).hasSize(5);
        kubelet.awaitAllocatable("aliyun/erdma", 5, SOON);
        assertThat(first.count("Healthy")).isEqualTo(5);

        var answer = kubelet.allocate("erdma_0/3");
        assertThat(answer.getDevicesList().stream().map(device -> device.getHostPath()))
                .contains("/dev/infiniband/uverbs0");
        assertThat(answer.getEnvsMap()).containsEntry("NCCL_IB_HCA", "=erdma_0");

        await().atMost(SOON).until(this::ready);
        assertThat(AgentProcess.get(port, "/healthz").statusCode()).isEqualTo(200);
        assertThat(AgentProcess.get(port, "/metrics").body())
                .contains("erdma_device_healthy{device=\"erdma_0\"} 1.0")
                .contains("erdma_shares 5.0")
                .contains("erdma_listandwatch_streams 1.0")
                .contains("erdma_allocate_duration_seconds_count{outcome=\"granted\"} 1");

        assertThat(AgentProcess.get(port, "/plans").body()).contains("info interfaces: from ");

        erdma0.portDown();
        kubelet.awaitMessage(1, message -> message.count("Unhealthy") == 5, SOON);
        assertThat(ready())
                .as("a port that is down does not make the agent unready")
                .isTrue();
        erdma0.portUp();
        kubelet.awaitMessage(2, message -> message.count("Healthy") == 5, SOON);

        assertThat(agent.terminate(STOP)).as(agent.log()).isZero();
        assertThat(agent.log())
                .contains("setting shares-per-device=5 (command line)")
                .contains("erdma_0 unhealthy: ")
                .contains("stopping")
                .doesNotContain("WARNING:");
        try (var left = Files.list(kubelet.directory())) {
            assertThat(left.map(path -> path.getFileName().toString())).noneMatch(name -> name.startsWith("erdma-"));
        }
    }

    @Test
    void registersAgainAfterKubeletRestart() throws Exception {
        FakeKubelet kubelet = kubelet();
        agent();
        kubelet.awaitRegistration(1, SOON);

        kubelet.restart(FakeKubelet.Wipe.SOCKETS, Duration.ofMillis(50));

        kubelet.awaitRegistration(2, SOON);
        kubelet.awaitAllocatable("aliyun/erdma", 200, SOON);
    }

    @Test
    void waitsForTheKubeletsDirectory() throws Exception {
        Path later = root.resolve("kubelet");
        AgentProcess agent = agent("--kubelet-root-dir=" + later);
        await().atMost(SOON)
                .ignoreExceptions()
                .until(() -> AgentProcess.get(port, "/readyz").body().contains("device-plugins"));
        assertThat(AgentProcess.get(port, "/readyz").statusCode()).isEqualTo(503);

        FakeKubelet kubelet = closing(FakeKubelet.start(later));

        kubelet.awaitRegistration(1, SOON);
        await().atMost(SOON).until(this::ready);
        assertThat(agent.isAlive()).isTrue();
    }

    @Test
    void aNodeWithoutDevicesIsReadyWithAnEmptyList() throws Exception {
        node = NodeFixture.lay(NodeFixture.NO_RDMA, Files.createDirectory(directory.resolve("bare")));
        verbs = FakeVerbs.tree(directory.resolve("none"));
        FakeKubelet kubelet = kubelet();
        agent();

        assertThat(kubelet.awaitMessage(0, message -> true, SOON).list().getDevicesList())
                .isEmpty();
        await().atMost(SOON).until(this::ready);
    }

    @Test
    void goesOnWithoutTheVerbsLibraryAfterOneWarning() throws Exception {
        FakeKubelet kubelet = kubelet();
        AgentProcess agent = agent("--verbs-library=libibverbs-that-nobody-has.so.1");

        FakeKubelet.Message first = kubelet.awaitMessage(0, message -> true, SOON);

        assertThat(first.list().getDevicesList()).as(agent.log()).hasSize(200);
        assertThat(agent.log().lines().filter(line -> line.contains(" WARN ") && line.contains("libibverbs")))
                .hasSize(1);
    }

    @Test
    void reportsAllProblemsOfItsConfigurationWithoutAStackTrace() throws Exception {
        AgentProcess agent = closing(AgentProcess.start(
                directory, Map.of("ERDMA_JUMBO_FRAME_MTTU", "9000"), List.of("--prefer-driver=ofde")));

        assertThat(agent.exitCode(SOON)).isEqualTo(64);
        assertThat(agent.log()).isEqualTo("""
                        configuration has 2 problems:
                          ERDMA_JUMBO_FRAME_MTTU (environment): unknown setting; did you mean ERDMA_JUMBO_FRAME_MTU?
                          --prefer-driver=ofde (command line): unknown mode; use default, compat or ofed
                        """);
    }

    @Test
    void saysInOneLineThatItsPortIsTaken() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            AgentProcess agent = agent("--probe-address=127.0.0.1:" + taken.getLocalPort());

            assertThat(agent.exitCode(SOON)).isEqualTo(69);
            assertThat(agent.log().lines().filter(line -> line.contains(" ERROR ")))
                    .singleElement()
                    .asString()
                    .contains("cannot listen on 127.0.0.1:" + taken.getLocalPort())
                    .contains("--probe-address");
            assertThat(agent.log()).doesNotContain("\tat ");
        }
    }

    @Test
    void writesJsonWhenAsked() throws Exception {
        FakeKubelet kubelet = kubelet();
        AgentProcess agent = agent("--log-format=json");
        kubelet.awaitRegistration(1, SOON);

        assertThat(agent.terminate(STOP)).isZero();
        assertThat(agent.log().lines()).isNotEmpty().allMatch(line -> line.startsWith("{") && line.endsWith("}"));
    }

    @Test
    void stopsInTimeAlsoWithoutAKubelet() throws Exception {
        AgentProcess agent = agent();
        await().atMost(SOON).until(() -> agent.log().contains("serving probes"));

        assertThat(agent.terminate(STOP)).as(agent.log()).isZero();
    }

    /** P04 and R09: a fresh node, on which the driver comes after the agent, and rdma_ucm after the driver. */
    @Test
    void offersTheDeviceOnceItsDriverAndThenRdmaCmAreLoaded() throws Exception {
        verbs = FakeVerbs.tree(directory.resolve("later"));
        node.removeDevice("erdma_0");
        node.removeDeviceNode("infiniband");
        FakeKubelet kubelet = kubelet();
        AgentProcess agent = agent("--shares-per-device=3", "--rescan-interval=200ms");
        kubelet.awaitRegistration(1, SOON);
        assertThat(kubelet.awaitMessage(0, message -> true, SOON).list().getDevicesList())
                .isEmpty();

        node.link("class/infiniband_verbs/uverbs0", PCI + "/infiniband_verbs/uverbs0");
        node.link("class/infiniband/erdma_0", PCI + "/infiniband/erdma_0");
        node.addDeviceNode("infiniband/uverbs0");
        verbs.device("erdma_0").uverbs("uverbs0").guid(GUID).nodeType(NodeType.RNIC);
        kubelet.awaitMessage(1, message -> message.count("Unhealthy") == 3, SOON);
        assertThat(kubelet.messages()).allMatch(message -> message.count("Healthy") == 0);
        assertThat(agent.log()).contains("rdma_cm is missing");

        node.addDeviceNode("infiniband/rdma_cm");
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 3, SOON);
        assertThat(hostPaths(kubelet.allocate("erdma_0/0")))
                .containsExactlyInAnyOrder("/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm");
        assertThat(kubelet.registerCalls()).isEqualTo(1);
    }

    /** R09: a mode that does without rdma_cm is not kept waiting for it. */
    @Test
    void offersDevicesInCompatModeWithoutRdmaCm() throws Exception {
        layTwoDevices(NodeType.CA);
        node.removeDeviceNode("infiniband/rdma_cm");
        FakeKubelet kubelet = kubelet();
        agent("--shares-per-device=2");

        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 4, SOON);

        assertThat(hostPaths(kubelet.allocate("erdma_0/0"))).containsExactly("/dev/infiniband/uverbs1");
    }

    /** R20: cycles are counted, not waited for, so that seconds stand for the ten minutes of a field report. */
    @Test
    void anIdleAgentSendsAndLogsNothing() throws Exception {
        FakeVerbs.Device second = layTwoDevices(NodeType.CA);
        FakeKubelet kubelet = kubelet();
        AgentProcess agent = agent(
                "--shares-per-device=2", "--health-interval=100ms", "--rescan-interval=100ms", "--log-level=info");
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 4, SOON);
        await().atMost(SOON).until(this::ready);
        String log = agent.log();

        awaitCycles(agent, 30);

        assertThat(kubelet.messages()).hasSize(1);
        assertThat(agent.log()).isEqualTo(log);

        second.portDown();
        kubelet.awaitMessage(1, message -> message.count("Unhealthy") == 2, SOON);
        awaitCycles(agent, 10);
        assertThat(kubelet.messages()).hasSize(2);
        assertThat(agent.log().substring(log.length()).lines())
                .singleElement()
                .asString()
                .contains("erdma_1 unhealthy: ");
    }

    private void awaitCycles(AgentProcess agent, int cycles) {
        long checks = verbs.count(Counter.QUERY_PORT, agent.pid());
        long scans = verbs.count(Counter.GET_DEVICE_LIST, agent.pid());
        await().atMost(SOON)
                .until(() -> verbs.count(Counter.QUERY_PORT, agent.pid()) >= checks + 2L * cycles
                        && verbs.count(Counter.GET_DEVICE_LIST, agent.pid()) >= scans + cycles);
    }

    /** R02: registered, and yet nobody listens. */
    @Test
    void tellsWhileTheKubeletHoldsNoStreamOpenAndRegistersAgain() throws Exception {
        FakeKubelet kubelet = kubelet();
        kubelet.openNoStream(true);
        agent("--shares-per-device=2");
        kubelet.awaitRegistration(1, SOON);

        await().atMost(SOON)
                .ignoreExceptions()
                .until(() -> AgentProcess.get(port, "/readyz").body().contains("ListAndWatch"));
        assertThat(AgentProcess.get(port, "/readyz").statusCode()).isEqualTo(503);
        assertThat(AgentProcess.get(port, "/metrics").body()).contains("erdma_listandwatch_streams 0.0");
        kubelet.awaitRegistration(2, SOON);

        kubelet.openNoStream(false);

        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 2, SOON);
        await().atMost(SOON).until(this::ready);
        assertThat(AgentProcess.get(port, "/metrics").body()).contains("erdma_listandwatch_streams 1.0");
    }

    /** R06, in each order in which the library may list them. */
    @ParameterizedTest
    @ValueSource(strings = {"mlx5_0 erdma_0 erdma_1", "erdma_1 mlx5_0 erdma_0", "erdma_0 erdma_1 mlx5_0"})
    void offersTheGoodDeviceBesideABadOneAndAForeignOne(String order) throws Exception {
        layTwoDevices(NodeType.CA).failing(Call.QUERY_PORT, Errno.EINVAL);
        layForeignDevice();
        List<String> names = List.of(order.split(" "));
        names.forEach(name -> verbs.device(name).index(names.indexOf(name)));
        FakeKubelet kubelet = kubelet();
        AgentProcess agent = agent("--shares-per-device=2", "--health-interval=100ms", "--rescan-interval=100ms");

        FakeKubelet.Message message = kubelet.awaitMessage(0, list -> list.count("Unhealthy") == 2, SOON);
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 2, SOON);
        awaitCycles(agent, 5);

        assertThat(message.list().getDevicesList())
                .extracting(Device::getID)
                .containsExactlyInAnyOrder("erdma_0/0", "erdma_0/1", "erdma_1/0", "erdma_1/1");
        assertThat(agent.log().lines().filter(line -> line.contains("mlx5_0")))
                .singleElement()
                .asString()
                .contains("mlx5_0 is not offered: ");
        assertThat(agent.log().lines().filter(line -> line.contains("erdma_1 unhealthy: ")))
                .singleElement()
                .asString()
                .contains("ibv_query_port");
    }

    /** A card of another vendor, which this agent may not even open. */
    private void layForeignDevice() {
        String pci = "devices/pci0000:00/0000:00:09.0";
        node.write(pci + "/vendor", "0x15b3\n");
        node.write(pci + "/device", "0x101b\n");
        node.link(pci + "/driver", "../../../bus/pci/drivers/mlx5_core");
        node.link(pci + "/infiniband/mlx5_0/device", "../../../0000:00:09.0");
        node.write(pci + "/infiniband/mlx5_0/node_type", "1: CA\n");
        node.write(pci + "/infiniband/mlx5_0/node_guid", "0c42:a103:0000:0010\n");
        node.write(pci + "/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
        node.link("class/infiniband/mlx5_0", "../../" + pci + "/infiniband/mlx5_0");
        node.write(pci + "/infiniband_verbs/uverbs2/ibdev", "mlx5_0\n");
        node.link("class/infiniband_verbs/uverbs2", "../../" + pci + "/infiniband_verbs/uverbs2");
        node.addDeviceNode("infiniband/uverbs2");
        verbs.device("mlx5_0")
                .uverbs("uverbs2")
                .guid("0c42:a103:0000:0010")
                .nodeType(NodeType.CA)
                .failing(Call.OPEN_DEVICE, Errno.EPERM);
    }

    /** P12: wherever the host's /dev is mounted. */
    @Test
    void grantsEachDeviceNodeAndRdmaCmOnceWithTheHostsDevElsewhere() throws Exception {
        layTwoDevices(NodeType.RNIC);
        node.remove("module/erdma/parameters/compat_mode");
        FakeKubelet kubelet = kubelet();
        agent("--shares-per-device=2");

        grantsEachDeviceNodeOnce(kubelet);
    }

    @Test
    void grantsEachDeviceNodeAndRdmaCmOnceWithTheHostsDevInItsPlace() throws Exception {
        layTwoDevices(NodeType.RNIC);
        node.remove("module/erdma/parameters/compat_mode");
        FakeKubelet kubelet = kubelet();
        List<String> settings = settings("--shares-per-device=2");
        settings.removeIf(setting -> setting.startsWith("--dev-root"));
        closing(AgentProcess.startCommand(
                directory,
                verbs.environment(),
                launched(
                        "cp -a /dev/null /dev/zero /dev/random /dev/urandom '" + node.dev() + "' && mount --bind '"
                                + node.dev() + "' /dev",
                        settings,
                        "unshare",
                        "--mount")));

        grantsEachDeviceNodeOnce(kubelet);
    }

    private static void grantsEachDeviceNodeOnce(FakeKubelet kubelet) {
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 4, SOON);
        var answer = kubelet.allocate("erdma_0/0", "erdma_0/1", "erdma_1/0");
        assertThat(hostPaths(answer))
                .containsExactlyInAnyOrder(
                        "/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1", "/dev/infiniband/rdma_cm");
        assertThat(answer.getDevicesList())
                .allSatisfy(device -> assertThat(device.getContainerPath()).isEqualTo(device.getHostPath()));
        assertThat(hostPaths(kubelet.allocate("erdma_1/1")))
                .containsExactlyInAnyOrder("/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm");
    }

    private static List<String> hostPaths(ContainerAllocateResponse answer) {
        return answer.getDevicesList().stream().map(DeviceSpec::getHostPath).toList();
    }

    /** erdma_0 has uverbs1, erdma_1 has uverbs0; answers with erdma_1. */
    private FakeVerbs.Device layTwoDevices(NodeType type) throws IOException {
        node = NodeFixture.lay(NodeFixture.ERDMA_COMPAT, Files.createDirectory(directory.resolve("two")));
        verbs = FakeVerbs.tree(directory.resolve("verbs-two"));
        verbs.device("erdma_0").uverbs("uverbs1").guid("0216:3eff:fe0a:0001").nodeType(type);
        return verbs.device("erdma_1")
                .uverbs("uverbs0")
                .guid("0216:3eff:fe0a:0002")
                .nodeType(type);
    }

    @ParameterizedTest
    @EnumSource(names = {"OPEN_DEVICE", "QUERY_PORT"})
    void stopsInTimeWhileADriverHangs(Call call) throws Exception {
        FakeKubelet kubelet = kubelet();
        erdma0.hanging(call);
        AgentProcess agent = agent("--shares-per-device=2");
        kubelet.awaitMessage(0, message -> message.count("Unhealthy") == 2, SOON);

        assertThat(agent.terminate(STOP)).as(agent.log()).isZero();
        assertThat(ownSockets(kubelet)).isEmpty();
    }

    @Test
    void stopsInTimeWhileTheLibraryHangsFromTheStart() throws Exception {
        FakeKubelet kubelet = kubelet();
        verbs.hangingToList();
        AgentProcess agent = agent();
        kubelet.awaitRegistration(1, SOON);

        assertThat(agent.terminate(STOP)).as(agent.log()).isZero();
    }

    @Test
    void stopsInTimeWhileTheKubeletHangsInRegister() throws Exception {
        FakeKubelet kubelet = kubelet();
        kubelet.hangInRegister(true);
        AgentProcess agent = agent();
        await().atMost(SOON).until(() -> kubelet.registerCalls() > 0);

        assertThat(agent.terminate(STOP)).as(agent.log()).isZero();
        kubelet.hangInRegister(false);
        assertThat(ownSockets(kubelet)).isEmpty();
    }

    @Test
    void leavesNothingBehindWhenItCannotStart() throws Exception {
        FakeKubelet kubelet = kubelet();
        Path cdi = Files.createDirectory(directory.resolve("cdi"));
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            AgentProcess agent =
                    agent("--probe-address=127.0.0.1:" + taken.getLocalPort(), "--cdi=also", "--cdi-dir=" + cdi);

            assertThat(agent.exitCode(SOON)).isEqualTo(69);
        }
        assertThat(kubelet.registerCalls()).isZero();
        assertThat(ownSockets(kubelet)).isEmpty();
        assertThat(cdi).isEmptyDirectory();
        assertThat(erdma0.openContexts()).isEmpty();
    }

    private static List<String> ownSockets(FakeKubelet kubelet) throws IOException {
        try (var left = Files.list(kubelet.directory())) {
            return left.map(path -> path.getFileName().toString())
                    .filter(name -> name.startsWith("erdma-"))
                    .toList();
        }
    }

    /** R04: every watch of the agent meets the shortage, the operator reads of it once. */
    @Test
    void goesOnWithOneWarningWhenTheKernelGivesNoInotify() throws Exception {
        FakeKubelet kubelet = kubelet();
        AgentProcess agent = closing(AgentProcess.startCommand(
                directory,
                verbs.environment(),
                launched(
                        "echo 0 > /proc/sys/user/max_inotify_instances",
                        settings("--shares-per-device=2"),
                        "unshare",
                        "--user",
                        "--map-root-user")));
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 2, SOON);

        node.removeDeviceNode("infiniband/uverbs0");
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 0, SOON);
        node.addDeviceNode("infiniband/uverbs0");
        kubelet.awaitAllocatable(FakeKubelet.RESOURCE, 2, SOON);
        kubelet.restart(FakeKubelet.Wipe.SOCKETS, Duration.ZERO);
        kubelet.awaitRegistration(2, Duration.ofSeconds(10));

        assertThat(agent.log().lines().filter(line -> line.contains("fs.inotify.max_user_instances")))
                .singleElement()
                .asString()
                .contains(" WARN ");
        assertThat(agent.log().lines().filter(line -> line.contains("not notified")))
                .as("each part tells what it does instead")
                .hasSize(2);
    }

    /** R10: the temporary directory forbids execution. */
    @Test
    void needsNoTemporaryDirectory() throws Exception {
        FakeKubelet kubelet = kubelet();
        Path noexec = Files.createDirectory(directory.resolve("noexec"));
        Map<String, String> environment = new HashMap<>(verbs.environment());
        environment.put("TMPDIR", noexec.toString());
        environment.put("ERDMA_JAVA_OPTS", "-Djava.io.tmpdir=" + noexec);
        AgentProcess agent = closing(AgentProcess.startCommand(
                directory,
                environment,
                launched("mount -t tmpfs -o noexec,ro none '" + noexec + "'", settings(), "unshare", "--mount")));

        kubelet.awaitRegistration(1, SOON);

        assertThat(agent.terminate(STOP)).isZero();
        assertThat(agent.log()).contains("erdma_0 healthy").doesNotContain("UnsatisfiedLinkError");
    }

    /** The agent in namespaces of its own, behind a shell line that prepares them. */
    private static List<String> launched(String shell, List<String> settings, String... wrapper) {
        List<String> command = new ArrayList<>(List.of(wrapper));
        command.addAll(List.of("sh", "-c", shell + " && exec \"$@\"", "sh"));
        command.addAll(List.of(AgentProcess.DIST.resolve("bin/erdma").toString(), "agent"));
        command.addAll(settings);
        return command;
    }
}
