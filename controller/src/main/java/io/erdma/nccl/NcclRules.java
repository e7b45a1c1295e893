package io.erdma.nccl;

import static java.util.Objects.requireNonNull;

import io.erdma.nccl.NcclProcess.Proofs;
import io.erdma.nccl.NcclVerdict.Finding;
import io.erdma.nccl.NcclVerdict.GpuDirect;
import io.erdma.nccl.NcclVerdict.Group;
import io.erdma.nccl.NcclVerdict.JudgedVariable;
import io.erdma.nccl.NcclVerdict.Traffic;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Judges a log. A rank chose eRDMA when NCCL named the device with its index ({@code [0]erdma_0:1/RoCE}; {@code Using [RO]}
 * is none), said {@code Using network IB}, and no channel goes another way. That link is not InfiniBand is all that
 * {@code /RoCE} means: a device in iWARP mode is printed so, too, and the log can't tell the two apart.
 */
public final class NcclRules {
    /** That crash in their network start on eRDMA. */
    private static final Set<String> CRASHING = Set.of("2.28.7", "2.28.9");

    /** Each costs a set of ranks; those beyond are grouped without their devices' and networks' names. */
    private static final int MOST_GROUPS = 512;

    private static final String GET_LINES = "Run the job with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET,ENV.";

    private final NcclLog log;
    private final Expectation expected;
    private final RankNames names;
    private final List<Reason> reasons;

    private NcclRules(NcclLog log, Expectation expected) {
        this.log = log;
        this.expected = expected;
        this.names = new RankNames(log.processes());
        this.reasons = log.processes().stream().map(this::reason).toList();
    }

    public static NcclVerdict judge(NcclLog log, Expectation expected) {
        requireNonNull(log, "log is null");
        requireNonNull(expected, "expected is null");
        return new NcclRules(log, expected).verdict();
    }

    private NcclVerdict verdict() {
        Outcome outcome = outcome();
        Optional<RankNames.Names> failing = outcome == Outcome.ERDMA
                ? Optional.empty()
                : ranks(process -> reason(process).outcome() == outcome);
        return new NcclVerdict(
                outcome,
                log.processes().stream().mapToInt(RankNames::count).sum(),
                log.processes().stream().mapToInt(NcclProcess::ranksInJob).max().orElse(0),
                failing,
                groups(),
                findings(),
                variables());
    }

    private Outcome outcome() {
        if (reasons.stream().anyMatch(reason -> reason.outcome() == Outcome.NOT_ERDMA)) {
            return Outcome.NOT_ERDMA;
        }
        boolean all = !reasons.isEmpty() && log.otherProcesses() == 0;
        return all && reasons.stream().allMatch(reason -> reason.outcome() == Outcome.ERDMA)
                ? Outcome.ERDMA
                : Outcome.UNKNOWN;
    }

    private Reason reason(NcclProcess process) {
        if (process.networks().contains("Socket")) {
            return Reason.TCP;
        }
        if (process.networks().stream().anyMatch(network -> !network.equals("IB"))) {
            return Reason.OTHER_PLUGIN;
        }
        if (process.routes().socket()) {
            return Reason.SOCKET_CHANNEL;
        }
        if (process.noNetwork()) {
            return Reason.NO_NETWORK;
        }
        boolean verbs = !process.networks().isEmpty() || process.routes().ib();
        if (process.devices().isEmpty()) {
            return process.noDevice() ? Reason.NO_DEVICE : verbs ? Reason.DEVICE_UNNAMED : Reason.UNDECIDED;
        }
        if (process.devices().stream().noneMatch(device -> expected.isErdma(device.name()))) {
            return Reason.OTHER_DEVICE;
        }
        if (usesOtherDevice(process)) {
            return Reason.OTHER_DEVICE_CHANNEL;
        }
        if (expected.mode().filter(mode -> mode == Mode.IWARP).isPresent()) {
            return Reason.IWARP;
        }
        return verbs ? Reason.SELECTED : Reason.NETWORK_UNNAMED;
    }

    /** An index that NCCL did not list is a device that it made of several; nothing is known of it. */
    private boolean usesOtherDevice(NcclProcess process) {
        Map<Integer, Boolean> erdma = process.devices().stream()
                .collect(Collectors.toMap(
                        IbDevice::index, device -> expected.isErdma(device.name()), Boolean::logicalOr));
        return BitSet.valueOf(new long[] {process.routes().ibIndexes()}).stream()
                .anyMatch(index -> !erdma.getOrDefault(index, true));
    }

