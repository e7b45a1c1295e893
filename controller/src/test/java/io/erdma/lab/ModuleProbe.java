package io.erdma.lab;

import io.erdma.node.driver.HostCommands;
import io.erdma.node.driver.KernelModules;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** Loads the module erdma in mode compat as the agent does, from wherever it is started. */
public final class ModuleProbe {
    private ModuleProbe() {}

    public static void main(String[] args) throws IOException {
        HostCommands host = HostCommands.find(Path.of("/proc"));
        new KernelModules(host).load("erdma", Map.of("compat_mode", "Y"));
        System.out.println("loaded " + host);
    }
}
