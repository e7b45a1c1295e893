package io.erdma.image;

import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Capability;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.Volume;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How a container is started: with a read-only root, no capability but those named, and a /tmp from which nothing can be
 * run.
 *
 * @param network Docker's name of it
 * @param memoryBytes the limit, 0 for none
 * @param mounts directory of this machine → path in the container; read and write
 */
record ContainerShape(
        String network,
        List<Capability> capabilities,
        boolean gainsNoPrivileges,
        long memoryBytes,
        Map<Path, String> mounts,
        Map<String, String> environment) {
    private static final String TMP = "rw,noexec,nosuid,nodev,size=64m,mode=1777";

    /** In a network of its own, in which it has nothing but its loopback. */
    static final ContainerShape ALONE = new ContainerShape("none", List.of(), true, 0, Map.of(), Map.of());

    ContainerShape {
        capabilities = List.copyOf(capabilities);
        mounts = Map.copyOf(mounts);
        environment = Map.copyOf(environment);
    }

    ContainerShape onTheHostsNetwork() {
        return new ContainerShape("host", capabilities, gainsNoPrivileges, memoryBytes, mounts, environment);
    }

    ContainerShape limitedTo(long bytes) {
        return new ContainerShape(network, capabilities, gainsNoPrivileges, bytes, mounts, environment);
    }

    ContainerShape mounting(Path directory, String at) {
        var all = new LinkedHashMap<>(mounts);
        all.put(directory, at);
        return new ContainerShape(network, capabilities, gainsNoPrivileges, memoryBytes, all, environment);
    }

    ContainerShape with(String variable, String value) {
        var all = new LinkedHashMap<>(environment);
        all.put(variable, value);
        return new ContainerShape(network, capabilities, gainsNoPrivileges, memoryBytes, mounts, all);
    }

    void applyTo(HostConfig host) {
        List<Bind> binds = new ArrayList<>();
        mounts.forEach((directory, at) -> binds.add(new Bind(directory.toString(), new Volume(at), AccessMode.rw)));
        host.withNetworkMode(network)
                .withReadonlyRootfs(true)
                .withCapDrop(Capability.ALL)
                .withCapAdd(capabilities.toArray(Capability[]::new))
                .withSecurityOpts(gainsNoPrivileges ? List.of("no-new-privileges") : List.of())
                .withTmpFs(Map.of("/tmp", TMP))
                .withBinds(binds);
        if (memoryBytes > 0) {
            // Without swap of its own: a node's containers have none.
            host.withMemory(memoryBytes).withMemorySwap(memoryBytes);
        }
    }
}
