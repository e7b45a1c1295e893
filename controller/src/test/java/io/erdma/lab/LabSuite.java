package io.erdma.lab;

import io.erdma.netlink.RdmaNetlinkProbe;
import io.erdma.plugin.FakeKubelet;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.erdma.verbs.Verbs;
import io.erdma.verbs.VerbsContext;
import io.erdma.verbs.VerbsEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipFile;

/**
 * What the agent promises, asked on a real kernel's RDMA stack: soft-RoCE devices erdma_0 and erdma_1, the real
 * libibverbs, the agent as its launcher starts it. Runs inside the machine of {@code e2e/vm.sh}, where {@code
 * e2e/roce.sh} has made the devices; prints one line {@code ok - …} or {@code not ok - …} for each promise.
 *
 * <p>The promises run in order and leave the two devices as they found them; when one fails, they are put right before
 * the next. Starting a JVM is what takes longest in this machine, so promises that need the same settings share an agent;
 * after a broken one the next gets an agent of its own.
 */
public final class LabSuite {
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    private static final Map<String, Integer> BOTH = Map.of("erdma_0", 200, "erdma_1", 200);
    private static final Map<String, Integer> NONE = Map.of("erdma_0", 0, "erdma_1", 0);
    private static final URI READY = URI.create("http://127.0.0.1:9470/readyz");

    /** Longer than the two seconds after which a change counts as news and not as flapping. */
    private static final Duration QUIET = Duration.ofMillis(2_500);

    /** Its periodic check and re-scan are so rare that within {@link #EVENT_LIMIT} only events can tell it. */
    private static final List<String> BY_EVENTS_ALONE = List.of("--health-interval=30s", "--rescan-interval=1h");

    private static final Duration EVENT_LIMIT = Duration.ofSeconds(5);

    /** Looks often, for what the kernel tells nobody of. */
    private static final List<String> ATTENTIVE = List.of("--health-interval=1s", "--rescan-interval=2s");

    /** A promise; it answers with what is worth telling beside its name, and throws when it is broken. */
    @FunctionalInterface
    private interface Promise {
        String keep() throws Exception;
    }

    private final Node node;
    private final Path out;
    private final Optional<Pattern> only;
    private Optional<RunningAgent> running = Optional.empty();
    private int started;
    private int broken;

    private record RunningAgent(AgentProcess process, List<String> options) {}

    private LabSuite(Node node, Path out, Optional<Pattern> only) {
        this.node = node;
        this.out = out;
        this.only = only;
    }

    /** Arguments: optionally an expression that is found in the names of the promises to run, then the tree and the directory for logs. */
    public static void main(String[] args) throws IOException {
        if (args.length < 2) {
            System.err.println("usage: LabSuite [EXPRESSION] TREE LOGS");
            System.exit(64);
        }
        Path out = Path.of(args[args.length - 1]);
        Optional<Pattern> only = args.length > 2 ? Optional.of(Pattern.compile(args[0])) : Optional.empty();
        LabSuite suite;
        try (Node node = new Node(Path.of(args[args.length - 2]), out)) {
            suite = new LabSuite(node, out, only);
            suite.run();
            suite.endAgent();
        }
        System.exit(suite.broken == 0 ? 0 : 1);
    }

