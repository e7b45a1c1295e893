package io.erdma.lab;

import io.erdma.inventory.NodePaths;
import io.erdma.node.driver.DeviceHold;
import io.erdma.node.driver.DriverKeeper;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.DriverSettings;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.driver.HostCommands;
import io.erdma.node.driver.InstallerSettings;
import io.erdma.node.driver.KernelModules;
import io.erdma.node.driver.ModeInForce;
import io.erdma.plugin.FakeKubelet;
import io.erdma.plugin.UnixTransport;
import io.erdma.pods.PodShares;
import io.erdma.proto.podresources.v1.ContainerDevices;
import io.erdma.proto.podresources.v1.ContainerResources;
import io.erdma.proto.podresources.v1.ListPodResourcesRequest;
import io.erdma.proto.podresources.v1.ListPodResourcesResponse;
import io.erdma.proto.podresources.v1.PodResources;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.erdma.verbs.Verbs;
import io.erdma.verbs.VerbsContext;
import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * What is promised of the driver's modes, with the real kmod, kernel and libibverbs, and a module named erdma that stands
 * in for the driver (e2e/erdma-module). That module's device is the third one here, beside the two of soft RoCE.
 */
final class DriverPromises implements AutoCloseable {
    private static final Path SYS = Path.of("/sys");
    private static final Path MODULE = SYS.resolve("module/erdma");
    private static final Path OPTIONS = Path.of("/etc/modprobe.d/erdma-lab.conf");

    /** What the keeper logs is in its status; the suite's output is the list of promises. */
    private static final Logger QUIET = Logger.getLogger("io.erdma.node.driver");

    private final Node node;
    private final Path root;
    private final Path kubeletRoot;
    private final UnixTransport transport = UnixTransport.open();
    private final Server kubelet;
    private volatile ListPodResourcesResponse pods = ListPodResourcesResponse.getDefaultInstance();

    /** @param node whose kubelet is to tell of pods with shares from now on */
    DriverPromises(Node node) throws IOException {
        QUIET.setLevel(Level.OFF);
        this.node = node;
        this.root = Files.createTempDirectory("driver");
        // The machine's own sysfs, and a card in it that no virtual machine has.
        Path sys = Files.createDirectories(root.resolve("sys"));
        for (String directory : List.of("class", "module", "devices")) {
            Files.createSymbolicLink(sys.resolve(directory), SYS.resolve(directory));
        }
        Path card = Files.createDirectories(sys.resolve("bus/pci/devices/0000:00:1f.7"));
        Files.writeString(card.resolve("vendor"), "0x1ded\n");
        Files.writeString(card.resolve("device"), "0x107f\n");
        this.kubeletRoot = node.kubelet().directory().getParent();
        Path socket =
                Files.createDirectories(kubeletRoot.resolve("pod-resources")).resolve("kubelet.sock");
        this.kubelet = transport.serve(
                socket,
                new PodResourcesListerGrpc.PodResourcesListerImplBase() {
                    @Override
                    public void list(
                            ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> observer) {
                        observer.onNext(pods);
                        observer.onCompleted();
                    }
                }.bindService());
    }

    // ---- the promises

    String loadsTheDriver() throws IOException {
        unload();
        try (Keeper keeper = new Keeper(Optional.empty())) {
            keeper.await(status -> status.inForce() == ModeInForce.DEFAULT);
            require(compatMode().equals("N"), "compat_mode is " + compatMode());
            require(keeper.events.isEmpty(), "nothing needed to be suspended: " + keeper.events);
            Await.until("the device is there", Node.PATIENCE, () -> device().isPresent());
            Await.until("what goes with it is loaded", Node.PATIENCE, () -> Files.exists(SYS.resolve("module/smc")));
            return "as " + device().get();
        }
    }

