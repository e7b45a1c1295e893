package io.erdma.lab;

import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.driver.ModeInForce;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is promised when a switch of the driver's mode goes wrong: the agent is killed in the middle, or the host's modprobe
 * hangs, crashes and rambles.
 */
final class SwitchFaultPromises implements AutoCloseable {
    private static final Path COMMAND = Path.of("/etc/modprobe.d/erdma-lab-command.conf");
    private static final Path OPTIONS = Path.of("/etc/modprobe.d/erdma-lab.conf");
    private static final Path PCI = Path.of("/sys/bus/pci/devices");
    private static final Duration STOP_WITHIN = Duration.ofSeconds(5);

    /** On a machine beside others the first question to the kubelet may go unanswered, and is asked again half a minute later. */
    private static final Duration PATIENCE = Node.PATIENCE.multipliedBy(2);

    private static final List<String> COMPAT = List.of("--device-selector=driver=erdma", "--prefer-driver=compat");

    private final DriverPromises driver;
    private final Node node;
    private final Path directory;

    SwitchFaultPromises(DriverPromises driver, Node node) throws IOException {
        this.driver = driver;
        this.node = node;
        this.directory = Files.createTempDirectory("modprobe");
        // A card that no virtual machine has, for the agents.
        Command.check("mount", "-t", "tmpfs", "none", PCI.toString());
        Path card = Files.createDirectory(PCI.resolve("0000:00:1f.7"));
        Files.writeString(card.resolve("vendor"), "0x1ded\n");
        Files.writeString(card.resolve("device"), "0x107f\n");
    }

    // ---- modprobe

    /** Does this whenever the module erdma is to be loaded. */
    private void insteadOfLoading(String script) throws IOException {
        Path file = Files.writeString(directory.resolve("load.sh"), "#!/bin/sh\n" + script + "\n");
        Command.check("chmod", "755", file.toString());
        Files.writeString(COMMAND, "install erdma " + file + " $CMDLINE_OPTS\n");
    }

    private void hangInsteadOfLoading() throws IOException {
        Files.deleteIfExists(directory.resolve("loading"));
        insteadOfLoading("echo $$ >" + directory.resolve("loading") + "; sleep 1000");
    }

    private void awaitHangingLoad() {
        Await.until("modprobe hangs", PATIENCE, () -> Files.exists(directory.resolve("loading")));
    }

    private static void loadAsUsual() throws IOException {
        Files.deleteIfExists(COMMAND);
    }

    private static void endAllModprobes() {
        Command.Result _ = Command.run(List.of("pkill", "-KILL", "-f", "load[.]sh|^sleep 1000|^modprobe erdma"));
    }

    // ---- the promises

    String namesWhatWentWrongAndLoadsTheDriverWhenItCan() throws IOException {
        Map<String, String> faults = Map.of(
                "kill -SEGV $$", "exit code",
                "yes rambling | head -c 10000000; echo no memory >&2; exit 1", "no memory",
                "exit 0", "is not loaded");
        for (Map.Entry<String, String> fault : faults.entrySet()) {
            DriverPromises.load();
            insteadOfLoading(fault.getKey());
            try (DriverPromises.Keeper keeper = driver.keeper(DriverMode.COMPAT)) {
                DriverStatus status = keeper.await(one -> one.problem().isPresent());
                DriverPromises.require(status.problem().orElseThrow().contains(fault.getValue()), status.toString());
                DriverPromises.require(
                        status.problem().orElseThrow().length() < 4_000, "it repeats all that modprobe said");
                loadAsUsual();
                keeper.await(one ->
                        one.inForce() == ModeInForce.COMPAT && one.problem().isEmpty());
            }
        }
        return faults.size() + " faults";
    }

    String endsInTimeWhileModprobeHangs(DriverPromises.Agents agents) throws IOException {
        DriverPromises.load();
        hangInsteadOfLoading();
        AgentProcess agent = agents.start(COMPAT);
        try {
            awaitHangingLoad();
            AgentProcess.Exit exit = agent.terminate(Duration.ofSeconds(60));
            DriverPromises.require(
                    exit.code() == 0 && exit.took().compareTo(STOP_WITHIN) <= 0,
                    exit + "\n" + String.join("\n", agent.log()));
            return exit.took().toMillis() + " ms";
        } finally {
            agents.end();
            endAllModprobes();
            loadAsUsual();
        }
    }

