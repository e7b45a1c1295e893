package io.erdma.node.page;

import io.erdma.device.DeviceHealth.Healthy;
import io.erdma.device.DeviceHealth.Unhealthy;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.driver.ModeInForce;
import io.erdma.node.log.LogLevel;
import io.erdma.node.log.RecentLines.Line;
import io.erdma.node.page.NodePage.Device;
import io.erdma.node.page.NodePage.Offer;
import io.erdma.node.page.NodePage.Use;
import io.erdma.plugin.SessionStatus;
import io.erdma.pods.ContainerId;
import io.erdma.pods.ContainerName;
import io.erdma.pods.ContainerName.PodName;
import io.erdma.pods.FallbackVerdict;
import io.erdma.pods.Owner;
import io.erdma.pods.UsageSnapshot;
import io.erdma.pods.UsageSnapshot.DeviceUse;
import io.erdma.pods.UsageSnapshot.Finding;
import io.erdma.pods.UsageSnapshot.ProcessUse;
import io.erdma.pods.UsageSnapshot.ShareHold;
import io.erdma.traffic.TrafficHistory;
import io.erdma.traffic.TrafficTotals;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Nodes as an operator meets them. */
final class Pages {
    static final Instant NOW = Instant.parse("2026-12-01T13:04:05Z");
    static final Instant STARTED = NOW.minus(Duration.ofHours(76));
    static final SessionStatus REGISTERED = new SessionStatus(true, 1, 1, Optional.empty());

    /** What somebody might call a device, a pod or a reason who wants to reach the one who reads the page. */
    static final List<String> HOSTILE = List.of(
            "<script>document.title='owned'</script>",
            "\"><img src=x onerror=alert(1)>",
            "' onmouseover='alert(1)",
            "</style></title><h1>owned</h1>",
            "evil\u202egnp.exe\u2066\u200b",
            "bell\u0007\u001b[31mred\u0000\n<b>line</b>",
            "&lt;b&gt;&amp;",
            "שלום_0",
            "x".repeat(10_000));

    private String node = "cn-hangzhou.10.0.3.17";
    private SessionStatus kubelet = REGISTERED;
    private boolean scanned = true;
    private Optional<String> suspended = Optional.empty();
    private Optional<DriverStatus> driver = Optional.of(driver(DriverMode.OFED, ModeInForce.OFED, "nothing to do"));
    private List<Device> devices = List.of();
    private List<String> plans = List.of(
            "info driver: preferred ofed (chosen by the node), in force ofed: nothing to do",
            "info interfaces: from the metadata service",
            "info devices to offer: all that the node has");
    private Use use = new Use.Known(usage(List.of(), List.of(), List.of(), List.of()));
    private OptionalLong budget = OptionalLong.empty();
    private List<Line> events = List.of(
            new Line(NOW.minusSeconds(3_600), LogLevel.INFO, "registered resource=aliyun/erdma"),
            new Line(NOW.minusSeconds(3_602), LogLevel.INFO, "eRDMA agent starts version=0.1.0"));

    /** Every state that has a look of its own, by name. */
    static Map<String, NodePage> all() {
        Map<String, NodePage> all = new LinkedHashMap<>();
        all.put("no-rdma", noRdma());
        all.put("one-healthy", healthy(1));
        all.put("two-healthy", healthy(2));
        all.put("eight-healthy", healthy(8));
        all.put("falling-back", pods(4));
        all.put("one-sick", oneSick());
        all.put("switching", switching());
        all.put("pending-switch", pendingSwitch());
        all.put("not-registered", notRegistered());
        all.put("just-started", justStarted());
        all.put("no-host-pids", withoutHostPids());
        all.put("two-hundred-pods", pods(200));
        all.put("hostile-names", hostile());
        return all;
    }

    static NodePage noRdma() {
        var pages = new Pages();
        pages.driver =
                Optional.of(driver(DriverMode.DEFAULT, ModeInForce.NOT_LOADED, "no eRDMA device: nothing to load"));
        return pages.build();
    }

    static NodePage healthy(int count) {
        var pages = new Pages();
        pages.devices = devices(count);
        pages.use = new Use.Known(training(count, 2));
        pages.budget = OptionalLong.of(131_072);
        return pages.build();
    }

    static NodePage oneSick() {
        var pages = new Pages();
        pages.devices = new ArrayList<>(devices(2));
        pages.devices.set(
                0,
                device(
                        "erdma_0",
                        new Offer.Offered(
                                new Unhealthy("port 1 is DOWN: the link eth1 has no carrier", NOW.minusSeconds(95))),
                        Optional.of(traffic(0, 0))));
        pages.use = new Use.Known(training(2, 2));
        pages.events = List.of(
                new Line(NOW.minusSeconds(95), LogLevel.WARN, "erdma_0 unhealthy: port 1 is DOWN device=erdma_0"),
                new Line(NOW.minusSeconds(3_600), LogLevel.INFO, "registered resource=aliyun/erdma"));
        return pages.build();
    }

