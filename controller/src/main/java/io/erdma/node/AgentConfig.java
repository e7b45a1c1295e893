package io.erdma.node;

import io.erdma.health.HealthSettings;
import io.erdma.inventory.DeviceSelector;
import io.erdma.inventory.NodePaths;
import io.erdma.node.driver.DriverSettings;
import io.erdma.node.driver.InstallerSettings;
import io.erdma.node.interfaces.InterfaceSettings;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.kube.ClusterReporter;
import io.erdma.node.log.LogFormat;
import io.erdma.node.log.LogLevel;
import io.erdma.node.net.RouteSettings;
import io.erdma.plugin.PluginSettings;
import io.erdma.plugin.SessionSettings;
import io.erdma.pods.UsageMonitor;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the agent was told to do, checked.
 *
 * @param cluster how the cluster's API is reached; absent outside of one
 * @param probeAddress absent: nothing answers probes and scrapes
 * @param pageAddress absent: there is no page
 * @param podMetrics whether the probe address tells of pods, too
 * @param usage absent: nobody looks who uses the devices
 * @param reports what the cluster is told of the node
 * @param choices every setting with its value in text and where that came from, in the table's order
 * @param notes what the operator should know about accepted settings that do nothing here
 */
public record AgentConfig(
        PluginSettings plugin,
        SessionSettings session,
        HealthSettings health,
        NodePaths paths,
        List<DeviceSelector> selectors,
        Optional<ClusterAccess> cluster,
        InterfaceSettings interfaces,
        RouteSettings routes,
        String verbsLibrary,
        DriverSettings driver,
        Optional<InetSocketAddress> probeAddress,
        Optional<InetSocketAddress> pageAddress,
        boolean podMetrics,
        Optional<UsageMonitor.Settings> usage,
        ClusterReporter.Settings reports,
        LogFormat logFormat,
        LogLevel logLevel,
        List<Choice> choices,
        List<String> notes) {
    /**
     * Where one setting's value came from.
     *
     * @param text the value as it was written; of a list, all of them
     * @param source "default", "command line", "environment" or "file …"
     */
    public record Choice(String name, String text, String source) {
        public boolean isDefault() {
            return source.equals("default");
        }
    }

    public AgentConfig {
        selectors = List.copyOf(selectors);
        choices = List.copyOf(choices);
        notes = List.copyOf(notes);
    }

    /** One line for each setting that somebody set, then the notes: what the start of a log must tell. */
    public List<String> describe() {
        List<String> lines = new ArrayList<>();
        for (Choice choice : choices) {
            if (!choice.isDefault()) {
                String text = choice.name().equals(Settings.DRIVER_URL.name())
                        ? InstallerSettings.shown(choice.text())
                        : choice.text();
                lines.add("setting " + choice.name() + "=" + text + " (" + choice.source() + ")");
            }
        }
        if (lines.isEmpty()) {
            lines.add("all settings have their defaults");
        }
        lines.addAll(notes);
        return lines;
    }
}