    /** With its modprobe, as the end of a container does. */
    String isPutRightByTheAgentThatFollowsOneKilledBetweenUnloadingAndLoading(DriverPromises.Agents agents)
            throws IOException {
        DriverPromises.load();
        hangInsteadOfLoading();
        AgentProcess agent = agents.start(COMPAT);
        try {
            awaitHangingLoad();
            agent.close();
            endAllModprobes();
            loadAsUsual();
            DriverPromises.require(!DriverPromises.isLoaded(), "the module is there");
            return awaitCompat(agents);
        } finally {
            agents.end();
            loadAsUsual();
        }
    }

    String isPutRightByTheAgentThatFollowsOneKilledBeforeUnloading(DriverPromises.Agents agents) throws IOException {
        DriverPromises.load();
        int from = node.kubelet().messages().size();
        AgentProcess agent = agents.start(COMPAT);
        try {
            node.awaitShares(from, Map.of("erdma_0", 0, "erdma_1", 0, "erdma_2", 0));
            agent.close();
            String mode = DriverPromises.compatMode();
            return "killed with compat_mode=" + mode + ", " + awaitCompat(agents);
        } finally {
            agents.end();
        }
    }

    String isPutRightByTheAgentThatFollowsOneKilledWhileItAwaitsTheDevice(DriverPromises.Agents agents)
            throws IOException {
        DriverPromises.load();
        Files.writeString(OPTIONS, "options erdma slow_ms=20000\n");
        AgentProcess agent = agents.start(COMPAT);
        try {
            Await.until(
                    "it is loaded",
                    PATIENCE,
                    () -> DriverPromises.compatMode().equals("Y"));
            agent.close();
            DriverPromises.require(DriverPromises.device().isEmpty(), "the device is there already");
            String told = awaitCompat(agents);
            return told;
        } finally {
            agents.end();
            Files.deleteIfExists(OPTIONS);
        }
    }

    private String awaitCompat(DriverPromises.Agents agents) {
        int from = node.kubelet().messages().size();
        long start = System.nanoTime();
        AgentProcess next = agents.start(COMPAT);
        Await.until(
                "the next agent has the driver in mode compat",
                PATIENCE,
                () -> DriverPromises.compatMode().equals("Y")
                        && DriverPromises.device().isPresent());
        node.awaitShares(from, Map.of("erdma_0", 200, "erdma_1", 200, "erdma_2", 200));
        Optional<String> fault = next.logLine("ERROR");
        DriverPromises.require(fault.isEmpty(), fault.toString());
        return "right again " + Duration.ofNanos(System.nanoTime() - start).toSeconds() + " s after the next start";
    }

    /** Neither a full disk nor a read-only one for the CDI specification takes the devices from anybody. */
    String servesWithoutCdiWhileItsDirectoryIsFull(DriverPromises.Agents agents) throws IOException {
        DriverPromises.load();
        Path cdi = Files.createDirectory(directory.resolve("cdi"));
        Command.check("mount", "-t", "tmpfs", "-o", "size=4k", "none", cdi.toString());
        Files.write(cdi.resolve("filler"), new byte[4096]);
        int from = node.kubelet().messages().size();
        AgentProcess agent = agents.start(
                List.of("--device-selector=driver=erdma", "--prefer-driver=default", "--cdi=also", "--cdi-dir=" + cdi));
        try {
            node.awaitShares(from, Map.of("erdma_0", 200, "erdma_1", 200, "erdma_2", 200));
            Await.until(
                    "the agent tells of the full disk",
                    PATIENCE,
                    () -> agent.logLine("cannot bring the CDI spec").isPresent());
            require(agent, "No space left on device");
            DriverPromises.require(names(cdi).equals(List.of("filler")), "left: " + names(cdi));
            Command.check("mount", "-o", "remount,ro", cdi.toString());
            Command.check("mount", "-o", "remount,rw,size=1m", cdi.toString());
            Await.until(
                    "the specification is written",
                    PATIENCE,
                    () -> names(cdi).equals(List.of("aliyun.com-erdma.json", "filler")));
            require(agent, "is up to date again");
            return "";
        } finally {
            agents.end();
            Command.check("umount", cdi.toString());
        }
    }

    private static void require(AgentProcess agent, String logged) {
        Await.until(
                "the log says " + logged,
                PATIENCE,
                () -> agent.logLine(logged).isPresent());
    }

    private static List<String> names(Path directory) {
        try (var files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    @Override
    public void close() throws IOException {
        loadAsUsual();
        DriverPromises.unload();
        Command.check("umount", PCI.toString());
    }
}
