package io.erdma.cli;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Which kubelet is asked, and what for. In the agent's pod its own settings hold. */
final class KubeletOptions {
    @Option(
            names = "--kubelet-root-dir",
            paramLabel = "DIR",
            defaultValue = "${env:ERDMA_KUBELET_ROOT_DIR:-/var/lib/kubelet}",
            description = "The kubelet's root directory. Default: ${DEFAULT-VALUE}.")
    private Path rootDirectory;

    @Option(
            names = "--resource-name",
            paramLabel = "DOMAIN/NAME",
            defaultValue = "${env:ERDMA_RESOURCE_NAME:-aliyun/erdma}",
            description = "The extended resource that pods ask for. Default: ${DEFAULT-VALUE}.")
    private String resourceName;

    Path rootDirectory() {
        return rootDirectory;
    }

    String resourceName() {
        return resourceName;
    }
}
