package io.erdma.plugin;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What an operator decides about the kubelet's side of the agent.
 *
 * @param resourceName the extended resource that pods ask for
 * @param sharesPerDevice how many containers can hold one device at a time, at most {@link #MAX_SHARES_PER_DEVICE}
 * @param allocateAllDevices whether each container gets every usable device of the node, whatever its shares
 * @param cdiDirectory where the runtime looks for CDI specs, as this process sees it; used unless {@code cdi} is off
 * @param ncclIbHca whether containers get {@code NCCL_IB_HCA}, which names their devices exactly
 * @param preStartRequired whether the kubelet calls PreStartContainer before each start of a container
 */
public record PluginSettings(
        String resourceName,
        int sharesPerDevice,
        boolean allocateAllDevices,
        CdiMode cdi,
        Path cdiDirectory,
        boolean ncclIbHca,
        boolean preStartRequired) {
    public static final String DEFAULT_RESOURCE_NAME = "aliyun/erdma";
    public static final int DEFAULT_SHARES_PER_DEVICE = 200;
    public static final Path DEFAULT_CDI_DIRECTORY = Path.of("/var/run/cdi");

    /** With it the list of 32 devices with the longest possible names stays below what the kubelet receives, 4 MiB. */
    public static final int MAX_SHARES_PER_DEVICE = 1000;

    // The kubelet also checks "requests." + name against the 253 characters of a DNS name.
    private static final int MAX_DOMAIN = 253 - "requests.".length();
    private static final Pattern DOMAIN =
            Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
    private static final Pattern NAME = Pattern.compile("([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)");

    public PluginSettings {
        requireNonNull(resourceName, "resourceName is null");
        requireNonNull(cdi, "cdi is null");
        requireNonNull(cdiDirectory, "cdiDirectory is null");
        List<String> problems = new ArrayList<>();
        if (!isExtendedResource(resourceName)) {
            problems.add("resource name \"" + resourceName
                    + "\" is no extended resource; use <domain>/<name> outside kubernetes.io, such as "
                    + DEFAULT_RESOURCE_NAME);
        }
        if (sharesPerDevice < 1 || sharesPerDevice > MAX_SHARES_PER_DEVICE) {
            problems.add("shares per device is " + sharesPerDevice + "; use 1 to " + MAX_SHARES_PER_DEVICE);
        }
        if (!cdiDirectory.isAbsolute()) {
            problems.add("CDI directory " + cdiDirectory + " is relative; use an absolute path such as "
                    + DEFAULT_CDI_DIRECTORY);
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", problems));
        }
    }

    public static PluginSettings defaults() {
        return new PluginSettings(
                DEFAULT_RESOURCE_NAME,
                DEFAULT_SHARES_PER_DEVICE,
                false,
                CdiMode.OFF,
                DEFAULT_CDI_DIRECTORY,
                false,
                false);
    }

    /** The kubelet's rule: it refuses to register any other name. */
    public static boolean isExtendedResource(String name) {
        int slash = name.indexOf('/');
        if (slash < 0) {
            return false;
        }
        String domain = name.substring(0, slash);
        return domain.length() <= MAX_DOMAIN
                && DOMAIN.matcher(domain).matches()
                && !domain.endsWith("kubernetes.io")
                && !domain.startsWith("requests.")
                && NAME.matcher(name.substring(slash + 1)).matches();
    }
}
