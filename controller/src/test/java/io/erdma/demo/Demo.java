package io.erdma.demo;

import io.erdma.lab.AgentProcess;
import io.erdma.lab.Await;
import io.erdma.lab.Command;
import io.erdma.lab.Node;
import io.erdma.lab.Roce;
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
        devices();
        try (AgentProcess agent = start()) {
            allocation();
            linkDown(agent);
            linkUp();
            kubeletRestart();
            stop(agent);
        }
    }

    private void devices() {
        title("The node has two RDMA devices, as ibv_devinfo shows them");
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

    private AgentProcess start() {
        title("The agent starts and registers with the kubelet");
        AgentProcess agent = node.startAgent("agent.log", node.agentCommand(List.of()));
        try {
            FakeKubelet.Registration registration = kubelet.awaitRegistration(1, Node.PATIENCE);
            say("%s registered from %s, %d ms after exec"
                    .formatted(
                            registration.request().getResourceName(),
                            registration.request().getEndpoint(),
                            millis(registration.arrivedNanos() - agent.startedNanos())));
            node.awaitShares(0, BOTH);
            say("the kubelet has %s: %d   (200 shares of each device)"
                    .formatted(RESOURCE, kubelet.allocatable(RESOURCE)));
            return agent;
        } catch (AssertionError e) {
            agent.close();
            throw e;
        }
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

    private void linkDown(AgentProcess agent) {
        title("The link of erdma_0 goes down");
        quiet();
        long took = change(false, Map.of("erdma_0", 0, "erdma_1", 200));
        say("erdma_0: 200 shares Unhealthy, erdma_1: 200 Healthy; the kubelet knows %d ms after `ip` was started"
                .formatted(took));
        Await.until(
                "the agent logs the change", Node.PATIENCE, () -> reason(agent).isPresent());
        say("the agent's log: %s".formatted(reason(agent).orElseThrow()));
    }

    private static Optional<String> reason(AgentProcess agent) {
        return agent.logLine("erdma_0", "unhealthy");
    }

    private void linkUp() {
        title("The link comes back");
        quiet();
        long took = change(true, BOTH);
        say("%d shares Healthy again; the kubelet knows %d ms after `ip` was started".formatted(400, took));
    }

    private long change(boolean up, Map<String, Integer> expected) {
        int from = kubelet.messages().size();
        say("$ ip link set %s %s".formatted(Roce.netdevOf("erdma_0"), up ? "up" : "down"));
        long start = System.nanoTime();
        Roce.setLink("erdma_0", up);
        return millis(node.awaitShares(from, expected).arrivedNanos() - start);
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
        say("ended after %d ms, its socket is gone".formatted(exit.took().toMillis()));
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
