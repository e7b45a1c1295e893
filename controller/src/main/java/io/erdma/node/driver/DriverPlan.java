package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;

/**
 * What to do so that the driver runs in the preferred mode: pure, and printed before it is done.
 *
 * @param mode the preferred one, or what the node decided
 * @param companions modules to load afterwards where they can be; that they cannot is no fault
 */
public record DriverPlan(DriverMode mode, Action action, List<String> companions) {
    /** The module's parameter that makes the mode. */
    static final String COMPAT_MODE = "compat_mode";

    /** What to do about the module itself. */
    public sealed interface Action {
        /** All is as it should be, or there is nothing that could be done about it. */
        record Nothing(String reason) implements Action {
            public Nothing {
                requireNonNull(reason, "reason is null");
            }
        }

        /** @param compatMode absent: the module has no such parameter, so it is loaded as it is */
        record Load(Optional<Boolean> compatMode) implements Action {
            public Load {
                requireNonNull(compatMode, "compatMode is null");
            }
        }

        /** Unload and load again; see {@link Step} for the order. */
        record Switch(DriverMode from, DriverMode to) implements Action {
            public Switch {
                requireNonNull(from, "from is null");
                requireNonNull(to, "to is null");
            }

            /** All of them, in order; after a failure, the last one is done all the same. */
            public List<Step> steps() {
                return List.of(Step.values());
            }
        }

        /** Wanted and possible, but not now. */
        record Pending(String reason) implements Action {
            public Pending {
                requireNonNull(reason, "reason is null");
            }
        }

        /** The driver has to be installed first. */
        record Install() implements Action {}

        /** Wanted, and not in our power: what the operator has to do. */
        record Blocked(String reason) implements Action {
            public Blocked {
                requireNonNull(reason, "reason is null");
            }
        }
    }

    /** What a switch is made of. */
    public enum Step {
        /** Tell the kubelet that no share can be used, and close our own contexts. */
        SUSPEND,
        /** Somebody may have come between the look that made the plan and the kubelet's knowing better. */
        LOOK_AGAIN,
        UNLOAD,
        LOAD,
        /** modprobe reports success also where it changed nothing. */
        VERIFY,
        AWAIT_DEVICES,
        RESUME
    }

    public DriverPlan {
        requireNonNull(mode, "mode is null");
        requireNonNull(action, "action is null");
        companions = List.copyOf(companions);
    }

    /**
     * @param preference absent: the node decides
     * @param install whether a missing driver may be installed
     */
    public static DriverPlan of(Optional<DriverMode> preference, DriverFacts facts, boolean install) {
        DriverMode mode = DriverMode.of(preference, facts.gpuDriver());
        Action action = action(mode, facts, install);
        return new DriverPlan(mode, action, companions(mode, action, facts));
    }

    private static Action action(DriverMode mode, DriverFacts facts, boolean install) {
        return switch (facts.module()) {
            case DriverModule.Changing changing ->
                new Action.Pending("somebody else is " + (changing.state().equals("going") ? "unloading" : "loading")
                        + " the module erdma");
            case DriverModule.Loaded loaded -> forLoaded(mode, loaded, facts);
            case DriverModule.Absent _ -> forAbsent(mode, facts, install);
        };
    }

    private static Action forLoaded(DriverMode mode, DriverModule.Loaded loaded, DriverFacts facts) {
        if (loaded.compatMode().isEmpty()) {
            return new Action.Nothing("the mode is unknown: the loaded erdma has no parameter compat_mode that could be"
                    + " read, as the kernel's own, so there is nothing to switch");
        }
        boolean inForce = loaded.compatMode().get();
        if (inForce == mode.compatMode()) {
            return new Action.Nothing("erdma runs in mode " + mode);
        }
        DriverMode from = inForce ? DriverMode.COMPAT : DriverMode.DEFAULT;
        String change = "from " + from + " to " + mode;
        if (!loaded.unloadable()) {
            return new Action.Blocked("cannot switch " + change + ": erdma is built into this kernel; set "
                    + COMPAT_MODE + " on the kernel's command line (erdma.compat_mode=" + parameter(mode) + ")");
        }
        if (facts.cannotChange().isPresent()) {
            return new Action.Blocked(
                    "cannot switch " + change + ": " + facts.cannotChange().get());
        }
        if (!loaded.holders().isEmpty()) {
            return new Action.Pending("switch " + change + " pending: these modules stand on erdma: "
                    + String.join(", ", loaded.holders()));
        }
        if (facts.users().inUse()) {
            return new Action.Pending(
                    "switch " + change + " pending: " + facts.users().summary());
        }
        return new Action.Switch(from, mode);
    }

    private static Action forAbsent(DriverMode mode, DriverFacts facts, boolean install) {
        if (facts.pciFunctions() == 0) {
            return new Action.Nothing("no eRDMA function (PCI 1ded:107f) on this node: attach an ERI to the instance");
        }
        if (facts.cannotChange().isPresent()) {
            return new Action.Blocked(
                    "cannot load erdma: " + facts.cannotChange().get());
        }
        return switch (facts.file()) {
            case ModuleFile.Found found ->
                new Action.Load(found.choosesMode() ? Optional.of(mode.compatMode()) : Optional.empty());
            case ModuleFile.Unknown unknown ->
                new Action.Blocked("cannot tell whether the host has a module erdma: " + unknown.reason());
            case ModuleFile.Missing _ -> forMissing(facts, install);
        };
    }

    private static Action forMissing(DriverFacts facts, boolean install) {
        String missing = "the host has no module erdma for its kernel " + facts.kernel();
        if (facts.containerOptimised()) {
            return new Action.Blocked(
                    missing + ": on this container-optimised system it comes with the package of kernel"
                            + " modules; install that");
        }
        return install
                ? new Action.Install()
                : new Action.Blocked(
                        missing + ": install the eRDMA driver, or let the agent do it with --install-driver");
    }

    private static List<String> companions(DriverMode mode, Action action, DriverFacts facts) {
        if (facts.cannotChange().isPresent()) {
            return List.of();
        }
        boolean driverWillBeThere = switch (action) {
            case Action.Load _, Action.Switch _, Action.Install _ -> true;
            case Action.Nothing _, Action.Pending _, Action.Blocked _ -> facts.module() instanceof DriverModule.Loaded;
        };
        if (!driverWillBeThere) {
            return List.of();
        }
        return mode.companions().stream()
                .filter(module -> !facts.companions().contains(module))
                .filter(module -> !module.equals("nvidia_peermem") || facts.gpuDriver())
                .toList();
    }

    /** As the kernel writes booleans. */
    static String parameter(DriverMode mode) {
        return mode.compatMode() ? "Y" : "N";
    }

    /** Whether there is something to be done now. */
    public boolean isDue() {
        return switch (action) {
            case Action.Load _, Action.Switch _, Action.Install _ -> true;
            case Action.Nothing _, Action.Pending _, Action.Blocked _ -> false;
        };
    }

    /** One line for the log and for the command line. */
    public String describe() {
        return switch (action) {
            case Action.Nothing nothing -> nothing.reason();
            case Action.Load load ->
                "load erdma"
                        + load.compatMode()
                                .map(on -> " " + COMPAT_MODE + "=" + (on ? "Y" : "N") + " (mode " + mode + ")")
                                .orElse(", which has no mode to choose");
            case Action.Switch change -> "switch erdma from mode " + change.from() + " to " + change.to();
            case Action.Pending pending -> pending.reason();
            case Action.Install _ -> "install the erdma driver for mode " + mode;
            case Action.Blocked blocked -> blocked.reason();
        };
    }
}