    private void run() throws IOException {
        check("devinfoAgreesWithIbvDevinfo", this::devinfoAgrees);
        check("devinfoAgreesWhileALinkIsDown", this::devinfoAgreesWhileALinkIsDown);
        check("devinfoAgreesInAPodWithOneDevice", this::devinfoAgreesInAPodWithOneDevice);
        check("netlinkKnowsWhatTheKernelsOwnToolsSay", this::netlinkKnowsWhatTheKernelsOwnToolsSay);
        check("verbsEventsTellOfALinkThatGoesDownAndUp", this::verbsEventsTellOfALinkThatGoesDownAndUp);

        StatPromises stat = new StatPromises(node, out);
        check("statShowsRealTraffic", stat::showsRealTraffic);
        check("statNamesThePodOfAQueuePair", stat::namesThePodOfAQueuePair);
        check("statAwaitsADeviceAndEndsWithZeroOnCtrlC", stat::awaitsADeviceAndEndsWithZeroOnCtrlC);
        check("statEndsWhenNobodyReadsOn", stat::endsWhenNobodyReadsOn);

        check("registersAndGrantsExactlyTheDeviceAskedFor", this::registersAndGrants);
        check("tellsByEventsAloneOfALinkThatIsDownForFiveSeconds", this::tellsOfALinkThatIsDownForFiveSeconds);
        check("tellsAtMostOnceASecondOfTwentyFlapsInTenSeconds", this::tellsAtMostOnceASecond);
        check("registersAgainWhenTheKubeletRestarts", this::registersAgainWhenTheKubeletRestarts);
        check("noticesByEventsAloneThatADeviceVanishesAndAppears", this::noticesADeviceThatVanishesAndAppears);
        check("doctorFindsNothingWrongWithAHealthyNode", this::doctorFindsNothingWrong);
        check("doctorNamesTheLinkThatIsDownAndTheNextStep", this::doctorNamesTheLinkThatIsDown);
        check("doctorLooksFromThePodsSideInAPod", this::doctorLooksFromThePodsSide);
        check("stopsAtOnceAndLeavesNoSocket", () -> stopsCleanly(agent(BY_EVENTS_ALONE)));

        check("startsInExclusiveNamespaceModeAndRecoversInShared", this::startsInExclusiveMode);
        check("marksDevicesUnhealthyInExclusiveNamespaceMode", this::marksDevicesUnhealthyInExclusiveMode);
        check("doctorTellsOfExclusiveNamespaceMode", this::doctorTellsOfExclusiveMode);
        check("followsDevicesThatAreRenamedAndRenumbered", this::followsDevicesThatAreRenamedAndRenumbered);
        check("followsDevInfinibandWhenItVanishesWithTheLastDevice", this::followsDevInfiniband);

        check("registersEmptyWithoutDevicesAndOffersThemLater", this::registersEmptyWithoutDevicesAndOffersThemLater);
        check("worksByNetlinkWhenItMayNotOpenTheDevices", this::worksByNetlinkWhenItMayNotOpenTheDevices);

        check(
                "offersTheDevicesAgainWhenAllRdmaModulesWereUnloadedAndLoadedAgain",
                this::returnsWhenAllRdmaModulesAreLoadedAgain);

        if (only.isEmpty() || only.get().matcher("interfaces").find()) {
            interfaces();
        }

        try (DriverPromises driver = new DriverPromises(node)) {
            check("driverIsLoadedInThePreferredModeWhereItIsMissing", driver::loadsTheDriver);
            check("driverSwitchesFromDefaultToCompatToOfedAndBack", driver::switchesModes);
            check("driverIsNotTakenFromAProcessOrAPodThatUsesIt", driver::waitsForUsers);
            check(
                    "driverModeIsReadAgainSinceModprobeOfALoadedModuleOnlySaysThatItWorked",
                    driver::isNotFooledByModprobe);
            check("driverSwitchWaitsForADeviceThatIsSlow", driver::waitsForASlowDevice);
            check("driverOfTheKernelHasNoModeToSwitch", driver::hasNoModeToSwitchInTheKernelsOwnDriver);
            check("driverIsTheHostsAlsoForAnAgentInAPod", driver::usesTheHostsModulesFromAPod);
            check(
                    "agentSwitchesTheDriverOnceThePodsAreGoneAndGrantsByTheNewMode",
                    () -> driver.theAgentSwitches(agents()));
            endAgent();
            if (only.isEmpty() || only.get().pattern().contains("installer")) {
                installer(driver);
            }
            if (only.isEmpty() || only.get().pattern().contains("driverFaults")) {
                driverFaults(driver);
            }
            DriverPromises.unload();
        }

        check("devinfoAgreesAfterAllThis", this::devinfoAgrees);
    }

    private void driverFaults(DriverPromises driver) throws IOException {
        try (SwitchFaultPromises faults = new SwitchFaultPromises(driver, node)) {
            check(
                    "driverFaultsAreNamedAndGotOverOnceTheDriverCanBeLoaded",
                    faults::namesWhatWentWrongAndLoadsTheDriverWhenItCan);
            check("driverFaultsAgentEndsInTimeWhileModprobeHangs", () -> faults.endsInTimeWhileModprobeHangs(agents()));
            check(
                    "driverFaultsAgentPutsRightWhatWasKilledBetweenUnloadingAndLoading",
                    () -> faults.isPutRightByTheAgentThatFollowsOneKilledBetweenUnloadingAndLoading(agents()));
            check(
                    "driverFaultsAgentPutsRightWhatWasKilledBeforeUnloading",
                    () -> faults.isPutRightByTheAgentThatFollowsOneKilledBeforeUnloading(agents()));
            check(
                    "driverFaultsAgentPutsRightWhatWasKilledWhileItAwaitedTheDevice",
                    () -> faults.isPutRightByTheAgentThatFollowsOneKilledWhileItAwaitsTheDevice(agents()));
            check(
                    "driverFaultsAgentServesWithoutCdiWhileItsDirectoryIsFull",
                    () -> faults.servesWithoutCdiWhileItsDirectoryIsFull(agents()));
            endAgent();
        }
    }

