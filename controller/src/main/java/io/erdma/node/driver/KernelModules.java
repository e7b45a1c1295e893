package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Loads and unloads kernel modules, with the host's kmod. */
public final class KernelModules {
    /** A driver that finds its device slow takes seconds; one that takes minutes hangs. */
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final HostCommands host;

    public KernelModules(HostCommands host) {
        this.host = requireNonNull(host, "host is null");
    }

    /**
     * Loads a module with what it depends on. Of a module that is loaded already it changes nothing and reports success
     * all the same: read the parameters again afterwards.
     */
    public void load(String module, Map<String, String> parameters) throws HostCommands.FailedException {
        List<String> command = new ArrayList<>(List.of("modprobe", module));
        new TreeMap<>(parameters).forEach((name, value) -> command.add(name + "=" + value));
        host.check(DEADLINE, command);
    }

    /** Unloads this module alone; what it stands on stays, since other drivers may stand on it too. */
    public void unload(String module) throws HostCommands.FailedException {
        host.check(DEADLINE, List.of("rmmod", module));
    }
}
