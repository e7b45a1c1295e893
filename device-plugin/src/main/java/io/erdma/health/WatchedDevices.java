package io.erdma.health;

import io.erdma.inventory.NodeSources.OpenDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The devices under watch, and what is left of former ones until their contexts are closed. A name that comes back waits
 * for the context of its former bearer, so that it never has two threads. Owned by the health thread.
 */
final class WatchedDevices {
    private final Map<String, Watched> present = new TreeMap<>();
    private final List<Watched> leaving = new ArrayList<>();

    /** By name. */
    List<Watched> present() {
        return List.copyOf(present.values());
    }

    Optional<Watched> find(String name) {
        return Optional.ofNullable(present.get(name));
    }

    /** Whether it is the one that is watched now under its name. */
    boolean isPresent(Watched device) {
        return find(device.name()).filter(device::equals).isPresent();
    }

    List<Watched> boundTo(int linkIndex) {
        return present.values().stream()
                .filter(device -> device.boundTo(linkIndex))
                .toList();
    }

    void add(Watched device) {
        present.put(device.name(), device);
    }

    /** It is no more. */
    void leave(Watched device) {
        present.remove(device.name());
        leaveBehind(device);
    }

    /** All leave, and in the place of each comes one of which nothing is known. */
    void leaveAll(long now) {
        present().forEach(this::leaveBehind);
        startOver(now);
    }

    /** Nothing is known of any device any more; none of them holds a context. */
    void startOver(long now) {
        present.replaceAll((name, device) -> device.anew(now));
    }

    private void leaveBehind(Watched device) {
        device.closeContext();
        leaving.add(device);
    }

    void closed(Watched device) {
        device.closed();
        leaving.remove(device);
    }

    /** Whether nothing of former devices is open or being opened. */
    boolean allHaveLeft() {
        return leaving.stream()
                .noneMatch(device -> device.busy() || device.context().isPresent());
    }

    /** Those whose next job is due: to be asked, or to have their context closed. */
    List<Watched> due(long now) {
        // What a probe opened that was under way when its device left is closed, too.
        leaving.forEach(Watched::closeContext);
        leaving.removeIf(device -> !device.busy() && !device.closing());
        return Stream.concat(present.values().stream().filter(device -> !isTaken(device.name())), leaving.stream())
                .filter(device -> device.dueToAsk(now))
                .toList();
    }

    /** How long no job is due; negative when one is overdue. */
    long nanosUntilDue(long now) {
        return Stream.concat(
                        present.values().stream().filter(device -> !device.toBeFound() && !isTaken(device.name())),
                        leaving.stream())
                .filter(device -> !device.busy())
                .mapToLong(device -> device.nextAsk() - now)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Contexts that no job has at the moment. */
    List<OpenDevice> idleContexts() {
        return Stream.concat(present.values().stream(), leaving.stream())
                .filter(device -> !device.busy())
                .flatMap(device -> device.context().stream())
                .toList();
    }

    private boolean isTaken(String name) {
        return leaving.stream().anyMatch(device -> device.name().equals(name));
    }
}