    private void installer(DriverPromises driver) throws IOException {
        try (InstallerPromises installer = new InstallerPromises(driver, node)) {
            check(
                    "installerRunsNothingThatIsNotWhatTheOperatorMeant",
                    installer::runsNothingThatIsNotWhatTheOperatorMeant);
            check("installerInstallsAndTheDriverIsLoaded", installer::installsAndLoadsInThePreferredMode);
            check("installerLeavesThePodsControlGroupOfVersion1", () -> installer.leavesThePodsControlGroup(1));
            check("installerLeavesThePodsControlGroupOfVersion2", () -> installer.leavesThePodsControlGroup(2));
        }
    }

    private void interfaces() throws IOException {
        endAgent();
        try (InterfacePromises interfaces = new InterfacePromises(node)) {
            int from = node.kubelet().messages().size();
            AgentProcess agent = start(interfaces.options());
            check("interfacesAreSetUpBesideAnUnharmedPrimary", () -> interfaces.setsThemUp(from));
            pause(QUIET);
            check("interfacesThatSomebodySetsDownAreBroughtUpAgain", interfaces::bringsALinkUpAgain);
            check("interfacesStayWhenTheAgentEnds", () -> interfaces.staysWhenTheAgentEnds(agent));
            check("interfacesAreLeftByACleanupThatMayNotChangeThem", interfaces::isLeftByACleanupWithoutTheRight);
            check("interfacesAreGivenBackByCleanup", interfaces::isRemovedByCleanup);
            endAgent();
        }
    }

    private void check(String name, Promise promise) {
        if (only.isPresent() && !only.get().matcher(name).find()) {
            return;
        }
        long start = System.nanoTime();
        try {
            String told = promise.keep();
            System.out.printf("ok - %s (%.1f s) %s%n", name, (System.nanoTime() - start) / 1e9, told);
        } catch (Exception | AssertionError e) {
            broken++;
            System.out.printf("not ok - %s (%.1f s)%n", name, (System.nanoTime() - start) / 1e9);
            e.printStackTrace(System.out);
            running.ifPresent(agent -> agent.process().close());
            running = Optional.empty();
            restore();
        }
        System.out.flush();
    }

    // ---- devinfo

    private String devinfoAgrees() {
        return script("devinfo-agrees.sh", node.launcher().toString()).strip();
    }

    private String devinfoAgreesWhileALinkIsDown() {
        Roce.setLink("erdma_0", false);
        Roce.awaitPort("erdma_0", "DOWN");
        String told = devinfoAgrees();
        Roce.setLink("erdma_0", true);
        Roce.awaitPort("erdma_0", "ACTIVE");
        return told;
    }

    private String devinfoAgreesInAPodWithOneDevice() {
        String launcher = node.launcher().toString();
        String told = script(
                        "pod.sh",
                        "erdma_1",
                        node.project().resolve("e2e/devinfo-agrees.sh").toString(),
                        launcher)
                .strip();
        if (!told.contains("on 1 devices")) {
            throw new AssertionError("the pod should see one device: " + told);
        }
        String explained = script("pod.sh", "erdma_1", launcher, "devinfo", "--explain");
        String missing = Roce.uverbs("erdma_0") + " is missing; libibverbs leaves such a device out";
        if (!explained.contains("does not list it: " + missing)) {
            throw new AssertionError("--explain does not say that " + missing + ":\n" + explained);
        }
        return told + "; erdma_0: " + missing;
    }

    /** Runs a script of e2e/ and answers its output. */
    private String script(String name, String... arguments) {
        List<String> command = new ArrayList<>(
                List.of(node.project().resolve("e2e").resolve(name).toString()));
        command.addAll(List.of(arguments));
        Command.Result result = Command.run(command, Duration.ofMinutes(4));
        if (result.code() != 0) {
            throw new AssertionError(command + " ended with " + result.code() + "\n" + result.out() + result.err());
        }
        return result.out();
    }

    // ---- the native edge