    private static Traffic traffic(NcclProcess process) {
        if (process.routes().socket()) {
            return Traffic.TCP;
        }
        if (process.routes().ib()) {
            return Traffic.VERBS;
        }
        return process.routes().local() ? Traffic.LOCAL : Traffic.UNSEEN;
    }

    private static GpuDirect gpuDirect(NcclProcess process) {
        if (process.routes().gdr()) {
            return process.routes().staged() ? GpuDirect.PARTLY : GpuDirect.USED;
        }
        if (process.routes().staged()) {
            return GpuDirect.UNUSED;
        }
        if (process.networks().equals(Set.of("Socket"))) {
            return GpuDirect.UNUSED;
        }
        return process.gdrHca()
                .map(enabled -> enabled ? GpuDirect.ENABLED : GpuDirect.DISABLED)
                .orElse(GpuDirect.UNKNOWN);
    }

    private static Optional<Evidence> evidence(NcclProcess process, Reason reason) {
        Proofs proofs = process.proofs();
        return switch (reason) {
            case TCP, OTHER_PLUGIN -> proofs.network();
            case SOCKET_CHANNEL -> proofs.socketChannel();
            case NO_NETWORK -> proofs.noNetwork();
            case NO_DEVICE -> proofs.noDevice();
            case OTHER_DEVICE_CHANNEL -> proofs.ibChannel();
            case DEVICE_UNNAMED -> proofs.network().or(proofs::ibChannel);
            case SELECTED, OTHER_DEVICE, IWARP, NETWORK_UNNAMED -> proofs.devices();
            case UNDECIDED -> Optional.empty();
        };
    }

    private List<Group> groups() {
        record Key(Reason reason, Set<String> networks, List<IbDevice> devices, Traffic traffic, GpuDirect gpuDirect) {}
        Map<Key, BitSet> members = new LinkedHashMap<>();
        for (int i = 0; i < reasons.size(); i++) {
            NcclProcess process = log.processes().get(i);
            Key key = new Key(
                    reasons.get(i), process.networks(), process.devices(), traffic(process), gpuDirect(process));
            if (members.size() >= MOST_GROUPS && !members.containsKey(key)) {
                key = new Key(key.reason(), Set.of(), List.of(), key.traffic(), key.gpuDirect());
            }
            members.computeIfAbsent(key, added -> new BitSet()).set(i);
        }
        List<Group> groups = new ArrayList<>();
        members.forEach((key, chosen) -> groups.add(new Group(
                names.of(chosen),
                key.reason(),
                key.networks(),
                key.devices(),
                key.traffic(),
                key.gpuDirect(),
                evidence(log.processes().get(chosen.nextSetBit(0)), key.reason()))));
        groups.sort(Comparator.comparing((Group group) -> switch (group.reason().outcome()) {
            case NOT_ERDMA -> 0;
            case UNKNOWN -> 1;
            case ERDMA -> 2;
        }));
        return groups;
    }

    private Optional<RankNames.Names> ranks(Predicate<NcclProcess> chosen) {
        BitSet places = new BitSet();
        for (int i = 0; i < log.processes().size(); i++) {
            if (chosen.test(log.processes().get(i))) {
                places.set(i);
            }
        }
        return places.isEmpty() ? Optional.empty() : Optional.of(names.of(places));
    }

