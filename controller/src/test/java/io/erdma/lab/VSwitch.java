package io.erdma.lab;

import io.erdma.node.interfaces.FakeMetadata;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The machine as an instance of the cloud that two ERIs were just attached to: eth0 is its own interface, the cards of
 * erdma_0 and erdma_1 are down and without address, in the same vSwitch, and a metadata service knows what they are to
 * have. Closing gives the cards back as {@code e2e/roce.sh} left them.
 */
public final class VSwitch implements AutoCloseable {
    private static final List<String> DEVICES = List.of("erdma_0", "erdma_1");
    private static final String GATEWAY = "10.0.2.2";

    /** A neighbour in the vSwitch, its gateway, and an address far away. */
    private static final List<String> DESTINATIONS = List.of("10.0.2.99", GATEWAY, "198.51.100.7");

    private final FakeMetadata metadata;

    private VSwitch(FakeMetadata metadata) {
        this.metadata = metadata;
    }

    public static VSwitch lay() throws IOException {
        Command.check("ip", "address", "add", "10.0.2.15/24", "dev", "eth0");
        Command.check("ip", "link", "set", "eth0", "up");
        Command.check(
                "ip",
                "route",
                "add",
                "default",
                "via",
                GATEWAY,
                "dev",
                "eth0",
                "proto",
                "dhcp",
                "src",
                "10.0.2.15",
                "metric",
                "100");
        FakeMetadata metadata = FakeMetadata.start()
                .value("mac", "52:54:00:00:00:01")
                .eni("52:54:00:00:00:01", "10.0.2.15", GATEWAY)
                .eni("52:54:00:00:01:01", "10.0.2.21", GATEWAY)
                .eni("52:54:00:00:01:02", "10.0.2.22", GATEWAY);
        for (String device : DEVICES) {
            Command.check("ip", "-4", "address", "flush", "dev", Roce.netdevOf(device));
            Roce.setLink(device, false);
            Roce.awaitPort(device, "DOWN");
        }
        return new VSwitch(metadata);
    }

    /** What the agent is to be told. */
    public String agentOption() {
        return "--metadata-address=http://127.0.0.1:" + metadata.address().getPort();
    }

    /** IPv4 routes of the main table, as {@code ip route} prints them. */
    public static List<String> routes() {
        return lines("ip", "-4", "route", "show");
    }

    /** What an agent makes of {@link #routes} in the beginning. */
    public static List<String> routesSetUp() {
        return List.of(
                "default via 10.0.2.2 dev eth0 proto dhcp src 10.0.2.15 metric 100",
                "default via 10.0.2.2 dev eth1 proto 217 src 10.0.2.21 metric 200",
                "default via 10.0.2.2 dev eth2 proto 217 src 10.0.2.22 metric 201",
                "10.0.2.0/24 dev eth0 proto kernel scope link src 10.0.2.15",
                "10.0.2.0/24 dev eth1 proto 217 scope link src 10.0.2.21 metric 200",
                "10.0.2.0/24 dev eth2 proto 217 scope link src 10.0.2.22 metric 201");
    }

    /** IPv4 addresses of an interface: one line each, with their flags. */
    public static List<String> addresses(String netdev) {
        return lines("ip", "-4", "-o", "address", "show", "dev", netdev);
    }

    public static boolean isUp(String netdev) {
        return lines("ip", "-o", "link", "show", "dev", netdev).getFirst().contains(",UP");
    }

    /** Which way packets of this machine take: the kernel's answer for each of some destinations. */
    public static List<String> ways() {
        List<String> ways = new ArrayList<>();
        for (String destination : DESTINATIONS) {
            ways.add(lines("ip", "route", "get", destination).getFirst().replace(" uid 0", ""));
        }
        return ways;
    }

    private static List<String> lines(String... command) {
        return Command.check(command).lines().stream().map(String::strip).toList();
    }

    @Override
    public void close() throws IOException {
        metadata.close();
        Command.check("ip", "-4", "address", "flush", "dev", "eth0");
        Command.check("ip", "link", "set", "eth0", "down");
        for (String device : DEVICES) {
            String netdev = Roce.netdevOf(device);
            Command.check("ip", "-4", "address", "flush", "dev", netdev);
            Command.check("ip", "address", "add", "192.168.7" + netdev.substring(3) + ".2/24", "dev", netdev);
            Roce.setLink(device, true);
            Roce.awaitPort(device, "ACTIVE");
        }
    }
}
