package io.erdma.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What {@code erdma stat} promises, with real traffic between two soft-RoCE devices and its real processes. */
final class StatPromises {
    private static final Pattern LINE =
            Pattern.compile("(?:([a-z0-9_]+): )?rx \\(download\\): ([0-9]+\\.[0-9]{2}) MiB/s"
                    + " ([0-9]+) p/s; tx \\(upload\\): ([0-9]+\\.[0-9]{2}) MiB/s ([0-9]+) p/s");
    private static final String UID = "5f3c2a10-9b7e-4c1d-8a2f-0123456789ab";
    private static final String CONTAINER = "c0ffee00".repeat(8);
    private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

    private final Node node;
    private final Path out;

    StatPromises(Node node, Path out) {
        this.node = node;
        this.out = out;
    }

    /** Two programs of perftest that write from erdma_2 to erdma_3 until they are ended. */
    private final class Traffic implements AutoCloseable {
        private final AgentProcess server;
        private final AgentProcess client;

        Traffic() {
            pair("up");
            server = start("server", "erdma_3");
            try {
                Await.until("ib_write_bw listens", Node.PATIENCE, () -> listens());
                client = start("client", "erdma_2", "127.0.0.1");
            } catch (RuntimeException e) {
                server.close();
                pair("down");
                throw e;
            }
            Await.until("erdma_2 sends", Node.PATIENCE, () -> {
                if (!server.isAlive() || !client.isAlive()) {
                    throw new IllegalStateException("ib_write_bw ended: " + server.log() + client.log());
                }
                return sent("erdma_2") > 100;
            });
        }

        private AgentProcess start(String role, String device, String... peer) {
            List<String> command = new ArrayList<>(List.of(
                    "ib_write_bw",
                    "-d",
                    device,
                    "-x",
                    gidIndex(device),
                    "-F",
                    "-s",
                    "8192",
                    "-t",
                    "4",
                    "-D",
                    "5",
                    "--run_infinitely"));
            command.addAll(List.of(peer));
            return AgentProcess.start(command, out.resolve("ib_write_bw-" + role + ".log"), Map.of());
        }

        @Override
        public void close() {
            client.close();
            server.close();
            pair("down");
        }
    }

    private void pair(String action) {
        Command.check(node.project().resolve("e2e/pair.sh").toString(), action);
    }

    /** Slot of the device's IPv4 address; the slots before it are link-local. */
    private static String gidIndex(String device) {
        for (int i = 0; i < 16; i++) {
            if (read(Path.of("/sys/class/infiniband/" + device + "/ports/1/gids/" + i))
                    .startsWith("0000:0000:0000:0000:0000:ffff")) {
                return Integer.toString(i);
            }
        }
        throw new IllegalStateException(device + " has no GID of an IPv4 address");
    }

    private static long sent(String device) {
        return Long.parseLong(read(Path.of("/sys/class/infiniband/" + device + "/ports/1/hw_counters/sent_pkts")));
    }