    static NodePage switching() {
        var pages = new Pages();
        pages.suspended = Optional.of("the driver is switched from default to ofed");
        pages.devices = List.of(device(
                "erdma_0",
                new Offer.Offered(new Unhealthy("the driver is switched from default to ofed", NOW.minusSeconds(2))),
                Optional.empty()));
        pages.driver = Optional.of(driver(DriverMode.OFED, ModeInForce.NOT_LOADED, "load erdma with compat_mode=Y"));
        return pages.build();
    }

    static NodePage pendingSwitch() {
        var pages = new Pages();
        pages.devices = devices(2);
        pages.use = new Use.Known(training(2, 1));
        pages.driver = Optional.of(new DriverStatus(
                DriverMode.OFED,
                true,
                ModeInForce.DEFAULT,
                "unload erdma and load it with compat_mode=Y",
                Optional.of(
                        "switch from default to ofed pending: 2 users: pod training/job-0, process 4711 (ib_write_bw)"),
                Optional.empty(),
                List.of("pod training/job-0", "process 4711 (ib_write_bw)"),
                NOW));
        pages.plans = List.of(
                "info driver: preferred ofed (chosen by the node), in force default: unload erdma and load it with compat_mode=Y",
                "pending driver: switch from default to ofed pending: 2 users: pod training/job-0, process 4711 (ib_write_bw)",
                "planned interfaces: add route 10.9.0.0/24 dev eth1 proto 217 scope link src 10.9.0.21 metric 200",
                "warning interfaces: eth2: its address is gone; is the ERI on Terway’s whitelist?",
                "problem interfaces: cannot add route 10.0.0.0/16 dev eth2 metric 200: the kernel answered EPERM (1)");
        return pages.build();
    }

    static NodePage notRegistered() {
        var pages = new Pages();
        pages.devices = devices(1);
        pages.kubelet = new SessionStatus(
                false,
                0,
                0,
                Optional.of("no kubelet listens at /var/lib/kubelet/device-plugins/kubelet.sock; waiting for it"));
        return pages.build();
    }

    static NodePage justStarted() {
        var pages = new Pages();
        pages.scanned = false;
        pages.driver = Optional.empty();
        pages.use = new Use.Unknown("Not looked at yet.");
        pages.plans = List.of("info driver: not looked at yet");
        pages.events = List.of();
        return pages.build();
    }

    static NodePage withoutHostPids() {
        var pages = new Pages();
        pages.devices = devices(1);
        pages.use = new Use.Unknown("Who uses the devices is not known: the agent is not in the host's pid namespace;"
                + " set hostPID: true in the agent's pod.");
        return pages.build();
    }

    static NodePage pods(int count) {
        var pages = new Pages();
        pages.devices = devices(2);
        pages.use = new Use.Known(training(2, count));
        pages.budget = OptionalLong.of(4_096);
        return pages.build();
    }

    static NodePage hostile() {
        var pages = new Pages();
        pages.node = HOSTILE.getFirst();
        List<ShareHold> shares = new ArrayList<>();
        List<ProcessUse> processes = new ArrayList<>();
        List<Line> events = new ArrayList<>();
        List<Device> devices = new ArrayList<>();
        List<String> plans = new ArrayList<>();
        for (String name : HOSTILE) {
            devices.add(new Device(
                    name,
                    new Offer.Offered(new Unhealthy(name, NOW.minusSeconds(5))),
                    name,
                    Optional.of(name),
                    Optional.of(name),
                    OptionalInt.empty(),
                    200,
                    Optional.of(traffic(3 << 20, 5 << 10))));
            shares.add(new ShareHold(new ContainerName(name, name, name), name, 1));
            processes.add(new ProcessUse(name, 7, name, new Owner.Host(), 1, OptionalInt.of(1)));
            events.add(new Line(NOW, LogLevel.WARN, name));
            plans.add("problem " + name);
        }
        plans.addAll(HOSTILE);
        pages.devices = devices;
        pages.events = events;
        pages.plans = plans;
        pages.kubelet = new SessionStatus(false, 0, 0, Optional.of(HOSTILE.get(1)));
        pages.use = new Use.Known(usage(List.of(), processes, shares, List.of()));
        return pages.build();
    }

