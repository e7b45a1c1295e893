package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import io.erdma.cluster.crd.ErdmaDeviceSpec;
import io.erdma.cluster.crd.ErdmaDeviceStatus;
import io.erdma.log.Quote;
import io.erdma.netlink.MacAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a node's ERdmaDevice object comes to.
 *
 * @param offered the devices to offer
 * @param interfaces those to look after
 * @param primary the instance's own interface, where the object names it
 * @param jumboFrame whether the instance has jumbo frames
 * @param queuePairs how many each interface may have, where the object tells
 * @param problems entries that are left out, one line each
 */
record AssignedInterfaces(
        OfferedDevices offered,
        List<Candidate> interfaces,
        Optional<MacAddress> primary,
        boolean jumboFrame,
        Map<MacAddress, Integer> queuePairs,
        List<String> problems) {
    AssignedInterfaces {
        requireNonNull(offered, "offered is null");
        requireNonNull(primary, "primary is null");
        interfaces = List.copyOf(interfaces);
        queuePairs = Map.copyOf(queuePairs);
        problems = List.copyOf(problems);
    }

    /** Far above what any instance can have; what is written beyond it costs nothing. */
    private static final int MOST_DEVICES = 64;

    /** The addresses of what is offered; also those of interfaces that were ready once and are not now. */
    Set<MacAddress> macs() {
        return interfaces.stream().map(Candidate::mac).collect(Collectors.toSet());
    }

    /**
     * Reads the object. Nothing is offered before it was complete once: each device has an address, and where the status
     * speaks of it, it is ready or given up. From then on a device is offered as soon as it is ready, and as long as the
     * object names it: what becomes of one that pods use already, its health tells.
     *
     * @param name of the object, for messages
     * @param before what was offered until now
     */
    static AssignedInterfaces of(
            String name, Optional<ErdmaDeviceSpec> spec, Optional<ErdmaDeviceStatus> status, Set<MacAddress> before) {
        Map<String, ErdmaDeviceStatus.Device> states = new HashMap<>();
        status.map(ErdmaDeviceStatus::devices).orElse(List.of()).forEach(state -> states.put(state.id(), state));
        Map<MacAddress, Candidate> found = new LinkedHashMap<>();
        Map<MacAddress, Integer> queuePairs = new HashMap<>();
        Optional<MacAddress> primary = Optional.empty();
        List<String> missing = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        List<ErdmaDeviceSpec.Device> devices =
                spec.map(ErdmaDeviceSpec::devices).orElse(List.of());
        if (devices.size() > MOST_DEVICES) {
            problems.add(
                    "ERdmaDevice " + name + ": it names " + devices.size() + " devices, far more than an instance can"
                            + " have; those behind the first " + MOST_DEVICES + " are left out");
        }
        for (ErdmaDeviceSpec.Device device : devices.subList(0, Math.min(devices.size(), MOST_DEVICES))) {
            if (device.mac().isBlank()) {
                missing.add(nameOf(device) + " has no MAC address yet");
                continue;
            }
            MacAddress mac;
            try {
                mac = oneCards(MacAddress.parse(device.mac()));
            } catch (IllegalArgumentException e) {
                problems.add("ERdmaDevice " + name + ": " + nameOf(device) + " has the MAC address "
                        + Quote.of(device.mac()) + ", which is none");
                continue;
            }
            if (found.containsKey(mac)) {
                problems.add("ERdmaDevice " + name + ": " + nameOf(device) + " has the MAC address " + mac + " of "
                        + found.get(mac).name() + " as well; it is left out");
                continue;
            }
            Optional<ErdmaDeviceStatus.Device> state = Optional.ofNullable(states.get(device.id()));
            if (!before.contains(mac) && state.isPresent() && !isReady(state.get())) {
                String what = nameOf(device) + " is " + describe(state.get());
                if (state.get().status().equals(ErdmaDeviceStatus.FAILED)) {
                    problems.add("ERdmaDevice " + name + ": " + what);
                } else {
                    missing.add(what);
                }
                continue;
            }
            if (device.primary()) {
                primary = Optional.of(mac);
            }
            if (device.queuePairs() > 0) {
                queuePairs.put(mac, device.queuePairs());
            }
            found.put(
                    mac,
                    new Candidate(
                            mac,
                            nameOf(device),
                            device.cardIndex() >= 0 ? OptionalInt.of(device.cardIndex()) : OptionalInt.empty()));
        }
        boolean jumboFrame = spec.map(ErdmaDeviceSpec::jumboFrame).orElse(false);
        if (!missing.isEmpty() && before.isEmpty()) {
            return new AssignedInterfaces(
                    new OfferedDevices.Nothing(
                            "ERdmaDevice " + name + " is not complete: " + String.join("; ", missing)),
                    List.of(),
                    primary,
                    jumboFrame,
                    Map.of(),
                    problems);
        }
        missing.forEach(what -> problems.add("ERdmaDevice " + name + ": " + what));
        return new AssignedInterfaces(
                found.isEmpty()
                        ? new OfferedDevices.Nothing("ERdmaDevice " + name + " names no device that could be offered")
                        : new OfferedDevices.ByMacs(found.keySet()),
                List.copyOf(found.values()),
                primary,
                jumboFrame,
                queuePairs,
                problems);
    }

    /** Neither of a group of cards nor of none. */
    private static MacAddress oneCards(MacAddress mac) {
        if (mac.value() == 0 || (mac.value() >>> 40 & 1) == 1) {
            throw new IllegalArgumentException("not the address of a network card: " + mac);
        }
        return mac;
    }

    private static boolean isReady(ErdmaDeviceStatus.Device state) {
        return state.status().isEmpty() || state.status().equals(ErdmaDeviceStatus.READY);
    }

    private static String describe(ErdmaDeviceStatus.Device state) {
        String status = state.status().matches("[A-Za-z]{1,40}") ? state.status() : Quote.of(state.status());
        return state.message().isBlank() ? status : status + ", " + Quote.of(state.message());
    }

    private static String nameOf(ErdmaDeviceSpec.Device device) {
        if (device.id().isBlank()) {
            return "a device without id on network card " + device.cardIndex();
        }
        return device.id().matches("[A-Za-z0-9-]{1,64}") ? device.id() : Quote.of(device.id());
    }
}