    private static boolean listens() {
        return Command.run(List.of("ss", "-Hltn", "sport", "=", "18515")).out().contains("18515");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + file, e);
        }
    }

    private Command.Result stat(String... arguments) {
        List<String> command = new ArrayList<>(List.of(node.launcher().toString(), "stat"));
        command.addAll(List.of(arguments));
        return Command.run(command, Duration.ofMinutes(2));
    }

    /** The live line moves with the traffic, on both sides, and so do the counters that the kernel has. */
    String showsRealTraffic() {
        try (Traffic _ = new Traffic()) {
            long packetsBefore = sent("erdma_2");
            Command.Result live = stat("-l", "--count", "4", "-d", "erdma_2", "-d", "erdma_3");
            long packetsAfter = sent("erdma_2");
            if (live.code() != 0 || live.lines().size() != 8) {
                throw new AssertionError("ended with " + live.code() + "\n" + live.out() + live.err());
            }
            double mebibytes = 0;
            long packets = 0;
            for (String line : live.lines()) {
                MatchResult parts = parts(line);
                boolean sender = parts.group(1).equals("erdma_2");
                mebibytes += sender ? Double.parseDouble(parts.group(4)) : 0;
                packets += sender ? Long.parseLong(parts.group(5)) : 0;
                if (!sender && Double.parseDouble(parts.group(2)) == 0) {
                    throw new AssertionError("erdma_3 receives nothing: " + line);
                }
            }
            // The packets of the four seconds are among those that the kernel counted around them.
            if (packets == 0 || packets > packetsAfter - packetsBefore) {
                throw new AssertionError(packets + " packets in the lines, " + (packetsAfter - packetsBefore)
                        + " by the kernel:\n" + live.out());
            }
            // Writes of 8 KiB go in packets of the MTU, 1 KiB here, behind headers that the interface counts, too.
            double bytesPerPacket = mebibytes * 1024 * 1024 / packets;
            if (bytesPerPacket < 200 || bytesPerPacket > 1500) {
                throw new AssertionError(bytesPerPacket + " bytes in a packet:\n" + live.out());
            }
            if (!live.err().contains("erdma_2: bytes of netdev eth3, which carry all its traffic")) {
                throw new AssertionError("does not say whose bytes these are: " + live.err());
            }
            return live.lines().getLast() + "; " + Math.round(bytesPerPacket) + " bytes in a packet";
        }
    }

    private static MatchResult parts(String line) {
        Matcher parts = LINE.matcher(line);
        if (!parts.matches()) {
            throw new AssertionError("not the line of eadm: " + line);
        }
        return parts;
    }

    /** Queue pairs belong to the right pids, and a pid in a pod's cgroup to the right container. */
    String namesThePodOfAQueuePair() throws IOException {
        Path logs = Files.createTempDirectory("logs");
        Files.createDirectories(logs.resolve("pods/training_job-0_" + UID));
        Files.createSymbolicLink(
                Files.createDirectories(logs.resolve("containers"))
                        .resolve("job-0_training_pytorch-" + CONTAINER + ".log"),
                Path.of("/nowhere"));
        Command.run(List.of("mount", "-t", "cgroup2", "cgroup2", CGROUPS.toString()));
        Path container = CGROUPS.resolve("kubepods.slice/kubepods-pod" + UID.replace('-', '_')
                + ".slice/cri-containerd-" + CONTAINER + ".scope");
        Files.createDirectories(container);
        try (Traffic traffic = new Traffic()) {
            Files.writeString(container.resolve("cgroup.procs"), Long.toString(traffic.client.pid()));
            String root = logs.toString();
            Command.Result text = stat("--pods", "-d", "erdma_2", "-d", "erdma_3", "--pod-log-root", root);
            require(text, "erdma_2 +1 +1 +" + traffic.client.pid() + " +ib_write_bw +training/job-0/pytorch");
            require(text, "erdma_3 +1 +1 +" + traffic.server.pid() + " +ib_write_bw +no pod");
            Command.Result json = stat("--pods", "--json", "-d", "erdma_2", "--pod-log-root", root);
            require(json, "\"pid\" : " + traffic.client.pid() + ",");
            require(json, "\"pod\" : \"job-0\",");
            return text.lines().getLast();
        }
    }

    private static void require(Command.Result result, String expression) {
        Pattern wanted = Pattern.compile(" *" + expression);
        if (result.code() != 0
                || result.lines().stream()
                        .noneMatch(line -> wanted.matcher(line).matches())) {
            throw new AssertionError(
                    "no line '" + expression + "', exit code " + result.code() + "\n" + result.out() + result.err());
        }
    }

    /** A device that vanishes is said and awaited, and Ctrl-C is a clean end. */
    String awaitsADeviceAndEndsWithZeroOnCtrlC() {
        AgentProcess live = AgentProcess.start(
                List.of(node.launcher().toString(), "stat", "-l", "-d", "erdma_1"), out.resolve("stat.log"), Map.of());
        try {
            Await.until("the first line", Node.PATIENCE, () -> lines(live) > 0);
            Roce.delete("erdma_1");
            Await.until(
                    "it is said",
                    Node.PATIENCE,
                    () -> live.logLine("erdma_1 is gone; waiting for it").isPresent());
            Roce.add("erdma_1");
            Await.until(
                    "its return is said",
                    Node.PATIENCE,
                    () -> live.logLine("erdma_1 is back").isPresent());
            int before = lines(live);
            Await.until("lines again", Node.PATIENCE, () -> lines(live) > before + 1);
            Command.check("kill", "-INT", Long.toString(live.pid()));
            Await.until("it ends", STOP_LIMIT, () -> !live.isAlive());
            int code = live.terminate(STOP_LIMIT).code();
            if (code != 0) {
                throw new AssertionError("ended with " + code + " after Ctrl-C: " + live.log());
            }
            return live.log().size() + " lines";
        } finally {
            live.close();
        }
    }

    private static int lines(AgentProcess live) {
        return (int)
                live.log().stream().filter(line -> LINE.matcher(line).matches()).count();
    }

    /** {@code erdma stat -l | head -1} ends, and with 0. */
    String endsWhenNobodyReadsOn() {
        Command.Result result = Command.run(List.of(
                "bash",
                "-c",
                "\"$0\" stat -l -d erdma_0 | head -1; exit \"${PIPESTATUS[0]}\"",
                node.launcher().toString()));
        if (result.code() != 0 || result.lines().size() != 1 || result.err().contains("error")) {
            throw new AssertionError("ended with " + result.code() + "\n" + result.out() + result.err());
        }
        return result.lines().getFirst();
    }
}