    String switchesModes() throws Exception {
        load();
        List<String> told = new ArrayList<>();
        try (Keeper keeper = new Keeper(Optional.of(DriverMode.COMPAT), false)) {
            // As the agent's health monitor does, this process holds a context of its own.
            keeper.open();
            keeper.start();
            keeper.await(status -> status.inForce() == ModeInForce.COMPAT);
            require(compatMode().equals("Y"), "compat_mode is " + compatMode());
            require(
                    keeper.events.equals(List.of(
                            "suspend: driver mode switches from default to compat", "suspended", "resume with 1: CA")),
                    keeper.events.toString());
            told.add("default to compat");
        }
        try (Keeper keeper = new Keeper(Optional.of(DriverMode.OFED))) {
            keeper.await(status -> status.inForce() == ModeInForce.OFED);
            require(keeper.events.isEmpty(), "nothing was to be loaded anew: " + keeper.events);
            told.add("to ofed");
        }
        try (Keeper keeper = new Keeper(Optional.of(DriverMode.DEFAULT))) {
            keeper.await(status -> status.inForce() == ModeInForce.DEFAULT);
            require(keeper.events.getLast().equals("resume with 4: RNIC"), keeper.events.toString());
            told.add("to default");
        }
        return String.join(", ", told);
    }

    String waitsForUsers() throws Exception {
        load();
        String device = device().orElseThrow();
        Process holder = new ProcessBuilder("ibv_asyncwatch", "-d", device)
                .redirectErrorStream(true)
                .redirectOutput(root.resolve("asyncwatch.log").toFile())
                .start();
        try (Keeper keeper = new Keeper(Optional.of(DriverMode.COMPAT), false)) {
            Await.until(
                    "it holds the device",
                    Node.PATIENCE,
                    () -> text(MODULE.resolve("refcnt")).equals("1"));
            keeper.start();
            String named = "switch from default to compat pending: 1 user: pid " + holder.pid() + " (ibv_asyncwatch)";
            DriverStatus waiting = keeper.await(status -> status.pending().isPresent());
            require(waiting.pending().equals(Optional.of(named)), waiting.toString());

            pods = holding("default", "train");
            end(holder);
            keeper.await(status -> status.usedBy().equals(List.of("pod default/train")));
            require(keeper.events.isEmpty(), "the devices were taken from a user: " + keeper.events);
            require(compatMode().equals("N"), "compat_mode is " + compatMode());

            pods = ListPodResourcesResponse.getDefaultInstance();
            keeper.await(status -> status.inForce() == ModeInForce.COMPAT);
            return named;
        } finally {
            end(holder);
            pods = ListPodResourcesResponse.getDefaultInstance();
        }
    }

    String isNotFooledByModprobe() throws IOException {
        load();
        new KernelModules(HostCommands.find(Path.of("/proc"))).load("erdma", Map.of("compat_mode", "Y"));
        require(compatMode().equals("N"), "this kernel changes a loaded module, so the promise proves nothing");
        pods = holding("default", "train");
        try (Keeper keeper = new Keeper(Optional.of(DriverMode.COMPAT))) {
            DriverStatus status = keeper.await(all -> all.pending().isPresent());
            require(status.inForce() == ModeInForce.DEFAULT, status.toString());
            return "modprobe erdma compat_mode=Y succeeded, compat_mode is N";
        } finally {
            pods = ListPodResourcesResponse.getDefaultInstance();
        }
    }

    String waitsForASlowDevice() throws IOException {
        load();
        Files.writeString(OPTIONS, "options erdma slow_ms=4000\n");
        try (Keeper keeper = new Keeper(Optional.of(DriverMode.COMPAT))) {
            keeper.await(status ->
                    status.inForce() == ModeInForce.COMPAT && status.problem().isEmpty());
            require(keeper.events.getLast().equals("resume with 1: CA"), keeper.events.toString());
            return "resumed with the device that came 4 s after its module";
        } finally {
            Files.deleteIfExists(OPTIONS);
            unload();
        }
    }