    private String netlinkKnowsWhatTheKernelsOwnToolsSay() throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        RdmaNetlinkProbe.print(new PrintStream(printed, true, StandardCharsets.UTF_8));
        List<String> facts = printed.toString(StandardCharsets.UTF_8).lines().toList();
        for (String device : List.of("erdma_0", "erdma_1")) {
            String netdev = Roce.netdevOf(device);
            String ifindex = Files.readString(Path.of("/sys/class/net", netdev, "ifindex"))
                    .strip();
            String guid = Files.readString(Path.of("/sys/class/infiniband", device, "node_guid"))
                    .strip();
            require(facts, "device ", " " + device + " ", "guid=" + guid);
            require(facts, "port " + device + "/1 ", "state=ACTIVE", "netdev=" + netdev, "ifindex=" + ifindex);
            require(facts, "chardev " + device + " " + Roce.uverbs(device).getFileName() + " ");
            String mac = Files.readString(Path.of("/sys/class/net", netdev, "address"))
                    .strip();
            require(facts, "link " + ifindex + " " + netdev + " ", "up=true", "carrier=true", "mac=" + mac);
        }
        require(facts, "netns-mode SHARED");
        return facts.size() + " facts";
    }

    private static void require(List<String> lines, String... parts) {
        if (lines.stream().noneMatch(line -> List.of(parts).stream().allMatch(line::contains))) {
            throw new AssertionError("no line with " + List.of(parts) + " in\n" + String.join("\n", lines));
        }
    }

    private String verbsEventsTellOfALinkThatGoesDownAndUp() throws Exception {
        Verbs verbs = Verbs.load(Verbs.DEFAULT_LIBRARY);
        List<VerbsEvent> events = new ArrayList<>();
        try (VerbsContext context = verbs.open("erdma_0")) {
            Roce.setLink("erdma_0", false);
            awaitEvent(context, events, new VerbsEvent.PortError(1));
            Roce.setLink("erdma_0", true);
            awaitEvent(context, events, new VerbsEvent.PortActive(1));
        }
        Roce.awaitPort("erdma_0", "ACTIVE");
        return events.stream().map(event -> event.getClass().getSimpleName()).collect(Collectors.joining(", "));
    }

    private static void awaitEvent(VerbsContext context, List<VerbsEvent> events, VerbsEvent wanted) {
        Await.until(wanted + " arrives", Node.PATIENCE, () -> {
            try {
                context.nextEvent().ifPresent(events::add);
            } catch (io.erdma.libc.NativeException e) {
                throw new IllegalStateException("cannot read events", e);
            }
            return events.contains(wanted);
        });
    }

    // ---- the main job

    private String registersAndGrants() {
        agent(BY_EVENTS_ALONE);
        awaitReady(200);
        grantsExactlyTheDevice("erdma_0");
        grantsExactlyTheDevice("erdma_1");
        return "";
    }

    private String tellsOfALinkThatIsDownForFiveSeconds() {
        agent(BY_EVENTS_ALONE);
        pause(QUIET);
        int from = node.kubelet().messages().size();
        long down = change("erdma_0", false, Map.of("erdma_0", 0, "erdma_1", 200), EVENT_LIMIT);
        pause(Duration.ofSeconds(5));
        long up = change("erdma_0", true, BOTH, EVENT_LIMIT);
        pause(QUIET);
        int messages = node.kubelet().messages().size() - from;
        if (messages != 2) {
            throw new AssertionError(messages + " messages for one change down and one up");
        }
        return "down " + down + " ms, up " + up + " ms";
    }

    private String tellsAtMostOnceASecond() {
        agent(BY_EVENTS_ALONE);
        pause(QUIET);
        int from = node.kubelet().messages().size();
        long start = System.nanoTime();
        for (int flap = 0; flap < 20; flap++) {
            Roce.setLink("erdma_1", false);
            Roce.setLink("erdma_1", true);
            pause(Duration.ofMillis(500L * (flap + 1)).minusNanos(System.nanoTime() - start));
        }
        long flapped = System.nanoTime();
        node.awaitShares(from, Map.of("erdma_0", 200, "erdma_1", 0));
        Await.until(
                "the last state is told",
                Node.PATIENCE,
                () -> Node.healthyShares(last()).equals(BOTH));
        pause(QUIET);
        List<FakeKubelet.Message> told =
                node.kubelet().messages().stream().skip(from).toList();
        Duration span = Duration.ofNanos(told.getLast().arrivedNanos() - start);
        // The first comes at once; each further one has a second of its own.
        if (told.size() > span.toSeconds() + 1) {
            throw new AssertionError(told.size() + " messages in " + span.toMillis() + " ms of flapping");
        }
        if (!Node.healthyShares(last()).equals(BOTH)) {
            throw new AssertionError("the last message was " + Node.healthyShares(last()));
        }
        onlyTouched(from, "erdma_1");
        return "%d messages for 20 flaps in %.1f s".formatted(told.size(), (flapped - start) / 1e9);
    }

    private String registersAgainWhenTheKubeletRestarts() throws IOException {
        agent(BY_EVENTS_ALONE);
        FakeKubelet kubelet = node.kubelet();
        List<String> told = new ArrayList<>();
        for (FakeKubelet.Wipe wipe : FakeKubelet.Wipe.values()) {
            int registrations = kubelet.registrations().size();
            kubelet.restart(wipe, Duration.ZERO);
            FakeKubelet.Registration again = kubelet.awaitRegistration(registrations + 1, EVENT_LIMIT);
            Await.until("400 shares again", Node.PATIENCE, () -> kubelet.allocatable(FakeKubelet.RESOURCE) == 400);
            told.add("%s %d ms"
                    .formatted(
                            wipe,
                            Duration.ofNanos(again.acceptedNanos() - kubelet.listeningSinceNanos())
                                    .toMillis()));
        }
        return String.join(", ", told);
    }

    private String noticesADeviceThatVanishesAndAppears() {
        agent(BY_EVENTS_ALONE);
        int from = node.kubelet().messages().size();
        Roce.delete("erdma_1");
        node.awaitShares(from, Map.of("erdma_0", 200));
        from = node.kubelet().messages().size();
        Roce.add("erdma_1");
        node.awaitShares(from, BOTH);
        onlyTouched(from, "erdma_1");
        return "";
    }

    private void grantsExactlyTheDevice(String device) {
        ContainerAllocateResponse answer = node.kubelet().allocate(device + "/7");
        Set<String> granted = answer.getDevicesList().stream()
                .map(spec -> spec.getHostPath() + ":" + spec.getContainerPath())
                .collect(Collectors.toSet());
        String uverbs = Roce.uverbs(device).toString();
        String cm = "/dev/infiniband/rdma_cm";
        if (answer.getDevicesCount() != 2 || !granted.equals(Set.of(uverbs + ":" + uverbs, cm + ":" + cm))) {
            throw new AssertionError(device + " was granted as " + granted + ", its node is " + uverbs);
        }
    }

    /** Changes a link and answers after how many milliseconds the kubelet had it, counted from the start of the command. */
    private long change(String device, boolean up, Map<String, Integer> shares, Duration limit) {
        int from = node.kubelet().messages().size();
        long start = System.nanoTime();
        Roce.setLink(device, up);
        long took = node.awaitShares(from, shares).arrivedNanos() - start;
        if (took > limit.toNanos()) {
            throw new AssertionError("the kubelet had it after " + took / 1_000_000 + " ms: no event told the agent");
        }
        onlyTouched(from, device);
        return took / 1_000_000;
    }

    /** In no message since then another device lost a share. */
    private void onlyTouched(int from, String device) {
        for (FakeKubelet.Message message :
                node.kubelet().messages().stream().skip(from).toList()) {
            Node.healthyShares(message).forEach((name, healthy) -> {
                if (!name.equals(device) && healthy != 200) {
                    throw new AssertionError(device + " changed, and " + name + " has " + healthy + " shares");
                }
            });
        }
    }

    private FakeKubelet.Message last() {
        return node.kubelet().messages().getLast();
    }

    private String stopsCleanly(AgentProcess agent) throws IOException {
        AgentProcess.Exit exit = agent.terminate(STOP_LIMIT);
        if (exit.code() != 0 && exit.code() != 143) {
            throw new AssertionError("the agent ended with " + exit.code());
        }
        try (var files = Files.list(node.kubelet().directory())) {
            List<Path> left = files.filter(file -> file.getFileName().toString().startsWith("erdma-"))
                    .toList();
            if (!left.isEmpty()) {
                throw new AssertionError("the agent left its sockets behind: " + left);
            }
        }
        return exit.took().toMillis() + " ms";
    }

    /** The agent must neither end nor need another start. */
    private String startsInExclusiveMode() throws IOException {
        endAgent();
        Roce.setNamespaceMode("exclusive");
        int from = node.kubelet().messages().size();
        AgentProcess agent = start(ATTENTIVE);
        node.awaitShares(from, NONE);
        if (node.kubelet().messages().stream().skip(from).anyMatch(message -> message.count("Healthy") > 0)) {
            throw new AssertionError("devices were offered that no pod could see");
        }
        String reason = exclusive(agent, "erdma_0");
        exclusive(agent, "erdma_1");
        from = node.kubelet().messages().size();
        Roce.setNamespaceMode("shared");
        node.awaitShares(from, BOTH);
        grantsExactlyTheDevice("erdma_0");
        return reason;
    }

    private String marksDevicesUnhealthyInExclusiveMode() {
        AgentProcess agent = agent(ATTENTIVE);
        int from = node.kubelet().messages().size();
        Roce.setNamespaceMode("exclusive");
        node.awaitShares(from, NONE);
        exclusive(agent, "erdma_0");
        from = node.kubelet().messages().size();
        Roce.setNamespaceMode("shared");
        node.awaitShares(from, BOTH);
        return "";
    }

    private static String exclusive(AgentProcess agent, String device) {
        return agent.logLine(device, "unhealthy", "exclusive")
                .orElseThrow(() -> new AssertionError("the log does not tell of exclusive mode for " + device));
    }

    private String followsDevicesThatAreRenamedAndRenumbered() {
        agent(ATTENTIVE);
        int from = node.kubelet().messages().size();
        Roce.rename("erdma_1", "roce_9");
        node.awaitShares(from, Map.of("erdma_0", 200, "roce_9", 200));
        ContainerAllocateResponse answer = node.kubelet().allocate("roce_9/0");
        String granted = answer.getDevices(0).getHostPath();
        if (!granted.equals(Roce.uverbs("roce_9").toString())) {
            throw new AssertionError("roce_9/0 was granted " + granted);
        }
        from = node.kubelet().messages().size();
        Roce.rename("roce_9", "erdma_1");
        node.awaitShares(from, BOTH);

        // Made again in the other order, so that each gets the other's uverbs number.
        from = node.kubelet().messages().size();
        Path before = Roce.uverbs("erdma_0");
        Roce.delete("erdma_0");
        Roce.delete("erdma_1");
        node.awaitShares(from, Map.of());
        from = node.kubelet().messages().size();
        Roce.add("erdma_1");
        Roce.add("erdma_0");
        node.awaitShares(from, BOTH);
        if (Roce.uverbs("erdma_0").equals(before)) {
            throw new AssertionError("the numbers did not change, so this proves nothing");
        }
        grantsExactlyTheDevice("erdma_0");
        grantsExactlyTheDevice("erdma_1");
        return "erdma_0 is " + Roce.uverbs("erdma_0").getFileName() + " now";
    }

    private String followsDevInfiniband() {
        agent(ATTENTIVE);
        int from = node.kubelet().messages().size();
        Roce.delete("erdma_0");
        Roce.delete("erdma_1");
        Command.check("modprobe", "-r", "rdma_ucm");
        Await.until("/dev/infiniband is gone", Node.PATIENCE, () -> !Files.exists(Path.of("/dev/infiniband")));
        node.awaitShares(from, Map.of());
        awaitReady(200);
        from = node.kubelet().messages().size();
        Command.check("modprobe", "rdma_ucm");
        Roce.add("erdma_0");
        Roce.add("erdma_1");
        node.awaitShares(from, BOTH);
        grantsExactlyTheDevice("erdma_0");
        return "";
    }

    /** ib_core stays: the agent's own netlink socket holds it. */
    private String returnsWhenAllRdmaModulesAreLoadedAgain() {
        AgentProcess agent = agent(ATTENTIVE);
        int from = node.kubelet().messages().size();
        Roce.delete("erdma_0");
        Roce.delete("erdma_1");
        Command.check("rmmod", "rdma_ucm", "rdma_cm", "iw_cm", "ib_cm", "rdma_rxe", "ib_uverbs");
        node.awaitShares(from, Map.of());
        from = node.kubelet().messages().size();
        Command.check("modprobe", "rdma_rxe");
        Command.check("modprobe", "rdma_ucm");
        Roce.add("erdma_0");
        Roce.add("erdma_1");
        node.awaitShares(from, BOTH);
        grantsExactlyTheDevice("erdma_0");
        grantsExactlyTheDevice("erdma_1");
        if (!agent.isAlive()) {
            throw new AssertionError("the agent ended");
        }
        return "";
    }

    private String registersEmptyWithoutDevicesAndOffersThemLater() throws IOException {
        endAgent();
        Roce.delete("erdma_0");
        Roce.delete("erdma_1");
        int from = node.kubelet().messages().size();
        AgentProcess agent = start(List.of());
        node.awaitShares(from, Map.of());
        awaitReady(200);
        from = node.kubelet().messages().size();
        Roce.add("erdma_0");
        Roce.add("erdma_1");
        node.awaitShares(from, BOTH);
        return stopsCleanly(agent);
    }

    /** Root without the right to pass file modes, and device nodes that nobody may open. */
    private String worksByNetlinkWhenItMayNotOpenTheDevices() throws IOException {
        endAgent();
        List<Path> nodes = List.of(Roce.uverbs("erdma_0"), Roce.uverbs("erdma_1"));
        for (Path file : nodes) {
            Command.check("chmod", "000", file.toString());
        }
        int from = node.kubelet().messages().size();
        int registered = node.kubelet().registrations().size();
        try {
            AgentProcess agent = start(
                    ATTENTIVE,
                    "setpriv",
                    "--bounding-set=-dac_override,-dac_read_search",
                    "--inh-caps=-dac_override,-dac_read_search");
            FakeKubelet.Registration registration = node.kubelet().awaitRegistration(registered + 1, Node.PATIENCE);
            FakeKubelet.Message offered = node.awaitShares(from, BOTH);
            Duration until = Duration.ofNanos(offered.arrivedNanos() - registration.acceptedNanos());
            if (until.compareTo(Duration.ofSeconds(10)) > 0) {
                throw new AssertionError("healthy only " + until + " after the agent registered");
            }
            awaitReady(200);
            from = node.kubelet().messages().size();
            // Several of its checks, each of which could have doubts.
            pause(Duration.ofSeconds(5));
            long down = change("erdma_0", false, Map.of("erdma_0", 0, "erdma_1", 200), Node.PATIENCE);
            pause(QUIET);
            long up = change("erdma_0", true, BOTH, Node.PATIENCE);
            pause(QUIET);
            int messages = node.kubelet().messages().size() - from;
            Optional<String> doubt = agent.logLine("erdma_1", "unhealthy");
            if (messages != 2 || doubt.isPresent()) {
                throw new AssertionError(messages + " messages for one change down and one up; " + doubt);
            }
            String said = agent.logLine("EACCES")
                    .orElseThrow(() -> new AssertionError("the log does not say that verbs can't be opened"));
            stopsCleanly(agent);
            return "down " + down + " ms, up " + up + " ms; " + said;
        } finally {
            for (Path file : nodes) {
                Command.check("chmod", "666", file.toString());
            }
        }
    }

    // ---- the doctor

    private String doctorFindsNothingWrong() throws IOException {
        agent(BY_EVENTS_ALONE);
        awaitReady(200);
        Path bundle = out.resolve("doctor.zip");
        Files.deleteIfExists(bundle);
        Command.Result told = doctor(List.of(), "--bundle=" + bundle);
        List<String> lines = told.lines();
        require(lines, "pass  RDMA devices: kernel and libibverbs know erdma_0, erdma_1");
        require(lines, "pass  RDMA namespace mode: shared");
        require(lines, "pass  verbs library: libibverbs 1.14.");
        for (String device : List.of("erdma_0", "erdma_1")) {
            String netdev = Roce.netdevOf(device);
            require(lines, "pass  device node of " + device + ": " + Roce.uverbs(device) + " opens");
            require(lines, "pass  port of " + device + ": ACTIVE on " + netdev);
            require(lines, "pass  interface of " + device + ": " + netdev + ", hardware address ");
            require(lines, "pass  address of " + device + ": 192.168.7");
        }
        require(lines, "pass  kubelet socket: ");
        require(lines, "pass  agent: registered and ready");
        if (told.code() > 1) {
            throw new AssertionError("doctor ended with " + told.code() + "\n" + told.out() + told.err());
        }
        try (ZipFile zip = new ZipFile(bundle.toFile())) {
            for (String text : List.of("netlink.txt", "sysfs.txt", "agent-metrics.txt")) {
                try (InputStream stream = zip.getInputStream(zip.getEntry(text))) {
                    require(
                            new String(stream.readAllBytes(), StandardCharsets.UTF_8)
                                    .lines()
                                    .toList(),
                            "erdma_");
                }
            }
        }
        return told.lines().getLast();
    }

    private String doctorNamesTheLinkThatIsDown() {
        agent(BY_EVENTS_ALONE);
        Roce.setLink("erdma_0", false);
        Roce.awaitPort("erdma_0", "DOWN");
        Command.Result told = doctor(List.of());
        Roce.setLink("erdma_0", true);
        Roce.awaitPort("erdma_0", "ACTIVE");
        require(told.lines(), "FAIL  port of erdma_0: DOWN on eth1, which is down");
        require(told.lines(), "next: ip link set eth1 up");
        require(told.lines(), "pass  port of erdma_1: ACTIVE on eth2");
        return endedWith(2, told);
    }

    private String doctorTellsOfExclusiveMode() {
        Roce.setNamespaceMode("exclusive");
        Command.Result told = doctor(List.of(), "--probe-address=");
        Roce.setNamespaceMode("shared");
        require(told.lines(), "FAIL  RDMA namespace mode: exclusive");
        require(told.lines(), "next: rdma system set netns shared");
        return endedWith(2, told);
    }

    private String doctorLooksFromThePodsSide() {
        String pod = node.project().resolve("e2e/pod.sh").toString();
        Command.Result well = doctor(List.of(pod, "erdma_1"), "--kubelet-root-dir=/nonexistent");
        Path granted = Roce.uverbs("erdma_1");
        require(well.lines(), "The pod's side: /dev/infiniband has " + granted.getFileName() + " of the node's ");
        require(well.lines(), "pass  granted devices: erdma_1 (" + granted + ")");
        require(well.lines(), "pass  port of erdma_1: ACTIVE");
        require(well.lines(), "pass  NCCL_IB_GID_INDEX of erdma_1: not set");
        if (well.out().contains("kubelet socket") || well.out().contains("of erdma_0")) {
            throw new AssertionError("not a pod's concern:\n" + well.out());
        }
        endedWith(0, well);

        // The kernel gives soft-RoCE its link-local GID first, then that of its IPv4 address.
        Command.Result wrong =
                doctor(List.of("env", "NCCL_IB_GID_INDEX=0", pod, "erdma_1"), "--kubelet-root-dir=/nonexistent");
        require(wrong.lines(), "FAIL  NCCL_IB_GID_INDEX of erdma_1: 0 names a link-local GID");
        require(wrong.lines(), "or set it to 1 (RoCE v2 ::ffff:192.168.72.2)");
        return endedWith(2, wrong);
    }

    private static String endedWith(int code, Command.Result result) {
        if (result.code() != code) {
            throw new AssertionError("doctor ended with " + result.code() + "\n" + result.out() + result.err());
        }
        return result.lines().getLast();
    }

    /** @param before a program that changes the process first, with its arguments */
    private Command.Result doctor(List<String> before, String... options) {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(
                node.launcher().toString(),
                "doctor",
                "--device-selector=driver=rdma_rxe",
                "--kubelet-root-dir=" + node.kubeletRoot()));
        command.addAll(List.of(options));
        return Command.run(command, Duration.ofMinutes(2));
    }

    // ---- the agent and the node

    /** The agent with these settings: the one that runs, or else one that has begun to offer both devices. */
    private AgentProcess agent(List<String> options) {
        Optional<AgentProcess> fitting = running.filter(agent ->
                        agent.options().equals(options) && agent.process().isAlive())
                .map(RunningAgent::process);
        if (fitting.isPresent()) {
            return fitting.get();
        }
        endAgent();
        int from = node.kubelet().messages().size();
        AgentProcess agent = start(options);
        node.awaitShares(from, BOTH);
        return agent;
    }

    private DriverPromises.Agents agents() {
        return new DriverPromises.Agents() {
            @Override
            public AgentProcess start(List<String> options) {
                endAgent();
                return LabSuite.this.start(options);
            }

            @Override
            public void end() {
                endAgent();
            }
        };
    }

    private AgentProcess start(List<String> options, String... before) {
        List<String> command = new ArrayList<>(List.of(before));
        command.addAll(node.agentCommand(options));
        started++;
        AgentProcess agent = node.startAgent("agent-" + started + ".log", command);
        running = Optional.of(new RunningAgent(agent, options));
        return agent;
    }

    private void endAgent() {
        running.filter(agent -> agent.process().isAlive())
                .ifPresent(agent -> agent.process().terminate(STOP_LIMIT));
        running = Optional.empty();
    }

    private static void awaitReady(int status) {
        try (HttpClient client = HttpClient.newHttpClient()) {
            Await.until("/readyz answers " + status, Node.PATIENCE, () -> {
                try {
                    return client.send(HttpRequest.newBuilder(READY).build(), HttpResponse.BodyHandlers.discarding())
                                    .statusCode()
                            == status;
                } catch (IOException e) {
                    // It does not listen yet.
                    return false;
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("interrupted", e);
                }
            });
        }
    }

    /** Lets time pass in which nothing changes: what a change needs before it to count as news and not as flapping. */
    private static void pause(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    /** After a broken promise: both devices, links up, shared. */
    private void restore() {
        Command.run(List.of("rdma", "system", "set", "netns", "shared"));
        Command.run(List.of("rmmod", "erdma"));
        Command.run(List.of("modprobe", "rdma_rxe"));
        Command.run(List.of("modprobe", "rdma_ucm"));
        Command.run(List.of("rdma", "dev", "set", "roce_9", "name", "erdma_1"));
        for (String device : List.of("erdma_0", "erdma_1")) {
            Command.run(List.of("ip", "link", "set", Roce.netdevOf(device), "up"));
            Command.run(List.of("rdma", "link", "add", device, "type", "rxe", "netdev", Roce.netdevOf(device)));
        }
        System.out.println("# logs of the agents: " + out);
    }
}