    private NodePage build() {
        return new NodePage(
                node,
                "0.1.0",
                "aliyun/erdma",
                NOW,
                STARTED,
                kubelet,
                scanned,
                suspended,
                driver,
                devices,
                plans,
                use,
                budget,
                events);
    }

    private static DriverStatus driver(DriverMode preferred, ModeInForce inForce, String plan) {
        return new DriverStatus(
                preferred,
                preferred == DriverMode.OFED,
                inForce,
                plan,
                Optional.empty(),
                Optional.empty(),
                List.of(),
                NOW);
    }

    private static List<Device> devices(int count) {
        List<Device> devices = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            devices.add(device(
                    "erdma_" + i,
                    new Offer.Offered(new Healthy(NOW.minus(Duration.ofHours(75)))),
                    Optional.of(traffic(915L << 20 >> i, 880L << 20 >> i))));
        }
        return devices;
    }

    private static Device device(String name, Offer offer, Optional<TrafficHistory.Series> traffic) {
        int index = name.charAt(name.length() - 1) - '0';
        return new Device(
                name,
                offer,
                "erdma",
                Optional.of("eth" + (index + 1)),
                Optional.of("0000:00:0" + (index + 5) % 10 + ".0"),
                OptionalInt.of(index % 2),
                200,
                traffic);
    }

    /** Ten minutes of a job whose steps swell and ebb, with a minute in which nothing was known. */
    static TrafficHistory.Series traffic(long received, long sent) {
        TrafficHistory history = new TrafficHistory(60);
        long bytesIn = 0;
        long bytesOut = 0;
        for (int i = 0; i < 60; i++) {
            double wave = 0.62 + 0.28 * Math.sin(i / 3.0) + 0.1 * Math.sin(i * 1.7);
            bytesIn += (long) (received * wave * 10);
            bytesOut += (long) (sent * (wave - 0.18) * 10);
            if (i == 20) {
                bytesIn = 0;
                bytesOut = 0;
            }
            history.add(
                    NOW.minusSeconds((59 - i) * 10L), Map.of("erdma", totals(i * 10_000_000_000L, bytesIn, bytesOut)));
        }
        return history.series().get("erdma");
    }

    static TrafficTotals totals(long nanos, long received, long sent) {
        return new TrafficTotals(nanos, direction(received), direction(sent), Optional.empty());
    }

    private static TrafficTotals.Direction direction(long bytes) {
        return new TrafficTotals.Direction(
                OptionalLong.of(bytes),
                OptionalLong.of(bytes / 6_300),
                OptionalLong.of(0),
                OptionalLong.of(0),
                OptionalLong.of(0));
    }

    /** Pods of which every third asks for eRDMA and does not use it, beside a process of no pod. */
    private static UsageSnapshot training(int devices, int pods) {
        List<DeviceUse> uses = new ArrayList<>();
        for (int i = 0; i < devices; i++) {
            uses.add(new DeviceUse("erdma_" + i, 2 * pods, 0, OptionalInt.of(pods)));
        }
        List<ProcessUse> processes = new ArrayList<>();
        List<ShareHold> shares = new ArrayList<>();
        List<Finding> findings = new ArrayList<>();
        for (int i = 0; i < pods; i++) {
            ContainerName name = new ContainerName("training", "llama-70b-worker-" + i, "pytorch");
            String device = "erdma_" + i % devices;
            shares.add(new ShareHold(name, device, 1));
            if (i % 3 == 2) {
                findings.add(new Finding(name, new FallbackVerdict.AsksOnly(Duration.ofMinutes(14)), List.of()));
            } else {
                processes.add(
                        new ProcessUse(device, 4_000 + i, "python3", new Owner.Named(name), 6, OptionalInt.of(1)));
                findings.add(new Finding(name, new FallbackVerdict.Uses(6), List.of()));
            }
        }
        processes.add(new ProcessUse("erdma_0", 318, "ib_write_bw", new Owner.Host(), 1, OptionalInt.of(1)));
        if (pods > 2) {
            processes.add(new ProcessUse(
                    "erdma_0",
                    512,
                    "nccl-tests",
                    new Owner.Unnamed(
                            new ContainerId("7b0f5d1e-0000-4000-8000-000000000001", "0123456789abcdef"),
                            Optional.of(new PodName("training", "bench-0"))),
                    0,
                    OptionalInt.of(1)));
        }
        return usage(uses, processes, shares, findings);
    }

    private static UsageSnapshot usage(
            List<DeviceUse> devices, List<ProcessUse> processes, List<ShareHold> shares, List<Finding> findings) {
        return new UsageSnapshot(NOW.minusSeconds(12), devices, processes, shares, findings, List.of());
    }
}
