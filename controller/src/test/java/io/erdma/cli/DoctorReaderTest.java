package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.erdma.doctor.Fact;
import io.erdma.doctor.Facts.Network;
import io.erdma.doctor.Facts.Wanted;
import io.erdma.doctor.PortRange;
import io.erdma.doctor.Report;
import io.erdma.doctor.Side;
import io.erdma.inventory.DeviceSelector;
import io.erdma.inventory.FixtureNode;
import io.erdma.inventory.NodeSources;
import io.erdma.libc.Errno;
import io.erdma.netlink.InterfaceAddress;
import io.erdma.netlink.IpPrefix;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.netlink.RdmaPort;
import io.erdma.netlink.Route;
import io.erdma.node.driver.DriverMode;
import io.erdma.pods.ContainerName;
import io.erdma.pods.ContainerName.PodName;
import io.erdma.pods.FallbackVerdict;
import io.erdma.pods.UsageSnapshot;
import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.FakeVerbs;
import io.erdma.verbs.FakeVerbs.Call;
import io.erdma.verbs.FakeVerbs.Counter;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.NodeType;
import io.erdma.verbs.PortState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole reports about recorded nodes, as people read them. The texts are those of src/test/resources/doctor. */
class DoctorReaderTest {
    private static final String UNLIMITED =
            "Max locked memory         unlimited            unlimited            bytes\n";
    private static final String LIMITED = "Max locked memory         65536                65536                bytes\n";

    @TempDir
    private Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private final List<Link> links = new ArrayList<>();
    private final List<InterfaceAddress> addresses = new ArrayList<>();
    private final List<Route> routes = new ArrayList<>();
    private FakeVerbs fake;
    private NetnsMode netns = NetnsMode.SHARED;
    private Optional<DriverMode> mode = Optional.empty();
    private String probeAddress = "";
    private Duration patience = DoctorReader.PATIENCE;
    private boolean provider = true;
    private Fact<Map<String, Integer>> allocatable = Fact.unknown("the kubelet does not tell");
    private Fact<UsageSnapshot> use = Fact.unknown("the kubelet does not tell");

    @BeforeEach
    void startWithoutDevices() throws IOException {
        fake = FakeVerbs.at(directory.resolve("verbs"));
        proc("self/limits", LIMITED);
        proc("self/status", "CapEff:\t0000000000000000\n");
        proc("sys/kernel/osrelease", "5.10.134-16.al8.x86_64\n");
    }

