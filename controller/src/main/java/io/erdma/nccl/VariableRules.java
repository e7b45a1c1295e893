package io.erdma.nccl;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What to think of an NCCL variable. Whether it is one for the system or for debugging is as NVIDIA's guide to NCCL sorts
 * them (user guide, environment variables); ranges are those of the fields in the verbs structures that NCCL fills.
 */
public final class VariableRules {
    /** Where NVIDIA's guide lists a variable. */
    public enum Kind {
        /** Safe in production. */
        SYSTEM,
        /** For debugging, to be removed. */
        DEBUG,
        /** Not of those that concern the network. */
        OTHER
    }

    /** What to think of a value; without a severity nothing is wrong with it. */
    public record Judgement(Kind kind, Optional<Severity> severity, String meaning) {}

    private static final Set<String> SYSTEM = Set.of(
            "NCCL_IB_HCA",
            "NCCL_IB_GID_INDEX",
            "NCCL_IB_ADDR_RANGE",
            "NCCL_IB_ADDR_FAMILY",
            "NCCL_IB_ROCE_VERSION_NUM",
            "NCCL_IB_TIMEOUT",
            "NCCL_IB_RETRY_CNT",
            "NCCL_IB_SL",
            "NCCL_IB_TC",
            "NCCL_IB_RETURN_ASYNC_EVENTS",
            "NCCL_SOCKET_IFNAME",
            "NCCL_SOCKET_FAMILY",
            "NCCL_NET",
            "NCCL_NET_PLUGIN",
            "NCCL_CROSS_NIC",
            "NCCL_TOPO_FILE",
            "NCCL_DEBUG",
            "NCCL_DEBUG_SUBSYS",
            "NCCL_DEBUG_FILE",
            "NCCL_CONF_FILE");

    private static final Set<String> DEBUG = Set.of(
            "NCCL_NET_GDR_LEVEL",
            "NCCL_NET_GDR_READ",
            "NCCL_P2P_LEVEL",
            "NCCL_P2P_DISABLE",
            "NCCL_SHM_DISABLE",
            "NCCL_ALGO",
            "NCCL_PROTO",
            "NCCL_BUFFSIZE",
            "NCCL_IB_DISABLE",
            "NCCL_IB_QPS_PER_CONNECTION",
            "NCCL_IB_PCI_RELAXED_ORDERING",
            "NCCL_IB_MERGE_NICS",
            "NCCL_DMABUF_ENABLE",
            "NCCL_GRAPH_FILE");

    private static final String FOR_DEBUGGING = "for debugging; leave it unset in production";

    /** The retry_cnt of a queue pair has three bits. */
    private static final int HIGHEST_RETRY = 7;

    /** Its timeout has five; each step doubles 4.096 µs, 0 waits for ever. */
    private static final int HIGHEST_TIMEOUT = 31;

    private static final double TIMEOUT_STEP_SECONDS = 4.096e-6;

    /** Slots of an eRDMA device's GID table in compat mode. */
    private static final int GID_SLOTS = 16;

    private static final Map<String, Integer> HIGHEST = new HashMap<>();

    static {
        HIGHEST.put("NCCL_IB_SL", 15);
        HIGHEST.put("NCCL_IB_TC", 255);
    }

    private VariableRules() {}

    /**
     * @param value as it is in the environment
     * @param expected which devices the process has
     */
    public static Judgement judge(String name, String value, Expectation expected) {
        return switch (name) {
            case "NCCL_IB_RETRY_CNT" -> retries(value);
            case "NCCL_IB_TIMEOUT" -> timeout(value);
            case "NCCL_NET_GDR_LEVEL" -> gpuDirectLevel(value);
            case "NCCL_IB_DISABLE" ->
                isZero(value)
                        ? debug(Severity.NOTE, FOR_DEBUGGING)
                        : debug(Severity.FAILURE, "switches the verbs transport off, so NCCL uses TCP; unset it");
            case "NCCL_IB_HCA" -> hca(value, expected);
            case "NCCL_IB_GID_INDEX" -> gidIndex(value);
            case "NCCL_NET" -> network(value);
            case "NCCL_NET_PLUGIN" ->
                value.isEmpty() || value.equals("none")
                        ? system()
                        : system(
                                Severity.WARNING,
                                "a network plugin takes the place of NCCL's verbs transport; use none");
            case "NCCL_SOCKET_IFNAME" ->
                value.equals("lo") || value.equals("=lo")
                        ? system(Severity.WARNING, "lo reaches the own host only; use the pod's interface, mostly eth0")
                        : system();
            case "NCCL_DMABUF_ENABLE" ->
                isZero(value)
                        ? debug(Severity.WARNING, "GPUDirect by dma-buf is off, so it needs nvidia_peermem; unset it")
                        : debug(Severity.NOTE, FOR_DEBUGGING);
            case "NCCL_IB_QPS_PER_CONNECTION" ->
                debug(
                        Severity.WARNING,
                        "multiplies the queue pairs, of which the instance has a quota; " + FOR_DEBUGGING);
            case "NCCL_IB_ROCE_VERSION_NUM" ->
                value.equals("2") ? system() : system(Severity.FAILURE, "eRDMA has only RoCE v2; use 2 or unset it");
            case "NCCL_IB_SL", "NCCL_IB_TC" -> range(value, HIGHEST.get(name));
            default ->
                SYSTEM.contains(name)
                        ? system()
                        : DEBUG.contains(name)
                                ? debug(Severity.WARNING, FOR_DEBUGGING)
                                : new Judgement(Kind.OTHER, Optional.empty(), "");
        };
    }

    private static Judgement system() {
        return new Judgement(Kind.SYSTEM, Optional.empty(), "");
    }

