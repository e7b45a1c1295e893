package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.inventory.NodePaths;
import java.nio.file.Path;

/**
 * Where the doctor finds the machine's files.
 *
 * @param proc usually /proc
 * @param modules the kernel's modules by release, usually /lib/modules
 * @param kubelet the kubelet's root directory, usually /var/lib/kubelet
 * @param logs where the kubelet keeps the pods' logs, usually /var/log
 */
record DoctorPaths(Path sys, Path dev, Path etc, Path proc, Path modules, Path kubelet, Path logs) {
    DoctorPaths {
        requireNonNull(sys, "sys is null");
        requireNonNull(dev, "dev is null");
        requireNonNull(etc, "etc is null");
        requireNonNull(proc, "proc is null");
        requireNonNull(modules, "modules is null");
        requireNonNull(kubelet, "kubelet is null");
        requireNonNull(logs, "logs is null");
    }

    NodePaths node() {
        return new NodePaths(sys, dev, etc);
    }
}
