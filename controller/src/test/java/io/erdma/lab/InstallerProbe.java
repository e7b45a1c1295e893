package io.erdma.lab;

import io.erdma.node.driver.DriverInstaller;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.HostCommands;
import io.erdma.node.driver.InstallerSettings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;

/** Installs the driver as the agent does, from wherever it is started. Arguments: URL and SHA-256 sum. */
public final class InstallerProbe {
    private InstallerProbe() {}

    public static void main(String[] args) throws IOException {
        Path proc = Path.of("/proc");
        HostCommands host = HostCommands.find(proc);
        new DriverInstaller(new InstallerSettings(URI.create(args[0]), args[1]), host, proc).install(DriverMode.COMPAT);
        System.out.println("installed " + host);
    }
}
