package io.erdma.demo;

import io.erdma.lab.AgentProcess;
import io.erdma.lab.Await;
import io.erdma.lab.Command;
import io.erdma.lab.Node;
import io.erdma.lab.PodList;
import io.erdma.lab.Roce;
import io.erdma.lab.VSwitch;
import io.erdma.plugin.FakeKubelet;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Tells the agent's main job as a story: the real agent, libibverbs and kernel, and a stand-in for the kubelet that is
 * strict like the real one. Runs in the machine of {@code e2e/vm.sh}; each step checks what it tells, and the first that
 * is not so ends the story.
 */
public final class Demo {
    private static final String RESOURCE = FakeKubelet.RESOURCE;
    private static final Map<String, Integer> BOTH = Map.of("erdma_0", 200, "erdma_1", 200);

    /** A change after two quiet seconds is told at once; sooner ones count as flapping. */
    private static final Duration QUIET = Duration.ofMillis(2_500);

    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

    private final Node node;
    private final FakeKubelet kubelet;
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private int step;

    private Demo(Node node) {
        this.node = node;
        this.kubelet = node.kubelet();
    }

    /** Arguments: the tree of the agent and the directory for its log. */
    public static void main(String[] args) throws IOException {
        try (Node node = new Node(Path.of(args[0]), Path.of(args[1]))) {
            Demo demo = new Demo(node);
            try {
                demo.tell();
            } catch (AssertionError | IllegalStateException e) {
                demo.out.println("demo: FAILED: " + e.getMessage());
                e.printStackTrace();
                System.exit(1);
            }
            demo.out.println("demo: OK");
        }
        System.exit(0);
    }

    private void tell() throws IOException {
        try (VSwitch vSwitch = VSwitch.lay()) {
            devices();
            List<String> routes = routes("eth0 is the node's own interface");
            List<String> ways = VSwitch.ways();
            try (AgentProcess agent = start(vSwitch)) {
                interfaces(ways);
                allocation();
                linkDown(agent, ways);
                kubeletRestart();
                stop(agent);
            }
            cleanup(routes);
        }
    }

    private void devices() {
        title("The node has two RDMA devices, as ibv_devinfo shows them; their cards are down and have no address");
        Command.Result stock = Command.check("ibv_devinfo");
        String device = "";
        String guid = "";
        for (String line : stock.lines()) {
            if (line.startsWith("hca_id:")) {
                device = after(line);
            } else if (line.contains("node_guid:")) {
                guid = after(line);
            } else if (line.contains("state:")) {
                say("hca_id: %s   node_guid: %s   port 1: %s   on %s"
                        .formatted(device, guid, after(line), Roce.netdevOf(device)));
            }
        }
        Command.Result ours = Command.check(node.launcher().toString(), "devinfo");
        require(ours.out().equals(stock.out()), "erdma devinfo differs from ibv_devinfo:\n" + ours.out());
        say("`erdma devinfo` prints the same %d lines".formatted(ours.lines().size()));
    }

    private List<String> routes(String what) {
        List<String> routes = VSwitch.routes();
        say("$ ip route   # " + what);
        routes.forEach(route -> say("  " + route));
        return routes;
    }

    private AgentProcess start(VSwitch vSwitch) {
        title("The agent starts and registers with the kubelet");
        AgentProcess agent = node.startAgent("agent.log", node.agentCommand(List.of(vSwitch.agentOption())));
        try {
            FakeKubelet.Registration registration = kubelet.awaitRegistration(1, Node.PATIENCE);
            say("%s registered from %s, %d ms after exec"
                    .formatted(
                            registration.request().getResourceName(),
                            registration.request().getEndpoint(),
                            millis(registration.arrivedNanos() - agent.startedNanos())));
            FakeKubelet.Message healthy = node.awaitShares(0, BOTH);
            say("the kubelet has %s: %d (200 shares of each device) after %d ms: the agent set both links up"
                    .formatted(
                            RESOURCE,
                            kubelet.allocatable(RESOURCE),
                            millis(healthy.arrivedNanos() - agent.startedNanos())));
            return agent;
        } catch (AssertionError e) {
            agent.close();
            throw e;
        }
    }

    private void interfaces(List<String> ways) {
        title("The agent has set up what the metadata service told of the cards, beside an unharmed primary");
        Await.until(
                "the routes are there", Node.PATIENCE, () -> VSwitch.routes().equals(VSwitch.routesSetUp()));
        routes("those of protocol 217 are the agent's");
        requireSameWays(ways);
        say("and `ip route get` answers as before: " + ways.getLast());
    }

    private static void requireSameWays(List<String> before) {
        require(VSwitch.ways().equals(before), "traffic goes " + VSwitch.ways() + " instead of " + before);
    }

