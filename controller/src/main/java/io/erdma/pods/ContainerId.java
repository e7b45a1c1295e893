package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A container of a pod, as the kernel's cgroups name it.
 *
 * @param podUid with dashes; 32 hexadecimal digits without any for a static pod
 * @param container the runtime's id, 64 hexadecimal digits
 */
public record ContainerId(String podUid, String container) {
    private static final String UID = "([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})";

    /**
     * The pod's group, then the container's. systemd writes a pod's dashes as underscores and repeats the names of the
     * groups above it, containerd without systemd puts three parts into one name, and runtimes prefix their own name
     * where systemd keeps the group. Other groups may stand above (a node that is itself a container) and below.
     */
    private static final Pattern IN_A_POD = Pattern.compile(
            "(?:^|[/-])pod" + UID
                    + "(?:\\.slice)?(?:/|:cri-containerd:)(?:(?!crio-conmon-)[a-z][a-z-]*-)?([0-9a-f]{64})(?:\\.scope)?(?:/|$)");

    public ContainerId {
        requireNonNull(podUid, "podUid is null");
        requireNonNull(container, "container is null");
    }

    /**
     * @param cgroup a whole {@code /proc/PID/cgroup}, of version 1 (a line for each controller), 2 (one line) or both
     * @return empty for a process outside pods
     */
    public static Optional<ContainerId> ofCgroup(String cgroup) {
        return cgroup.lines().map(ContainerId::ofLine).flatMap(Optional::stream).findFirst();
    }

    /** "HIERARCHY:CONTROLLERS:PATH", where the path may hold colons. */
    private static Optional<ContainerId> ofLine(String line) {
        String[] fields = line.split(":", 3);
        if (fields.length < 3) {
            return Optional.empty();
        }
        Matcher found = IN_A_POD.matcher(fields[2].toLowerCase(Locale.ROOT));
        return found.find()
                ? Optional.of(new ContainerId(found.group(1).replace('_', '-'), found.group(2)))
                : Optional.empty();
    }
}