    String hasNoModeToSwitchInTheKernelsOwnDriver() throws IOException {
        unload();
        Command.check(
                "insmod",
                node.project().resolve("target/erdma-module/plain/erdma.ko").toString());
        try (Keeper keeper = new Keeper(Optional.of(DriverMode.COMPAT))) {
            DriverStatus status = keeper.await(all -> true);
            require(status.inForce() == ModeInForce.UNKNOWN, status.toString());
            require(status.pending().isEmpty() && keeper.events.isEmpty(), status.toString());
            return status.plan();
        } finally {
            unload();
        }
    }

    /** In a mount namespace whose /lib/modules is empty, as a container's is. */
    String usesTheHostsModulesFromAPod() {
        unload();
        Command.Result told = Command.check(
                "unshare",
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                "mount -t tmpfs none /lib/modules && ! modprobe erdma 2>/dev/null && exec \"$@\"",
                "sh",
                node.project().resolve("build/test-main.sh").toString(),
                ModuleProbe.class.getName());
        require(compatMode().equals("Y"), "compat_mode is " + compatMode());
        unload();
        return told.out().strip();
    }

    /** Two soft-RoCE devices and the driver's own, one agent that is to bring the driver into mode compat. */
    String theAgentSwitches(Agents agents) throws IOException {
        load();
        pods = holding("default", "train");
        int from = node.kubelet().messages().size();
        AgentProcess agent = agents.start(List.of("--device-selector=driver=erdma", "--prefer-driver=compat"));
        try {
            node.awaitShares(from, Map.of("erdma_0", 200, "erdma_1", 200, "erdma_2", 200));
            Await.until(
                    "the agent says why it does not switch",
                    Node.PATIENCE,
                    () -> agent.logLine("switch from default to compat pending", "pod default/train")
                            .isPresent());
            require(granted("erdma_2").contains("/dev/infiniband/rdma_cm"), "no rdma_cm in mode default");
            int pending = node.kubelet().messages().size();
            require(compatMode().equals("N"), "compat_mode is " + compatMode());

            pods = ListPodResourcesResponse.getDefaultInstance();
            node.awaitShares(pending, Map.of("erdma_0", 0, "erdma_1", 0, "erdma_2", 0));
            int suspended = node.kubelet().messages().size();
            node.awaitShares(suspended, Map.of("erdma_0", 200, "erdma_1", 200, "erdma_2", 200));
            require(compatMode().equals("Y"), "compat_mode is " + compatMode());
            require(
                    node.kubelet().messages().stream()
                            .skip(pending)
                            .noneMatch(message -> Node.healthyShares(message).size() < 3),
                    "a device left the kubelet's list meanwhile");
            List<String> granted = granted("erdma_2");
            require(granted.equals(List.of(Roce.uverbs("erdma_2").toString())), "in mode compat: " + granted);
            return agent.logLine("unhealthy", "erdma_2").orElse("");
        } finally {
            pods = ListPodResourcesResponse.getDefaultInstance();
            agents.end();
            unload();
        }
    }

    private List<String> granted(String device) {
        return node.kubelet().allocate(device + "/7").getDevicesList().stream()
                .map(spec -> spec.getHostPath())
                .sorted()
                .toList();
    }

    /** Starts the suite's agent, in place of one that runs. */
    interface Agents {
        AgentProcess start(List<String> options);

        void end();
    }

    // ---- the driver

    /** In mode default. */
    static void load() {
        unload();
        Command.check("modprobe", "erdma");
        Await.until("the driver's device is there", Node.PATIENCE, () -> device().isPresent());
    }

    static void unload() {
        if (Files.exists(MODULE)) {
            Command.check("rmmod", "erdma");
        }
    }

    static boolean isLoaded() {
        return Files.exists(MODULE);
    }

    static String compatMode() {
        return text(MODULE.resolve("parameters/compat_mode"));
    }

