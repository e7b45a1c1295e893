package io.erdma.lab;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What is promised of the interfaces of RDMA devices: by the real agent, on the kernel's own cards and routes. */
final class InterfacePromises implements AutoCloseable {
    private static final Map<String, Integer> BOTH = Map.of("erdma_0", 200, "erdma_1", 200);
    private static final Map<String, Integer> ONE = Map.of("erdma_0", 0, "erdma_1", 200);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

    private final Node node;
    private final VSwitch vSwitch;
    private final PodList pods;
    private final List<String> routesBefore;
    private final List<String> waysBefore;

    InterfacePromises(Node node) throws IOException {
        this.node = node;
        this.vSwitch = VSwitch.lay();
        this.pods = new PodList(node.kubeletRoot());
        this.routesBefore = VSwitch.routes();
        this.waysBefore = VSwitch.ways();
    }

    /** What an agent is to be started with. */
    List<String> options() {
        return List.of(vSwitch.agentOption());
    }

    /** @param from the position of the running agent's first message at the kubelet */
    String setsThemUp(int from) {
        awaitSetUp();
        node.awaitShares(from, BOTH);
        requireSame("ways of the primary's traffic", waysBefore, VSwitch.ways());
        for (String netdev : List.of("eth1", "eth2")) {
            List<String> addresses = VSwitch.addresses(netdev);
            require(
                    addresses.size() == 1 && addresses.getFirst().contains("noprefixroute"),
                    netdev + " has " + addresses);
        }
        return "";
    }

    String bringsALinkUpAgain() {
        int from = node.kubelet().messages().size();
        long start = System.nanoTime();
        Roce.setLink("erdma_0", false);
        long down = node.awaitShares(from, ONE).arrivedNanos();
        long up = node.awaitShares(from + 1, BOTH).arrivedNanos();
        awaitSetUp();
        requireSame("ways of the primary's traffic", waysBefore, VSwitch.ways());
        return "Unhealthy after %d ms, Healthy again after %d ms".formatted(millis(down - start), millis(up - start));
    }

    String staysWhenTheAgentEnds(AgentProcess agent) {
        AgentProcess.Exit exit = agent.terminate(STOP_LIMIT);
        requireSame("routes", VSwitch.routesSetUp(), VSwitch.routes());
        require(Roce.portState("erdma_0").equals("ACTIVE"), "erdma_0 is " + Roce.portState("erdma_0"));
        return exit.took().toMillis() + " ms";
    }

    String isLeftByACleanupWithoutTheRight() {
        Command.Result result = cleanup("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin");
        require(result.code() == 1, "ended with " + result.code() + ": " + result.out() + result.err());
        require(result.err().contains("CAP_NET_ADMIN"), "does not say what is missing: " + result.err());
        requireSame("routes", VSwitch.routesSetUp(), VSwitch.routes());
        return result.err().lines().findFirst().orElseThrow();
    }

    String isRemovedByCleanup() {
        Command.Result first = cleanup();
        require(first.code() == 0, "ended with " + first.code() + ": " + first.out() + first.err());
        requireSame("routes", routesBefore, VSwitch.routes());
        for (String netdev : List.of("eth1", "eth2")) {
            require(VSwitch.addresses(netdev).isEmpty(), netdev + " has " + VSwitch.addresses(netdev));
            require(VSwitch.isUp(netdev), netdev + " is down");
        }
        require(first.lines().size() == 6, "removed " + first.lines());
        Command.Result second = cleanup();
        require(second.code() == 0 && second.out().startsWith("nothing to do"), second.out() + second.err());
        return String.join(", ", first.lines());
    }

    private Command.Result cleanup(String... before) {
        List<String> command = new ArrayList<>(List.of(before));
        command.addAll(node.cleanupCommand());
        return Command.run(command);
    }

    private static void awaitSetUp() {
        Await.until(
                "routes as they are wanted, instead of " + VSwitch.routes(),
                Node.PATIENCE,
                () -> VSwitch.routes().equals(VSwitch.routesSetUp()));
    }

    private static void requireSame(String what, List<String> expected, List<String> found) {
        require(expected.equals(found), what + ": " + found + " instead of " + expected);
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }

    private static long millis(long nanos) {
        return Duration.ofNanos(nanos).toMillis();
    }

    @Override
    public void close() throws IOException {
        pods.close();
        vSwitch.close();
    }
}
