package io.erdma.node.driver;

import io.erdma.node.driver.DeviceUsers.UsingProcess;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Facts of made-up nodes. */
final class Facts {
    static final String KERNEL = "6.1.0-57-amd64";
    static final String CONTAINER_OS = "5.10.134-13.al8.lifsea8.x86_64";

    static final DeviceUsers A_JOB =
            new DeviceUsers(List.of(new UsingProcess(4711, "python3")), List.of("default/train"), List.of());

    DriverModule module = new DriverModule.Absent();
    ModuleFile file = new ModuleFile.Found(true);
    int pciFunctions = 1;
    DeviceUsers users = DeviceUsers.NONE;
    Set<String> companions = Set.of();
    boolean gpu;
    String kernel = KERNEL;
    Optional<String> cannotChange = Optional.empty();

    static Facts loaded(String compatMode) {
        Facts facts = new Facts();
        facts.module = new DriverModule.Loaded(
                compatMode.isEmpty() ? Optional.empty() : Optional.of(compatMode.equals("Y")), true, 0, List.of());
        return facts;
    }

    DriverFacts made() {
        return new DriverFacts(
                module,
                file,
                pciFunctions,
                module instanceof DriverModule.Loaded ? List.of("erdma_0") : List.of(),
                users,
                companions,
                gpu,
                kernel,
                cannotChange);
    }
}
