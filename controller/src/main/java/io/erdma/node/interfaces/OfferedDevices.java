package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import io.erdma.device.RdmaDevice;
import io.erdma.health.DeviceChoice;
import io.erdma.netlink.MacAddress;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Which of the node's devices are offered to pods, as its source of interfaces has it. */
public sealed interface OfferedDevices extends DeviceChoice {
    /** What the documents write where an instance's own id belongs. */
    String PLACEHOLDER = "i-XXX";

    /** For the log, in a few words. */
    String describe();

    /** Local discovery without rules. */
    record Everything() implements OfferedDevices {
        @Override
        public String describe() {
            return "all that the node has";
        }

        @Override
        public Optional<String> whyNot(RdmaDevice device) {
            return Optional.empty();
        }
    }

    /** Local discovery with a rule for this instance. */
    record ByRules(ExposedRules.Devices devices) implements OfferedDevices {
        public ByRules {
            requireNonNull(devices, "devices is null");
        }

        @Override
        public String describe() {
            return devices.toString();
        }

        @Override
        public Optional<String> whyNot(RdmaDevice device) {
            return devices.contains(device.name())
                    ? Optional.empty()
                    : Optional.of("--exposed-local-eris offers only " + devices + " on this node");
        }
    }

    /** What the node's ERdmaDevice object names. */
    record ByMacs(Set<MacAddress> macs) implements OfferedDevices {
        public ByMacs {
            macs = Set.copyOf(macs);
        }

        @Override
        public String describe() {
            return macs.stream().map(MacAddress::toString).sorted().collect(Collectors.joining(", "));
        }

        @Override
        public Optional<String> whyNot(RdmaDevice device) {
            Set<MacAddress> own = DeviceMacs.of(device);
            if (own.isEmpty()) {
                return Optional.of(
                        "its MAC address is not known, so it cannot be found in this node's ERdmaDevice object");
            }
            return Collections.disjoint(own, macs)
                    ? Optional.of("this node's ERdmaDevice object does not name its MAC address "
                            + own.iterator().next())
                    : Optional.empty();
        }
    }

    /** @param reason one line: what is missing, and where it would come from */
    record Nothing(String reason) implements OfferedDevices {
        public Nothing {
            requireNonNull(reason, "reason is null");
        }

        @Override
        public String describe() {
            return "none: " + reason;
        }

        @Override
        public Optional<String> whyNot(RdmaDevice device) {
            return Optional.of(reason);
        }
    }

    /**
     * What local discovery offers. While any rule names an instance and this one is unknown, that is nothing: offering
     * what the rules for all instances say would be taken back as soon as it is known.
     */
    static OfferedDevices byRules(ExposedRules rules, InstanceIdentity identity) {
        if (rules.isEmpty()) {
            return new Everything();
        }
        if (!rules.nameInstances()) {
            return rules.forAnyInstance().<OfferedDevices>map(ByRules::new).orElseGet(Everything::new);
        }
        return switch (identity) {
            case InstanceIdentity.Unknown(String reason) ->
                new Nothing(
                        "--exposed-local-eris names instances, and which one this node is, is not known: " + reason);
            case InstanceIdentity.Known(String id, String _) ->
                rules.forInstance(id)
                        .<OfferedDevices>map(ByRules::new)
                        .orElseGet(() -> new Nothing(noRuleFor(id, rules)));
        };
    }

    private static String noRuleFor(String id, ExposedRules rules) {
        boolean placeholder =
                rules.rules().stream().anyMatch(rule -> rule.instance().equals(Optional.of(PLACEHOLDER)));
        return "no rule of --exposed-local-eris is for this node's instance " + id
                + (placeholder ? "; " + PLACEHOLDER + " in a rule stands for an instance's own id" : "");
    }
}
