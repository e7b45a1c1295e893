package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.driver.HostCommands;
import io.erdma.node.driver.InstallerDirectories;
import io.erdma.plugin.UnixTransport;
import io.erdma.proto.podresources.v1.ContainerDevices;
import io.erdma.proto.podresources.v1.ContainerResources;
import io.erdma.proto.podresources.v1.ListPodResourcesRequest;
import io.erdma.proto.podresources.v1.ListPodResourcesResponse;
import io.erdma.proto.podresources.v1.PodResources;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class CleanupCommandTest {
    private static final String OUR_SPEC =
            "{\"cdiVersion\": \"0.5.0\", \"kind\": \"aliyun.com/erdma\", \"devices\": []}";

    private static UnixTransport transport;

    @TempDir
    private Path directory;

    private final List<String> routes = new ArrayList<>(List.of("route default via 10.0.0.253 dev eth1 metric 200"));
    private final List<String> stays = new ArrayList<>();
    private IOException networkFault;
    private Path sockets;
    private Path spec;
    private Server kubelet;

    @BeforeAll
    static void openTransport() {
        transport = UnixTransport.open();
    }

    @AfterAll
    static void closeTransport() {
        transport.close();
    }

    @BeforeEach
    void lay() throws IOException {
        sockets = Files.createDirectories(directory.resolve("k/device-plugins"));
        spec = Files.createDirectories(directory.resolve("cdi")).resolve("aliyun.com-erdma.json");
    }

    @AfterEach
    void stop() {
        if (kubelet != null) {
            kubelet.shutdownNow();
        }
    }

    private void kubelet(String... pods) throws IOException {
        ListPodResourcesResponse.Builder answer = ListPodResourcesResponse.newBuilder();
        for (String pod : pods) {
            answer.addPodResources(PodResources.newBuilder()
                    .setNamespace("default")
                    .setName(pod)
                    .addContainers(ContainerResources.newBuilder()
                            .setName("worker")
                            .addDevices(ContainerDevices.newBuilder()
                                    .setResourceName("aliyun/erdma")
                                    .addDeviceIds("erdma_0/1"))));
        }
        Path socket =
                Files.createDirectories(directory.resolve("k/pod-resources")).resolve("kubelet.sock");
        kubelet = transport.serve(
                socket,
                new PodResourcesListerGrpc.PodResourcesListerImplBase() {
                    @Override
                    public void list(
                            ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> observer) {
                        observer.onNext(answer.build());
                        observer.onCompleted();
                    }
                }.bindService());
    }

    private ServerSocketChannel socket(String name) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        channel.bind(UnixDomainSocketAddress.of(sockets.resolve(name)));
        return channel;
    }

    private final Map<String, String> environment = new HashMap<>();

    private Run cleanup(String... more) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = run(out, err, more);
        return new Run(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    private int run(OutputStream out, OutputStream err, String... more) {
        Leftover network = new Leftover() {
            @Override
            public String name() {
                return "routes and addresses";
            }

            @Override
            public boolean podsNeedIt() {
                return true;
            }

            @Override
            public Result remove() throws IOException {
                if (networkFault != null) {
                    throw networkFault;
                }
                List<String> removed = List.copyOf(routes);
                routes.clear();
                return new Result(removed, stays);
            }
        };
        Path installers = directory.resolve("tmp");
        Leftover installer =
                new InstallerCleanup(new InstallerDirectories(HostCommands.direct(), Path.of("/proc"), installers));
        return new CommandLine(new CleanupCommand(
                        new Console(out, err),
                        List.of(installer, network),
                        new AgentProcesses(directory.resolve("proc"))::list,
                        environment))
                .execute(Stream.concat(
                                Stream.of(
                                        "--kubelet-root-dir=" + directory.resolve("k"),
                                        "--cdi-dir=" + directory.resolve("cdi")),
                                Stream.of(more))
                        .toArray(String[]::new));
    }

    @Test
    void saysThatMarksStayWhereTheClusterCannotBeAskedAndAsksItOnlyWhereTold() throws IOException {
        kubelet();
        assertThat(cleanup().exitCode()).isZero();

        Run without = cleanup("--node-marks");
        assertThat(without.exitCode()).isEqualTo(ExitCode.NOT_USABLE);
        assertThat(without.err())
                .contains("left: the marks on the Node object: there are no credentials here for the cluster's API");

        Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
                users: [{name: u, user: {}}]
                contexts: [{name: x, context: {cluster: c, user: u}}]
                current-context: x
                """);
        environment.put("KUBECONFIG", kubeconfig.toString());
        environment.put("NODE_NAME", "node-a");
        Run nobody = cleanup("--node-marks");
        assertThat(nobody.exitCode()).isEqualTo(ExitCode.NOT_USABLE);
        assertThat(nobody.err())
                .contains("left: the marks on the Node object: cannot read the Node object node-a: no connection to the"
                        + " API server");
    }

    @Test
    void removesWhatIsOursAndHasNothingToDoTheSecondTime() throws IOException {
        kubelet();
        Files.writeString(spec, OUR_SPEC);
        socket("erdma-0123456789abcdef.sock").close();
        socket("other-erdma.sock").close();

        Run first = cleanup();
        assertThat(first.exitCode()).isZero();
        assertThat(first.err()).isEmpty();
        assertThat(first.out().lines())
                .containsExactly(
                        "removed socket " + sockets.resolve("erdma-0123456789abcdef.sock"),
                        "removed CDI specification " + spec,
                        "removed route default via 10.0.0.253 dev eth1 metric 200");
        assertThat(sockets.resolve("other-erdma.sock")).exists();

        Run second = cleanup();
        assertThat(second.exitCode()).isZero();
        assertThat(second.out()).isEqualTo("nothing to do: this node is clean\n");
    }

    @Test
    void leavesRoutesThatARunningJobMayNeedAndNamesIt() throws IOException {
        kubelet("train", "train");
        Files.writeString(spec, OUR_SPEC);
        Run run = cleanup();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).isEqualTo("removed CDI specification " + spec + "\n");
        assertThat(run.complaints())
                .containsExactly(
                        "left: routes and addresses stay: these pods hold shares of aliyun/erdma: default/train");
        assertThat(routes).hasSize(1);
    }

    @Test
    void leavesRoutesWhereNobodyCanTellWhetherPodsNeedThem() {
        Run run = cleanup();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).contains("whether pods hold shares cannot be told", "kubelet.sock is not there");
        assertThat(routes).hasSize(1);
    }

    @Test
    void takesNothingFromAnAgentThatRuns() throws IOException {
        kubelet();
        Files.writeString(spec, OUR_SPEC);
        try (ServerSocketChannel agent = socket("erdma-0123456789abcdef.sock")) {
            assertThat(agent.isOpen()).isTrue();
            Run run = cleanup();
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.out()).isEmpty();
            assertThat(run.err()).contains("an agent still runs", "uninstall it first");
        }
        assertThat(spec).exists();
        assertThat(routes).hasSize(1);
    }

    /** Without a kubelet an agent has no socket: it waits for it. */
    @Test
    void takesNothingFromAnAgentThatWaitsForItsKubelet() throws IOException {
        Files.writeString(spec, OUR_SPEC);
        Path process = Files.createDirectories(directory.resolve("proc/4711"));
        Files.writeString(process.resolve("cmdline"), "java\0-Xmx24m\0io.erdma.node.AgentMain\0--cdi=also\0");
        Path editor = Files.createDirectories(directory.resolve("proc/4712"));
        Files.writeString(editor.resolve("cmdline"), "vi\0io.erdma.node.AgentMain.java\0");
        Run run = cleanup();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.complaints())
                .containsExactly("left: an agent still runs (pid 4711): the CDI specification, directories of driver"
                        + " installers and routes and addresses stay; uninstall it first");
        assertThat(spec).exists();
        assertThat(routes).hasSize(1);
    }

    @Test
    void removesWhatKilledAgentsLeftInTheMiddleOfTheirWork() throws IOException {
        kubelet();
        routes.clear();
        Path unfinished = Files.writeString(spec.resolveSibling(".aliyun.com-erdma.json17.tmp"), "{");
        Path installer = Files.createDirectories(directory.resolve("tmp/erdma-agent-installer-12/unpacked/deep"));
        Path others = Files.createDirectories(directory.resolve("tmp/erdma-agent-installer-notes"));
        Run run = cleanup();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out().lines())
                .containsExactly(
                        "removed CDI specification " + unfinished,
                        "removed installer's directory " + installer.getParent().getParent());
        assertThat(others).exists();
        assertThat(cleanup().out()).isEqualTo("nothing to do: this node is clean\n");
    }

    @Test
    void leavesAnInstallerThatStillRuns() throws Exception {
        kubelet();
        routes.clear();
        Path installer = Files.createDirectories(directory.resolve("tmp/erdma-agent-installer-12"));
        Path script = Files.writeString(installer.resolve("install.sh"), "sleep 1000\n:\n");
        Process running = new ProcessBuilder("sh", script.toString()).start();
        try {
            Run run = cleanup();
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.complaints())
                    .containsExactly("left: the driver's installer in " + installer + " still runs (pid "
                            + running.pid() + "); clean up again when it has ended");
            assertThat(script).exists();
        } finally {
            running.descendants().forEach(ProcessHandle::destroyForcibly);
            running.destroyForcibly();
        }
    }

    /** What cannot be looked at is no fault of ours, and keeps nothing else from being removed. */
    @Test
    void saysWhatItMayNotLookAtAndRemovesTheRest() throws IOException {
        kubelet();
        networkFault = new IOException("cannot read routes: the kernel answered EPERM (1)");
        Files.writeString(spec, OUR_SPEC);
        Run run = cleanup();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).isEqualTo("removed CDI specification " + spec + "\n");
        assertThat(run.err())
                .contains("routes and addresses cannot be looked at", "EPERM")
                .doesNotContain("internal");
    }

    @Test
    void endsItsWorkAlsoWhenNobodyReadsOn() throws IOException {
        kubelet();
        Files.writeString(spec, OUR_SPEC);
        OutputStream gone = new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        assertThat(run(gone, OutputStream.nullOutputStream())).isZero();
        assertThat(spec).doesNotExist();
        assertThat(routes).isEmpty();
    }

    /** Each thing is told of by one of them, and neither complains that the other was faster. */
    @Test
    void twoAtOnceDoTheWorkOnceAndBothSucceed() throws Exception {
        kubelet();
        routes.clear();
        for (int i = 0; i < 50; i++) {
            Files.writeString(spec.resolveSibling(".aliyun.com-erdma.json" + i + ".tmp"), "{");
            Files.createDirectories(directory.resolve("tmp/erdma-agent-installer-" + i + "/unpacked"));
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<Run> first = threads.submit(() -> cleanup());
            Future<Run> second = threads.submit(() -> cleanup());
            assertThat(List.of(first.get(), second.get())).allSatisfy(run -> {
                assertThat(run.err()).isEmpty();
                assertThat(run.exitCode()).isZero();
            });
        }
        assertThat(spec.getParent()).isEmptyDirectory();
        assertThat(directory.resolve("tmp")).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"cdiVersion\": \"0.5.0\", \"kind\": \"nvidia.com/gpu\", \"devices\": []}",
                "{\"devices\": [{\"kind\": \"aliyun.com/erdma\"}], \"kind\": \"example.com/erdma\"}",
                "[]",
                "not JSON",
                ""
            })
    void leavesASpecThatSomebodyElseWrote(String content) throws IOException {
        kubelet();
        routes.clear();
        Files.writeString(spec, content);
        assertThat(cleanup().out()).isEqualTo("nothing to do: this node is clean\n");
        assertThat(spec).exists();
    }

    @Test
    void namesWhatOfTheNetworkStays() throws IOException {
        kubelet();
        stays.add("eth1: keeps 10.0.0.5/24, since the route default dev eth1 would go with it");
        Run run = cleanup();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.complaints()).containsExactly("left: " + stays.getFirst());
    }

    @Test
    void isContentWithANodeThatNeverHadAnAgent() throws IOException {
        kubelet();
        routes.clear();
        Files.delete(sockets);
        Files.delete(spec.getParent());
        Run run = cleanup();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).isEqualTo("nothing to do: this node is clean\n");
    }
}
