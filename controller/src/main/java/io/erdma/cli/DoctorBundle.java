package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.doctor.Facts;
import io.erdma.doctor.Facts.Network;
import io.erdma.doctor.Report;
import io.erdma.inventory.NodeSources;
import io.erdma.libc.NativeException;
import io.erdma.netlink.RdmaLink;
import io.erdma.netlink.RdmaNetlink;
import io.erdma.node.BuildInfo;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** What a support case needs to know of this machine, as a zip file of texts, secrets left out. */
final class DoctorBundle {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Of each text; what is longer is cut. */
    private static final int MAX_CHARACTERS = 4 << 20;

    private static final String OWNER_ONLY = "rw-------";

    /** Variables that have to do with RDMA, training or the cluster; of most of them the name alone is told. */
    private static final Pattern RELEVANT = Pattern.compile(
            "(?:NCCL|ERDMA|SMCR|RDMAV|IBV|UCX|OMPI|GLOO|TORCH|PET|CUDA|NVIDIA|KUBERNETES|HTTP|HTTPS|NO)_.*|MASTER_ADDR"
                    + "|MASTER_PORT|WORLD_SIZE|RANK|LOCAL_RANK|NODE_NAME|LD_LIBRARY_PATH|LD_PRELOAD|http_proxy|https_proxy"
                    + "|no_proxy");

    private static final Pattern WITH_VALUE = Pattern.compile("(?:NCCL|ERDMA)_.*");

    private final Map<String, String> texts = new LinkedHashMap<>();

    private DoctorBundle() {}

    /** Gathers the texts by their names in the zip file; what can't be had is told by its text. */
    static DoctorBundle of(
            Facts facts,
            Report report,
            DoctorPaths paths,
            DoctorSources sources,
            AgentReader agent,
            Map<String, String> environment)
            throws IOException {
        DoctorBundle bundle = new DoctorBundle();
        bundle.put("report.txt", DoctorText.format(report, true));
        bundle.put("report.json", DoctorJson.format(report));
        bundle.put("versions.txt", versions(facts, sources.files()));
        bundle.put("environment.txt", environment(environment));
        bundle.gather("sysfs.txt", () -> SysfsRecording.of(paths.sys()));
        bundle.gather("netlink.txt", () -> network(facts) + rdma(sources));
        bundle.gather("agent-readyz.txt", () -> page(agent, "/readyz"));
        bundle.gather("agent-metrics.txt", () -> page(agent, "/metrics"));
        bundle.gather("agent-plans.txt", () -> page(agent, "/plans"));
        return bundle;
    }

    private void gather(String name, Callable<String> text) {
        put(
                name,
                Patience.within(PATIENCE, name, () -> {
                            try {
                                return text.call();
                            } catch (Exception e) {
                                return "could not be had: " + e + "\n";
                            }
                        })
                        .orElse("did not come within " + PATIENCE.toSeconds() + " s\n"));
    }

    private void put(String name, String text) {
        String masked = Secrets.mask(text);
        texts.put(
                name,
                masked.length() <= MAX_CHARACTERS
                        ? masked
                        : masked.substring(0, MAX_CHARACTERS) + "\n(cut: " + masked.length() + " characters)\n");
    }

    Map<String, String> texts() {
        return Map.copyOf(texts);
    }

    private static String versions(Facts facts, VerbsFiles files) {
        return VersionCommand.toText(BuildInfo.read(), files)
                + "kernel:         "
                + facts.kernel()
                        .content()
                        .map(kernel -> TerminalText.escape(kernel.release()))
                        .orElse("unknown")
                + "\n";
    }

    static String environment(Map<String, String> environment) {
        StringBuilder text = new StringBuilder();
        new TreeMap<>(environment).forEach((name, value) -> {
            if (WITH_VALUE.matcher(name).matches()) {
                text.append(TerminalText.escape(name + "=" + Secrets.value(name, value)))
                        .append('\n');
            } else if (RELEVANT.matcher(name).matches()) {
                text.append(TerminalText.escape(name)).append(" is set\n");
            }
        });
        return text.toString();
    }

    private static String network(Facts facts) {
        StringBuilder text = new StringBuilder();
        Network network = facts.network().content().orElseGet(() -> {
            text.append("the network: ").append(facts.network()).append('\n');
            return new Network(List.of(), List.of(), List.of());
        });
        network.links().forEach(link -> line(text, link));
        network.addresses().forEach(address -> line(text, address));
        network.routes().forEach(route -> line(text, route));
        return text.toString();
    }

    private static String rdma(DoctorSources sources) {
        StringBuilder text = new StringBuilder();
        try (RdmaNetlink rdma = RdmaNetlink.open();
                NodeSources node = sources.node().get();
                NodeSources.RdmaSource ports = node.rdma()) {
            line(text, "RDMA netns mode " + rdma.netnsMode());
            for (RdmaLink link : rdma.devices()) {
                line(text, link);
                line(text, ports.characterDevice(link.index()));
                ports.ports(link.index()).forEach(port -> line(text, port));
                line(text, new TreeMap<>(rdma.resources(link.index())));
                rdma.queuePairs(link.index()).forEach(pair -> line(text, pair));
            }
        } catch (NativeException e) {
            line(text, "RDMA netlink: " + e.getMessage());
        }
        return text.toString();
    }

    private static void line(StringBuilder text, Object value) {
        text.append(TerminalText.escape(String.valueOf(value))).append('\n');
    }

    private static String page(AgentReader agent, String path) throws IOException {
        AgentReader.Page page = agent.page(path);
        return "HTTP " + page.status() + "\n" + page.text();
    }

    /**
     * Writes a new file that its owner alone may read. A file that is there already stays as it is.
     *
     * @throws java.nio.file.FileAlreadyExistsException when it is
     */
    void write(Path file) throws IOException {
        requireNonNull(file, "file is null");
        var channel = Files.newByteChannel(
                file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ONLY)));
        boolean whole = false;
        try {
            try (OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel));
                    ZipOutputStream zip = new ZipOutputStream(out, StandardCharsets.UTF_8)) {
                for (Map.Entry<String, String> text : texts.entrySet()) {
                    zip.putNextEntry(new ZipEntry(text.getKey()));
                    zip.write(text.getValue().getBytes(StandardCharsets.UTF_8));
                    zip.closeEntry();
                }
            }
            whole = true;
        } finally {
            if (!whole) {
                Files.deleteIfExists(file);
            }
        }
    }
}
