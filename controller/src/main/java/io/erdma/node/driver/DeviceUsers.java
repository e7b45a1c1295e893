package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;

/**
 * Who keeps the driver from being unloaded. Whatever could not be found out counts as a user: to wait costs time, to
 * pull a driver from under a running job costs the job.
 *
 * @param processes others than this one, with a device open
 * @param pods "namespace/name", each once, that hold a share
 * @param others in words: what nobody could be named for, and what could not be asked
 */
public record DeviceUsers(List<UsingProcess> processes, List<String> pods, List<String> others) {
    public static final DeviceUsers NONE = new DeviceUsers(List.of(), List.of(), List.of());

    private static final int NAMED = 10;

    /** @param command as the kernel abbreviates it; empty when the process ended meanwhile */
    public record UsingProcess(long pid, String command) {
        public UsingProcess {
            requireNonNull(command, "command is null");
        }

        @Override
        public String toString() {
            return command.isEmpty() ? "pid " + pid : "pid " + pid + " (" + command + ")";
        }
    }

    public DeviceUsers {
        processes = List.copyOf(processes);
        pods = List.copyOf(pods);
        others = List.copyOf(others);
    }

    public int count() {
        return processes.size() + pods.size() + others.size();
    }

    public boolean inUse() {
        return count() > 0;
    }

    /** Each user in words. */
    public List<String> describe() {
        List<String> all = new ArrayList<>();
        pods.forEach(pod -> all.add("pod " + pod));
        processes.forEach(process -> all.add(process.toString()));
        all.addAll(others);
        return List.copyOf(all);
    }

    /** "2 users: pod default/train, pid 4711 (python3)". */
    public String summary() {
        List<String> all = describe();
        return count()
                + (count() == 1 ? " user: " : " users: ")
                + String.join(", ", all.subList(0, Math.min(NAMED, all.size())))
                + (all.size() > NAMED ? " and " + (all.size() - NAMED) + " more" : "");
    }
}