    private List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        for (Sign sign : Sign.values()) {
            Evidence first = log.signs().get(sign);
            // A plugin that finds none goes before NCCL's own transport, which may find one.
            boolean overtaken = sign == Sign.NO_DEVICE
                    && log.processes().stream()
                            .noneMatch(process ->
                                    process.has(sign) && process.devices().isEmpty());
            if (first != null && !overtaken) {
                findings.add(new Finding(
                        sign.id(),
                        sign.severity(),
                        ranks(process -> process.has(sign)),
                        Optional.of(first),
                        sign.meaning(),
                        sign.cure()));
            }
        }
        if (log.infoLines() == 0) {
            add(findings, "no-info-lines", Severity.WARNING, "The log has no NCCL INFO lines.", GET_LINES);
        }
        aboutErdma(findings);
        aboutTheLog(findings);
        findings.sort(Comparator.comparing(Finding::severity));
        return findings;
    }

    private void aboutErdma(List<Finding> findings) {
        Predicate<NcclProcess> selected = process -> reason(process) == Reason.SELECTED;
        if (expected.mode().isEmpty()) {
            addFor(
                    findings,
                    "mode-unknown",
                    Severity.WARNING,
                    selected,
                    "The driver's mode is not in the log: NCCL prints /RoCE in iWARP mode, too, where it can't connect.",
                    "Say it with --driver-mode, or run this on the node with --device.");
        }
        addFor(
                findings,
                "traffic-not-proven",
                Severity.WARNING,
                selected.and(process -> !process.routes().ib()),
                "Traffic not proven: no channel goes via NET/IB. Ranks of one host talk over P2P or shared memory and never"
                        + " touch the network.",
                "Test with ranks on two nodes and NET among NCCL_DEBUG_SUBSYS; erdma stat on the node shows the bytes.");
        addFor(
                findings,
                "no-gpudirect",
                Severity.WARNING,
                selected.and(process ->
                        process.routes().staged() && !process.routes().gdr()),
                "No GPUDirect: each transfer goes through the host's memory.",
                "On the node: nvidia_peermem loaded, or dma-buf with a recent NVIDIA driver. Leave NCCL_NET_GDR_LEVEL unset"
                        + " or try SYS.");
        addFor(
                findings,
                "other-devices",
                Severity.WARNING,
                selected.and(
                        process -> process.devices().stream().anyMatch(device -> !expected.isErdma(device.name()))),
                "NCCL took other devices besides eRDMA and may use them, too.",
                "Set NCCL_IB_HCA=erdma.");
        Set<String> crashing = log.versions().stream()
                .map(version -> version.split("\\+", 2)[0])
                .filter(CRASHING::contains)
                .collect(Collectors.toCollection(TreeSet::new));
        if (!crashing.isEmpty()) {
            addFor(
                    findings,
                    "crashing-version",
                    Severity.WARNING,
                    process -> process.devices().stream().anyMatch(device -> expected.isErdma(device.name())),
                    "NCCL " + String.join(" and ", crashing) + " is known to crash in its network start on eRDMA.",
                    "Use 2.28.3, 2.29.7 or 2.30.");
        }
    }

    private void aboutTheLog(List<Finding> findings) {
        int ranks = log.processes().stream().mapToInt(RankNames::count).sum();
        int ranksInJob =
                log.processes().stream().mapToInt(NcclProcess::ranksInJob).max().orElse(0);
        if (names.isNumbered() && ranks < ranksInJob) {
            add(
                    findings,
                    "ranks-missing",
                    Severity.NOTE,
                    "The log tells of " + ranks + " of the job's " + ranksInJob + " ranks.",
                    "Look at the other pods' logs as well.");
        }
        if (log.otherProcesses() > 0) {
            add(
                    findings,
                    "too-many-processes",
                    Severity.WARNING,
                    "The log has more than " + ProcessTable.MOST + " processes; " + log.otherProcesses()
                            + " lines of others were left out.",
                    "Give it one job's log.");
        }
        if (log.longLines() > 0) {
            add(
                    findings,
                    "long-lines",
                    Severity.NOTE,
                    "Lines longer than " + LogReader.LONGEST_LINE + " bytes were read only so far: " + log.longLines()
                            + ".",
                    "");
        }
    }

    private static void add(List<Finding> findings, String id, Severity severity, String meaning, String cure) {
        findings.add(new Finding(id, severity, Optional.empty(), Optional.empty(), meaning, cure));
    }

    private void addFor(
            List<Finding> findings,
            String id,
            Severity severity,
            Predicate<NcclProcess> chosen,
            String meaning,
            String cure) {
        ranks(chosen)
                .ifPresent(ranks ->
                        findings.add(new Finding(id, severity, Optional.of(ranks), Optional.empty(), meaning, cure)));
    }

    private List<JudgedVariable> variables() {
        List<JudgedVariable> judged = new ArrayList<>();
        for (NcclVariable variable : log.variables()) {
            VariableRules.Judgement judgement = VariableRules.judge(variable.name(), variable.value(), expected);
            judged.add(new JudgedVariable(
                    variable.name(),
                    variable.value(),
                    judgement.kind(),
                    judgement.severity(),
                    judgement.meaning(),
                    variable.processes().isEmpty() ? Optional.empty() : Optional.of(names.of(variable.processes())),
                    variable.first()));
        }
        return judged;
    }
}
