package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import io.erdma.pods.FallbackCause.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** What on this node can keep a container from using its device: only what was found, the likely first. */
public final class FallbackCauses {
    /** From here on {@code ulimit -l} has held up nobody: the kernel's default is 64 KiB, systemd's 8 MiB. */
    private static final long ENOUGH_LOCKED_MEMORY = 1L << 30;

    private static final String ON = "1";

    /**
     * The node, as far as it concerns the container.
     *
     * @param iwarp whether the driver is in iWARP mode; absent when unknown
     * @param portActive of each device granted; a device of unknown state is left out
     * @param granted the devices that the container may use
     */
    public record NodeState(Optional<Boolean> iwarp, Map<String, Boolean> portActive, List<String> granted) {
        public NodeState {
            requireNonNull(iwarp, "iwarp is null");
            portActive = Map.copyOf(portActive);
            granted = List.copyOf(granted);
        }

        /**
         * @param held devices of which the container holds shares
         * @param usable those that it may use, which are more where each pod gets all
         */
        static NodeState of(List<Offered> devices, List<String> held, List<String> usable) {
            Map<String, Boolean> active = new TreeMap<>();
            boolean iwarp = false;
            for (Offered device : devices) {
                if (held.contains(device.device())) {
                    device.portActive().ifPresent(yes -> active.put(device.device(), yes));
                    iwarp |= device.iwarp();
                }
            }
            return new NodeState(Optional.of(iwarp), active, usable);
        }
    }

    /**
     * A device of the node.
     *
     * @param iwarp whether it is in iWARP mode
     * @param portActive absent when unknown
     */
    public record Offered(String device, boolean iwarp, Optional<Boolean> portActive) {
        public Offered {
            requireNonNull(device, "device is null");
            requireNonNull(portActive, "portActive is null");
        }
    }

    private FallbackCauses() {}

    /** @param process the container's first process */
    public static List<FallbackCause> of(NodeState node, ProcessLimits process) {
        List<FallbackCause> causes = new ArrayList<>();
        if (node.iwarp().orElse(false)) {
            causes.add(new FallbackCause(
                    Kind.IWARP_MODE,
                    "the driver is in iWARP mode (compat_mode N), where NCCL's IB transport cannot connect",
                    "set preferDriver to compat or ofed"));
        }
        if (process.provider().isPresent() && !process.provider().get()) {
            causes.add(new FallbackCause(
                    Kind.PROVIDER_MISSING,
                    "the image has no liberdma-rdmav*.so in a usual directory",
                    "install ibverbs-providers 43 or newer, or Alibaba Cloud's package, in the image"));
        }
        Map<String, String> variables = process.variables().orElse(Map.of());
        if (variables.getOrDefault("NCCL_IB_DISABLE", "").strip().equals(ON)) {
            causes.add(new FallbackCause(
                    Kind.NCCL_IB_DISABLE, "NCCL_IB_DISABLE=1 is set in the container", "remove the variable"));
        }
        String hca = variables.getOrDefault("NCCL_IB_HCA", "").strip();
        if (!hca.isEmpty()
                && !node.granted().isEmpty()
                && node.granted().stream().noneMatch(name -> chooses(hca, name))) {
            causes.add(new FallbackCause(
                    Kind.NCCL_IB_HCA,
                    "NCCL_IB_HCA=" + hca + " chooses none of the container's devices ("
                            + String.join(", ", node.granted()) + ")",
                    "remove the variable, or name a device that the container has"));
        }
        lockedMemory(process).ifPresent(causes::add);
        new TreeMap<>(node.portActive()).forEach((device, active) -> {
            if (!active) {
                causes.add(new FallbackCause(
                        Kind.PORT_DOWN,
                        "port 1 of " + device + " is not ACTIVE, and NCCL skips such a device",
                        "see why with 'erdma devinfo --explain -d " + device + "'"));
            }
        });
        return causes;
    }

    private static Optional<FallbackCause> lockedMemory(ProcessLimits process) {
        OptionalLong limit =
                process.lockedMemory().map(ProcessLimits.LockedMemory::bytes).orElse(OptionalLong.empty());
        if (process.mayLockMemory() || limit.isEmpty() || limit.getAsLong() >= ENOUGH_LOCKED_MEMORY) {
            return Optional.empty();
        }
        return Optional.of(new FallbackCause(
                Kind.LOCKED_MEMORY,
                "the process may lock " + limit.getAsLong() + " bytes of memory only",
                "set LimitMEMLOCK=infinity for the container runtime, or give the container IPC_LOCK"));
    }

    /**
     * As NCCL reads its variable: a list of prefixes, or of whole names behind {@code =}, each perhaps with a port; and
     * all but those behind {@code ^}.
     */
    static boolean chooses(String value, String device) {
        String list = value;
        boolean except = list.startsWith("^");
        if (except) {
            list = list.substring(1);
        }
        boolean exact = list.startsWith("=");
        if (exact) {
            list = list.substring(1);
        }
        for (String entry : list.split(",", -1)) {
            String name = entry.split(":", 2)[0].strip();
            if (!name.isEmpty() && (exact ? device.equals(name) : device.startsWith(name))) {
                return !except;
            }
        }
        return except;
    }
}