    private void allocation() {
        title("A pod asks for " + RESOURCE + ": 1");
        List<String> all = new ArrayList<>();
        kubelet.messages().getLast().list().getDevicesList().forEach(share -> all.add(share.getID()));
        List<String> preferred = kubelet.preferredAllocation(RESOURCE, all, List.of(), 1);
        require(preferred.size() == 1, "one share was asked for, preferred are " + preferred);
        String share = preferred.getFirst();
        String device = share.substring(0, share.indexOf('/'));
        long start = System.nanoTime();
        ContainerAllocateResponse answer = kubelet.allocate(share);
        say("share %s, answered in %.1f ms; its container gets".formatted(share, (System.nanoTime() - start) / 1e6));
        answer.getDevicesList()
                .forEach(spec -> say("  %s (%s)".formatted(spec.getContainerPath(), spec.getPermissions())));
        answer.getEnvsMap().forEach((name, value) -> say("  %s=%s".formatted(name, value)));
        String uverbs = Roce.uverbs(device).toString();
        require(
                answer.getDevicesList().stream()
                        .anyMatch(spec -> spec.getHostPath().equals(uverbs)),
                device + " is " + uverbs + ", which was not granted");
    }

    private void linkDown(AgentProcess agent, List<String> ways) {
        title("Somebody sets the link of erdma_0 down");
        quiet();
        int from = kubelet.messages().size();
        say("$ ip link set %s down".formatted(Roce.netdevOf("erdma_0")));
        long start = System.nanoTime();
        Roce.setLink("erdma_0", false);
        long down = node.awaitShares(from, Map.of("erdma_0", 0, "erdma_1", 200)).arrivedNanos();
        say("erdma_0: 200 shares Unhealthy, erdma_1: 200 Healthy; the kubelet knows %d ms after `ip` was started"
                .formatted(millis(down - start)));
        long up = node.awaitShares(from + 1, BOTH).arrivedNanos();
        say("the agent's log: %s".formatted(reason(agent).orElseThrow()));
        say("the agent set the link up again: 400 shares Healthy after %d ms".formatted(millis(up - start)));
        Await.until("the routes are back", Node.PATIENCE, () -> VSwitch.routes().equals(VSwitch.routesSetUp()));
        requireSameWays(ways);
        say("its routes are back, the primary's are as they were");
    }

    private static Optional<String> reason(AgentProcess agent) {
        return agent.logLine("erdma_0", "unhealthy");
    }

    private void kubeletRestart() throws IOException {
        title("The kubelet restarts: it removes the plugins' sockets and makes a new kubelet.sock");
        int before = kubelet.registrations().size();
        kubelet.restart(FakeKubelet.Wipe.SOCKETS, Duration.ofSeconds(1));
        FakeKubelet.Registration again = kubelet.awaitRegistration(before + 1, Node.PATIENCE);
        Await.until("400 shares again", Node.PATIENCE, () -> kubelet.allocatable(RESOURCE) == 400);
        say("registered again from %s, %d ms after the new kubelet.sock; %s: %d"
                .formatted(
                        again.request().getEndpoint(),
                        millis(again.arrivedNanos() - kubelet.listeningSinceNanos()),
                        RESOURCE,
                        kubelet.allocatable(RESOURCE)));
    }

    private void stop(AgentProcess agent) throws IOException {
        title("The agent is asked to end (SIGTERM)");
        AgentProcess.Exit exit = agent.terminate(STOP_LIMIT);
        require(exit.code() == 0 || exit.code() == 143, "the agent ended with " + exit.code());
        try (var files = Files.list(kubelet.directory())) {
            List<Path> left = files.filter(file -> file.getFileName().toString().startsWith("erdma-"))
                    .toList();
            require(left.isEmpty(), "the agent left behind " + left);
        }
        require(VSwitch.routes().equals(VSwitch.routesSetUp()), "the routes are " + VSwitch.routes());
        say("ended after %d ms, its socket is gone; interfaces and routes stay, for the pods that run"
                .formatted(exit.took().toMillis()));
    }

    private void cleanup(List<String> before) throws IOException {
        title("No pod holds a share any more: `erdma cleanup`");
        Command.Result result;
        PodList pods = new PodList(node.kubeletRoot());
        try {
            result = Command.run(node.cleanupCommand());
        } finally {
            pods.close();
        }
        require(result.code() == 0, "cleanup ended with " + result.code() + ": " + result.out() + result.err());
        require(VSwitch.routes().equals(before), "the routes are " + VSwitch.routes() + " instead of " + before);
        say("%d routes and addresses are removed; `ip route` is as in the beginning"
                .formatted(result.lines().size()));
    }

    private void title(String text) {
        step++;
        out.println(step + ". " + text);
    }

    private void say(String text) {
        out.println("   " + text);
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalStateException(otherwise);
        }
    }

    private static String after(String line) {
        return line.substring(line.indexOf(':') + 1).strip();
    }

    private static long millis(long nanos) {
        return Duration.ofNanos(nanos).toMillis();
    }

    private static void quiet() {
        long end = System.nanoTime() + QUIET.toNanos();
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