    /** The device that has this driver, once it has its uverbs node. */
    static Optional<String> device() {
        try (var devices = Files.list(SYS.resolve("class/infiniband"))) {
            return devices.filter(device -> {
                        try {
                            return Files.readSymbolicLink(device.resolve("device/driver"))
                                            .endsWith("erdma")
                                    && Files.exists(
                                            Roce.uverbs(device.getFileName().toString()));
                        } catch (IOException | IllegalStateException e) {
                            // None of ours, or just coming or going.
                            return false;
                        }
                    })
                    .map(device -> device.getFileName().toString())
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }

    private static void end(Process process) throws InterruptedException {
        process.destroy();
        process.waitFor();
    }

    private static ListPodResourcesResponse holding(String namespace, String pod) {
        return ListPodResourcesResponse.newBuilder()
                .addPodResources(PodResources.newBuilder()
                        .setNamespace(namespace)
                        .setName(pod)
                        .addContainers(ContainerResources.newBuilder()
                                .setName("worker")
                                .addDevices(ContainerDevices.newBuilder()
                                        .setResourceName(FakeKubelet.RESOURCE)
                                        .addDeviceIds("erdma_2/0"))))
                .build();
    }

    static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }

    @Override
    public void close() {
        kubelet.shutdownNow();
        transport.close();
        Command.run(List.of("rmmod", "smc"));
    }

    /** One that works already. */
    Keeper keeper(DriverMode preference) {
        return new Keeper(Optional.of(preference), Optional.empty(), true);
    }

    /** One that works already, and may install a missing driver. */
    Keeper keeper(DriverMode preference, InstallerSettings installer) {
        return new Keeper(Optional.of(preference), Optional.of(installer), true);
    }

    /** A keeper of this machine's driver, with a hold that notes what is asked of it. */
    final class Keeper implements AutoCloseable, DeviceHold {
        private final DriverKeeper keeper;
        private final List<String> events = new ArrayList<>();
        private Optional<VerbsContext> context = Optional.empty();

        Keeper(Optional<DriverMode> preference) {
            this(preference, true);
        }

        Keeper(Optional<DriverMode> preference, boolean start) {
            this(preference, Optional.empty(), start);
        }

        private Keeper(Optional<DriverMode> preference, Optional<InstallerSettings> installer, boolean start) {
            keeper = DriverKeeper.of(
                    new DriverSettings(preference, true, installer),
                    new NodePaths(root.resolve("sys"), Path.of("/dev"), Path.of("/etc")),
                    new PodShares(transport, kubeletRoot, FakeKubelet.RESOURCE),
                    this);
            if (start) {
                keeper.start();
            }
        }

        void start() {
            keeper.start();
        }

        void open() throws Exception {
            context = Optional.of(Verbs.load(Verbs.DEFAULT_LIBRARY).open(device().orElseThrow()));
        }

        /** Asks again and again, as somebody would who does not want to wait for the timer. */
        DriverStatus await(Predicate<DriverStatus> wanted) {
            try {
                Await.until("the driver's status is as it should be", Duration.ofMinutes(2), () -> {
                    if (keeper.status().filter(wanted).isPresent()) {
                        return true;
                    }
                    keeper.checkNow();
                    return false;
                });
            } catch (IllegalStateException e) {
                throw new AssertionError(e.getMessage() + ", but " + keeper.status(), e);
            }
            return keeper.status().orElseThrow();
        }

        @Override
        public void suspend(String reason) {
            events.add("suspend: " + reason);
        }

        @Override
        public boolean awaitSuspended(Duration atMost) {
            events.add("suspended");
            context.ifPresent(VerbsContext::close);
            context = Optional.empty();
            return true;
        }

        @Override
        public void resume() {
            String last = events.isEmpty() ? "" : events.getLast();
            if (!last.startsWith("resume")) {
                events.add("resume with "
                        + device().map(name -> text(SYS.resolve("class/infiniband/" + name + "/node_type")))
                                .orElse("no device"));
            }
        }

        /** @return how long that took */
        Duration end() {
            long start = System.nanoTime();
            close();
            return Duration.ofNanos(System.nanoTime() - start);
        }

        @Override
        public void close() {
            keeper.close();
            context.ifPresent(VerbsContext::close);
        }
    }
}