    @AfterEach
    void takeAllAway() throws Exception {
        fake.close();
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    @Test
    void findsNothingButTheReservedPortsOnAHealthyNode() throws Exception {
        healthyCompatDevices();
        healthyNetwork();
        kubelet();
        agent(200, "ok\n");
        proc("812/comm", "containerd\n");
        proc("812/limits", UNLIMITED);
        mode = Optional.of(DriverMode.OFED);
        allocatable = Fact.known(Map.of("erdma_0", 200, "erdma_1", 200));
        ContainerName train = new ContainerName("default", "train-worker-0", "pytorch");
        use = Fact.known(new UsageSnapshot(
                Instant.EPOCH,
                List.of(),
                List.of(),
                List.of(new UsageSnapshot.ShareHold(train, "erdma_0", 1)),
                List.of(new UsageSnapshot.Finding(train, new FallbackVerdict.Uses(8), List.of())),
                List.of()));

        Report report = report(NodeFixture.ERDMA_COMPAT);

        assertThat(text(report)).isEqualTo(golden("healthy-node.txt"));
        assertThat(report.exitCode()).isEqualTo(Report.WARN);
    }

    @Test
    void saysWhatAPodIsNotGrantedAndWhatItsVariablesSpoil() throws Exception {
        healthyCompatDevices();
        fake.device("erdma_1").hidden(true);
        environment.put("NCCL_IB_GID_INDEX", "0");
        environment.put("NCCL_IB_RETRY_CNT", "10");
        environment.put("NCCL_NET_GDR_LEVEL", "1");
        environment.put("NCCL_SOCKET_IFNAME", "eth0");
        environment.put("KUBERNETES_SERVICE_HOST", "192.168.0.1");
        links.clear();

        Report report = report(NodeFixture.ERDMA_COMPAT, "infiniband/uverbs0");

        assertThat(report.vantage().side()).isEqualTo(Side.POD);
        assertThat(text(report)).isEqualTo(golden("pod.txt"));
        assertThat(report.exitCode()).isEqualTo(Report.FAIL);
    }

    @Test
    void theReadmeShowsThatPod() throws IOException {
        String readme = Files.readString(Path.of("../README.md"));
        String block = readme.substring(readme.indexOf("<!-- doctor -->"));
        assertThat(block.substring(block.indexOf("```text\n") + 8, block.indexOf("\n```\n") + 1))
                .isEqualTo(golden("pod.txt"));
    }

    @Test
    void namesTheLinkThatIsDownAndTheModeThatIsNotInForce() throws Exception {
        fake.device("erdma_0")
                .uverbs("uverbs0")
                .nodeType(NodeType.RNIC)
                .guid("0216:3eff:fe00:0001")
                .portState(PortState.DOWN)
                .attribute("gid_tbl_len", 1)
                .withoutGids()
                .gid(0, "0016:3e00:0001::", GidEntry.Type.ROCE_V1, 3);
        links.add(link(2, "eth0", "00:16:3e:00:00:00", true, 1500));
        links.add(link(3, "eth1", "00:16:3e:00:00:01", false, 1500));
        route("0.0.0.0/0", 2, 100);
        Files.createDirectories(directory.resolve("kubelet/device-plugins"));
        plans = """
                info driver: preferred compat, in force default
                pending driver: switch from default to compat pending: 1 user
                """;
        agent(503, "not registered with the kubelet\n");
        mode = Optional.of(DriverMode.COMPAT);
        environment.put("NCCL_IB_GID_INDEX", "3");

        Report report = report(NodeFixture.ERDMA_IN_TREE_IWARP);

        assertThat(text(report)).isEqualTo(golden("iwarp-link-down.txt"));
        assertThat(report.exitCode()).isEqualTo(Report.FAIL);
    }

    @Test
    void saysOnAMachineWithoutRdmaWhereToBegin() throws Exception {
        links.add(link(2, "eth0", "00:16:3e:00:00:00", true, 1500));

        Report report = report(NodeFixture.NO_RDMA);

        assertThat(text(report)).isEqualTo(golden("no-rdma.txt"));
        assertThat(report.exitCode()).isEqualTo(Report.FAIL);
    }

    /** R16, with a device of another driver chosen by a selector. */
    @Test
    void tellsOfExclusiveModeAndOfALinkThatAnotherNamespaceHas() throws Exception {
        netns = NetnsMode.EXCLUSIVE;
        fake.device("erdma_0")
                .uverbs("uverbs0")
                .nodeType(NodeType.CA)
                .guid("5054:00ff:fe00:0002")
                .failing(Call.OPEN_DEVICE, Errno.EACCES);
        links.add(link(2, "eth0", "52:54:00:00:00:01", true, 1500));
        links.add(link(4, "eth2", "52:54:00:00:00:03", true, 1500));
        kubelet();

        Report report = report(NodeFixture.SOFT_ROCE);

        assertThat(text(report)).isEqualTo(golden("exclusive.txt"));
        assertThat(report.exitCode()).isEqualTo(Report.FAIL);
    }

    /** From the node, by a process of the pod: its /dev, image, limits and environment. */
    @Test
    void looksAtAPodOfThisNodeByOneOfItsProcesses() throws Exception {
        healthyCompatDevices();
        healthyNetwork();
        String uid = "0e1f2a3b-4c5d-6e7f-8091-a2b3c4d5e6f7";
        String container = "ab".repeat(32);
        String cgroup = "0::/kubepods.slice/kubepods-pod" + uid.replace('-', '_') + ".slice/cri-containerd-";
        Files.createDirectories(directory.resolve("log/pods/default_train-worker-0_" + uid));
        Files.createDirectories(directory.resolve("log/containers"));
        Files.writeString(directory.resolve("log/containers/train-worker-0_default_pytorch-" + container + ".log"), "");
        proc("700/cgroup", cgroup + "cd".repeat(32) + ".scope\n");
        proc("700/status", "Name:\tpause\nState:\tS (sleeping)\n");
        proc("4711/cgroup", cgroup + container + ".scope\n");
        proc("4711/status", "Name:\tpython3\nState:\tS (sleeping)\nCapEff:\t0000000000000000\n");
        proc("4711/limits", LIMITED);
        proc("4711/environ", "PATH=/bin\0NCCL_IB_DISABLE=1\0NCCL_IB_GID_INDEX=1\0");
        proc("4711/root/dev/infiniband/uverbs1", "");
        proc("4711/root/usr/lib64/libibverbs.so.1", "");

        Report report = podReport(new PodName("default", "train-worker-0"));

        assertThat(text(report)).isEqualTo(golden("other-pod.txt"));
        assertThat(report.exitCode()).isEqualTo(Report.FAIL);
    }

    @Test
    void saysThatItCannotFindAPod() throws Exception {
        assertThat(PodProcess.find(new PodName("default", "x"), directory.resolve("proc"), directory.resolve("log")))
                .isInstanceOfSatisfying(
                        PodProcess.Search.NotFound.class,
                        none -> assertThat(none.why()).contains("cannot be listed"));
        Files.createDirectories(directory.resolve("log/pods/default_y_0e1f2a3b-4c5d-6e7f-8091-a2b3c4d5e6f7"));
        assertThat(PodProcess.find(new PodName("default", "x"), directory.resolve("proc"), directory.resolve("log")))
                .isInstanceOfSatisfying(
                        PodProcess.Search.NotFound.class,
                        none -> assertThat(none.why()).contains("this node has no pod of that name"));
        assertThat(PodProcess.find(new PodName("default", "y"), directory.resolve("proc"), directory.resolve("log")))
                .isInstanceOfSatisfying(
                        PodProcess.Search.NotFound.class,
                        none -> assertThat(none.why()).contains("no process of it can be seen"));
    }

    @Test
    void looksAtTheRestWhenOneSourceFailsInAWayThatNobodyForesaw() {
        NodeFixture node = NodeFixture.lay(NodeFixture.NO_RDMA, directory.resolve("node"));
        DoctorReader reader = reader(
                NodeFixture.NO_RDMA,
                node,
                () -> {
                    throw new IllegalArgumentException("odd");
                },
                () -> {
                    throw new UnsupportedOperationException("odder");
                });

        String text = DoctorText.format(Report.of(reader.read(false, wanted(), new AgentReader(probeAddress))), false);

        assertThat(text)
                .contains(
                        "????  RDMA devices: the RDMA devices can't be read: java.lang.IllegalArgumentException: odd\n")
                .contains("pass  verbs library")
                .contains("pass  locked memory");
    }

    @Test
    void looksAtTheOtherDevicesWhenTheDriverOfOneHangs() throws Exception {
        healthyCompatDevices();
        healthyNetwork();
        fake.device("erdma_1").index(0);
        fake.device("erdma_0").index(1).hanging(Call.QUERY_PORT);
        patience = Duration.ofSeconds(1);

        String text = text(report(NodeFixture.ERDMA_COMPAT));
        fake.device("erdma_0").answering(Call.QUERY_PORT);
        await().until(() -> fake.count(Counter.OPEN_DEVICE) == fake.count(Counter.CLOSE_DEVICE));

        assertThat(text)
                .contains("FAIL  device node of erdma_0: /dev/infiniband/uverbs1 exists, and can't be opened\n")
                .contains("????  port of erdma_0: no source tells its state: has not answered for 1 s\n")
                .contains("pass  device node of erdma_1: /dev/infiniband/uverbs0 opens\n")
                .contains("pass  port of erdma_1: ACTIVE on eth2\n");
    }

    @Test
    void escapesWhatADevicesNameWouldDoToATerminal() throws Exception {
        fake.device("e\u001b[31m\u202e_0").uverbs("uverbs0");

        Report report = report(NodeFixture.NO_RDMA);

        assertThat(DoctorText.format(report, true)).doesNotContain("\u001b").contains("e\\x1b[31m\\u202e_0");
        assertThat(DoctorJson.format(report).chars()).allMatch(c -> (c >= 0x20 && c < 0x7f) || c == '\n');
    }

    // ---- the situation

    private void healthyCompatDevices() {
        fake.device("erdma_0")
                .uverbs("uverbs1")
                .guid("0216:3eff:fe0a:0001")
                .attribute("active_mtu", 5)
                .withoutGids()
                .gid(0, "fe80::216:3eff:fe0a:1", GidEntry.Type.ROCE_V2, 3)
                .gid(1, "::ffff:10.0.0.4", GidEntry.Type.ROCE_V2, 3);
        fake.device("erdma_1")
                .uverbs("uverbs0")
                .guid("0216:3eff:fe0a:0002")
                .attribute("active_mtu", 5)
                .withoutGids()
                .gid(0, "fe80::216:3eff:fe0a:2", GidEntry.Type.ROCE_V2, 4)
                .gid(1, "::ffff:10.0.0.5", GidEntry.Type.ROCE_V2, 4);
    }

    private void healthyNetwork() {
        links.add(link(2, "eth0", "00:16:3e:0a:00:00", true, 1500));
        links.add(link(3, "eth1", "00:16:3e:0a:00:01", true, 8500));
        links.add(link(4, "eth2", "00:16:3e:0a:00:02", true, 8500));
        for (int index = 2; index <= 4; index++) {
            addresses.add(new InterfaceAddress(
                    index, IpPrefix.parse("10.0.0." + (index + 1) + "/24"), InterfaceAddress.IFA_F_PERMANENT, 0));
        }
        route("0.0.0.0/0", 2, 100);
        route("10.0.0.0/24", 2, 100);
        route("0.0.0.0/0", 3, 200);
        route("10.0.0.0/24", 3, 200);
        route("0.0.0.0/0", 4, 201);
        route("10.0.0.0/24", 4, 201);
    }

    private void route(String destination, int link, long metric) {
        routes.add(Route.onLink(
                IpPrefix.parse(destination), link, IpPrefix.address("10.0.0.4"), Route.PROTOCOL_STATIC, metric));
    }

    private static Link link(int index, String name, String mac, boolean up, int mtu) {
        Optional<MacAddress> address = Optional.of(MacAddress.parse(mac));
        return new Link(
                index,
                name,
                up ? Link.IFF_UP | Link.IFF_LOWER_UP | Link.IFF_RUNNING : 0,
                mtu,
                up ? 6 : 2,
                Optional.of(up),
                address,
                address,
                Optional.empty(),
                Optional.empty());
    }

    private void proc(String path, String text) throws IOException {
        Path file = directory.resolve("proc").resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void kubelet() throws IOException {
        Path plugins = Files.createDirectories(directory.resolve("kubelet/device-plugins"));
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        open.add(server);
        server.bind(UnixDomainSocketAddress.of(plugins.resolve("kubelet.sock")));
    }

    private String plans = "info driver: preferred ofed, in force ofed: nothing to do\n";

    private void agent(int status, String text) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        open.add(() -> server.stop(0));
        answer(server, "/readyz", status, text);
        answer(server, "/metrics", 200, """
                erdma_devices{health="healthy"} 2.0
                erdma_devices{health="unhealthy"} 0.0
                erdma_shares 400.0
                """);
        answer(server, "/plans", 200, plans);
        server.start();
        probeAddress = "127.0.0.1:" + server.getAddress().getPort();
    }

    private static void answer(HttpServer server, String path, int status, String text) {
        server.createContext(path, exchange -> {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    // ---- what it leads to

    private Report report(String name, String... missingNodes) throws Exception {
        NodeFixture node = NodeFixture.lay(name, directory.resolve("node"));
        for (String missing : missingNodes) {
            node.removeDeviceNode(missing);
        }
        return Report.of(reader(name, node).read(false, wanted(), new AgentReader(probeAddress)));
    }

    private Report podReport(PodName pod) throws Exception {
        NodeFixture node = NodeFixture.lay(NodeFixture.ERDMA_COMPAT, directory.resolve("node"));
        var found = (PodProcess.Search.Found) PodProcess.find(pod, directory.resolve("proc"), directory.resolve("log"));
        return Report.of(reader(NodeFixture.ERDMA_COMPAT, node)
                .readPod(found.process(), wanted(), new AgentReader(probeAddress)));
    }

    private Wanted wanted() {
        return new Wanted(mode, PortRange.NODE_PORTS, "aliyun/erdma", Optional.empty());
    }

    private DoctorReader reader(String name, NodeFixture node) {
        String library = FakeVerbs.library().toString();
        return reader(
                name,
                node,
                () -> withNetnsMode(new FixtureNode(node, library, links), netns),
                () -> Fact.known(new Network(links, addresses, routes)));
    }

    private DoctorReader reader(
            String name, NodeFixture node, Supplier<NodeSources> devices, Supplier<Fact<Network>> network) {
        String library = FakeVerbs.library().toString();
        DoctorPaths paths = new DoctorPaths(
                node.sysfs(),
                node.dev(),
                directory.resolve("etc"),
                directory.resolve("proc"),
                directory.resolve("modules"),
                directory.resolve("kubelet"),
                directory.resolve("log"));
        VerbsFiles files = new VerbsFiles(
                Optional.of(Path.of("/usr/lib64/libibverbs.so.1.14.44.0")),
                Optional.of("1.14.44.0"),
                provider ? Optional.of(Path.of("/usr/lib64/libibverbs/liberdma-rdmav34.so")) : Optional.empty());
        DoctorSources sources = new DoctorSources(
                library,
                files,
                devices,
                network,
                _ -> use,
                () -> allocatable,
                _ -> Fact.unknown("not asked"),
                () -> Fact.unknown("not asked"));
        List<DeviceSelector> selectors =
                name.equals(NodeFixture.SOFT_ROCE) ? List.of(DeviceSelector.parse("name=erdma_0")) : List.of();
        return new DoctorReader(paths, sources, selectors, environment, patience);
    }

    /** The recorded node, and an RDMA netlink that knows the mode and no device. */
    private static NodeSources withNetnsMode(NodeSources node, NetnsMode mode) {
        NodeSources.RdmaSource rdma = new NodeSources.RdmaSource() {
            @Override
            public List<RdmaLink> devices() {
                return List.of();
            }

            @Override
            public List<RdmaPort> ports(int deviceIndex) {
                return List.of();
            }

            @Override
            public Optional<io.erdma.netlink.RdmaCharacterDevice> characterDevice(int deviceIndex) {
                return Optional.empty();
            }

            @Override
            public NetnsMode netnsMode() {
                return mode;
            }

            @Override
            public void close() {
                // Nothing is open.
            }
        };
        return (NodeSources) Proxy.newProxyInstance(
                NodeSources.class.getClassLoader(), new Class<?>[] {NodeSources.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("rdma")) {
                        return rdma;
                    }
                    try {
                        return method.invoke(node, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private String text(Report report) {
        return DoctorText.format(report, false)
                .replace(directory.toString(), "")
                .replaceAll("127\\.0\\.0\\.1:[0-9]+", "127.0.0.1:9470");
    }

    private static String golden(String name) {
        try (var stream = DoctorReaderTest.class.getResourceAsStream("/doctor/" + name)) {
            return stream == null ? "no such text: " + name : new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