    private static Judgement system(Severity severity, String meaning) {
        return new Judgement(Kind.SYSTEM, Optional.of(severity), meaning);
    }

    private static Judgement debug(Severity severity, String meaning) {
        return new Judgement(Kind.DEBUG, Optional.of(severity), meaning);
    }

    /** NCCL reads numbers as strtoll does with base 0, so 0x7 is one; absent for anything else. */
    private static Optional<Long> number(String value) {
        try {
            return Optional.of(Long.decode(value.strip()));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static boolean isZero(String value) {
        return number(value).filter(number -> number == 0).isPresent();
    }

    private static boolean isIn(Optional<Long> number, long lowest, long highest) {
        return number.filter(known -> known >= lowest && known <= highest).isPresent();
    }

    private static Judgement range(String value, int highest) {
        return isIn(number(value), 0, highest)
                ? system()
                : system(Severity.FAILURE, "out of range: 0 to " + highest + "; leave it unset");
    }

    private static Judgement retries(String value) {
        return isIn(number(value), 0, HIGHEST_RETRY)
                ? system()
                : system(
                        Severity.FAILURE,
                        "out of range: the field has three bits, 0 to " + HIGHEST_RETRY + "; use " + HIGHEST_RETRY);
    }

    private static Judgement timeout(String value) {
        Optional<Long> number = number(value);
        if (!isIn(number, 0, HIGHEST_TIMEOUT)) {
            return system(
                    Severity.FAILURE, "out of range: the field has five bits, 1 to " + HIGHEST_TIMEOUT + "; use 23");
        }
        long exponent = number.orElseThrow();
        if (exponent == 0) {
            return system(Severity.WARNING, "0 waits for ever, so a dead peer is never noticed; use 23");
        }
        double seconds = TIMEOUT_STEP_SECONDS * (1L << exponent);
        return new Judgement(Kind.SYSTEM, Optional.empty(), String.format(Locale.ROOT, "%.3g s for each try", seconds));
    }

    /** Old numbers are 0 to 4, in the order of the names; more counts as SYS. */
    private static Judgement gpuDirectLevel(String value) {
        Optional<Long> number = number(value);
        boolean local =
                value.equals("LOC") || number.filter(level -> level == 0).isPresent();
        boolean oneSwitch =
                value.equals("PIX") || number.filter(level -> level == 1).isPresent();
        if (local) {
            return debug(Severity.WARNING, "LOC: never GPUDirect; unset it, or use SYS");
        }
        if (oneSwitch) {
            return debug(
                    Severity.WARNING,
                    "PIX: GPUDirect only where GPU and device share one PCI switch, which disables it on many hosts;"
                            + " unset it, or use SYS");
        }
        boolean known = Set.of("PXB", "PHB", "SYS").contains(value)
                || number.filter(level -> level >= 0).isPresent();
        return known
                ? debug(Severity.NOTE, FOR_DEBUGGING)
                : debug(Severity.FAILURE, "unknown level; use LOC, PIX, PXB, PHB or SYS, or unset it");
    }

    private static Judgement network(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "ib" -> system();
            case "socket" -> system(Severity.FAILURE, "demands TCP; use IB, or unset it");
            default -> system(Severity.WARNING, "demands another network than NCCL's verbs transport, which is IB");
        };
    }

    private static Judgement gidIndex(String value) {
        Optional<Long> number = number(value);
        if (!isIn(number, -1, GID_SLOTS - 1)) {
            return system(
                    Severity.FAILURE,
                    "out of range: eRDMA has " + GID_SLOTS + " GIDs, 0 to " + (GID_SLOTS - 1)
                            + "; leave it unset (NCCL 2.21 and newer choose by themselves)");
        }
        return number.orElseThrow() == -1
                ? system()
                : system(
                        Severity.WARNING,
                        "the right index differs between devices, even of one host; leave it unset (NCCL 2.21 and newer"
                                + " choose by themselves)");
    }

    /** {@code [^][=]name[:port],…}; without "=" a name is the beginning of one. */
    private static Judgement hca(String value, Expectation expected) {
        boolean excludes = value.startsWith("^");
        String list = excludes ? value.substring(1) : value;
        boolean exact = list.startsWith("=");
        if (exact) {
            list = list.substring(1);
        }
        boolean any = false;
        boolean wrongPort = false;
        boolean ambiguous = false;
        for (String entry : list.split(",", -1)) {
            String[] parts = entry.strip().split(":", -1);
            String name = parts[0];
            if (name.isEmpty() || !mayBeErdma(name, exact, expected)) {
                continue;
            }
            any = true;
            wrongPort |= parts.length > 1
                    && !parts[1].isEmpty()
                    && !number(parts[1]).filter(port -> port == 1 || port == -1).isPresent();
            ambiguous |= !exact && Character.isDigit(name.charAt(name.length() - 1));
        }
        if (excludes) {
            return any ? system(Severity.FAILURE, "excludes eRDMA devices; leave it unset or use erdma") : system();
        }
        if (!any) {
            return system(Severity.FAILURE, "names no eRDMA device, so NCCL can't use one; use erdma");
        }
        if (wrongPort) {
            return system(Severity.FAILURE, "an eRDMA device has only port 1");
        }
        return ambiguous
                ? new Judgement(
                        Kind.SYSTEM,
                        Optional.empty(),
                        "a beginning of names: erdma_1 is also erdma_10; = before it makes it exact")
                : system();
    }

    private static boolean mayBeErdma(String name, boolean exact, Expectation expected) {
        if (!expected.devices().isEmpty()) {
            return expected.devices().stream()
                    .anyMatch(device -> exact ? device.equals(name) : device.startsWith(name));
        }
        return name.startsWith("erdma_") || (!exact && "erdma_".startsWith(name));
    }
}
