package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.erdma.sysfs.NodeFixture;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoctorCommandTest {
    @TempDir
    private Path directory;

    /** A node whose libibverbs is missing and where neither kubelet nor agent is. */
    private Run doctor(String node, String... more) {
        NodeFixture fixture = NodeFixture.lay(node, directory.resolve("node"));
        List<String> arguments = new ArrayList<>(List.of(
                "doctor",
                "--sysfs-root=" + fixture.sysfs(),
                "--dev-root=" + fixture.dev(),
                "--kubelet-root-dir=" + directory.resolve("kubelet"),
                "--verbs-library=" + directory.resolve("libibverbs.so.1"),
                "--probe-address="));
        arguments.addAll(List.of(more));
        return Run.erdma(arguments.toArray(String[]::new));
    }

    @Test
    void saysOfAnyMachineWhatItIsAndEndsWithTheSum() {
        Run run = doctor(NodeFixture.ERDMA_COMPAT);
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .contains("pass  PCI function: 1ded:107f at 0000:00:07.0, 0000:80:07.0\n")
                .contains("warn  verbs library: no libibverbs.so.1 here")
                .contains("warn  RDMA devices: libibverbs does not list erdma_0, erdma_1, which the kernel has\n")
                .contains("????  device node of erdma_1: ");
        assertThat(run.out().lines().reduce((first, second) -> second).orElse(""))
                .matches("doctor: [0-9]+ failed, [0-9]+ warnings?, [0-9]+ passed, [0-9]+ not looked at");
    }

    @Test
    void endsWith2OnAMachineWithoutRdma() {
        assertThat(doctor(NodeFixture.NO_RDMA).exitCode()).isEqualTo(2);
    }

    @Test
    void looksFromThePodsSideWhenAskedTo() {
        Run run = doctor(NodeFixture.ERDMA_COMPAT, "--inside-pod");
        assertThat(run.out())
                .startsWith("The pod's side: asked for by --inside-pod\n")
                .contains("granted devices")
                .doesNotContain("kubelet socket");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @Test
    void endsWith3WhenThePodAskedForCannotBeSeen() {
        Run run = doctor(NodeFixture.ERDMA_COMPAT, "--pod=default/train", "--pod-log-root=" + directory);
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.out())
                .startsWith("The pod's side, seen from its node: pod default/train\n????  pod: ")
                .endsWith("doctor: 0 failed, 0 warnings, 0 passed, 1 not looked at\n");
        assertThat(doctor(NodeFixture.ERDMA_COMPAT, "--pod=default/train", "--inside-pod")
                        .exitCode())
                .isEqualTo(64);
    }

    @Test
    void showsWithVAlsoWhatIsNotThere() {
        assertThat(doctor(NodeFixture.NO_RDMA, "-v").out()).contains("skip  port: there is no device\n");
        assertThat(doctor(NodeFixture.NO_RDMA).out()).doesNotContain("skip");
    }

    @Test
    void writesOneJsonObjectWithStableKeys() throws IOException {
        Run run = doctor(NodeFixture.ERDMA_COMPAT, "--json");
        List<String> keys = new ArrayList<>();
        int findings = 0;
        try (JsonParser parser = new JsonFactory().createParser(run.out())) {
            while (parser.nextToken() != null) {
                if (parser.currentToken() == JsonToken.FIELD_NAME
                        && !parser.getParsingContext().getParent().inArray()) {
                    keys.add(parser.currentName());
                }
                findings += parser.currentToken() == JsonToken.FIELD_NAME
                                && parser.currentName().equals("verdict")
                        ? 1
                        : 0;
            }
        }
        assertThat(keys)
                .contains("side", "sideBecause", "exitCode", "summary", "findings", "failed", "warnings", "notSeen");
        assertThat(findings).isGreaterThan(10);
        assertThat(run.out())
                .contains("\"check\" : \"pci-function\"", "\"verdict\" : \"pass\"", "\"exitCode\" : " + run.exitCode());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--prefer-driver=ofde|'ofde' is not default, compat or ofed",
                "--node-port-range=30000|'30000' is not a range of ports such as 30000-32767",
                "--node-port-range=9-1|ports 9-1: they are numbered from 1 to 65535",
                "--device-selector=mlx5|device selector 'mlx5' is not one of",
                "--probe-address=9470|'9470' is not HOST:PORT or :PORT",
                "--pod=train|'train' is not NAMESPACE/NAME"
            })
    void endsWith64ForWhatItDoesNotUnderstand(String argument, String said) {
        Run run = doctor(NodeFixture.NO_RDMA, argument);
        assertThat(run.exitCode()).isEqualTo(64);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains(said);
    }

    @Test
    void bundlesWhatASupportCaseNeedsForItsOwnerAlone() throws IOException {
        Path file = directory.resolve("bundle.zip");
        Run run = doctor(NodeFixture.ERDMA_COMPAT, "--bundle", file.toString());

        assertThat(run.err()).isEmpty();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        Map<String, String> texts = unzip(file);
        assertThat(texts.keySet())
                .containsExactlyInAnyOrder(
                        "report.txt",
                        "report.json",
                        "versions.txt",
                        "environment.txt",
                        "sysfs.txt",
                        "netlink.txt",
                        "agent-readyz.txt",
                        "agent-metrics.txt",
                        "agent-plans.txt");
        assertThat(texts.get("report.txt")).contains("pass  PCI function: 1ded:107f");
        assertThat(texts.get("netlink.txt")).contains("Link[");
        assertThat(texts.get("agent-metrics.txt")).contains("the agent's probe address is empty");
        assertThat(texts.get("versions.txt")).startsWith("erdma ").contains("kernel: ");
    }

    /** So that a support case becomes a test. */
    @Test
    void recordsSysfsAsTheTestsLayItOut() throws IOException {
        Path file = directory.resolve("bundle.zip");
        doctor(NodeFixture.ERDMA_COMPAT, "--bundle", file.toString());
        List<String> lines = unzip(file).get("sysfs.txt").lines().toList();
        assertThat(lines)
                .contains(
                        "class/infiniband/erdma_0 -> ../../devices/pci0000:00/0000:00:07.0/infiniband/erdma_0",
                        "devices/pci0000:00/0000:00:07.0/infiniband/erdma_0/ports/1/state = 4: ACTIVE",
                        "devices/pci0000:00/0000:00:07.0/vendor = 0x1ded",
                        "devices/pci0000:00/0000:00:07.0/driver -> ../../../bus/pci/drivers/erdma",
                        "devices/pci0000:80/0000:80:06.0/virtio4/net/eth2/mtu = 8500",
                        "devices/pci0000:80/0000:80:06.0/numa_node = 1",
                        "module/erdma/parameters/compat_mode = Y",
                        "devices/system/node/online = 0-1")
                .isSorted();
    }

    @Test
    void neverWritesOverAFile() throws IOException {
        Path file = Files.writeString(directory.resolve("precious"), "data");
        Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("nowhere"));
        for (Path taken : List.of(file, link)) {
            Run run = doctor(NodeFixture.NO_RDMA, "--bundle", taken.toString());
            assertThat(run.exitCode()).isEqualTo(64);
            assertThat(run.err()).contains(taken + " exists already; name another file");
        }
        assertThat(file).hasContent("data");
        assertThat(directory.resolve("nowhere")).doesNotExist();
    }

    @Test
    void saysThatABundleCannotBeWrittenAndReportsAllTheSame() {
        Run run = doctor(
                NodeFixture.NO_RDMA,
                "--bundle",
                directory.resolve("no/such/file").toString());
        assertThat(run.exitCode()).isEqualTo(70);
        assertThat(run.out()).contains("doctor: ");
        assertThat(run.err()).contains("cannot write the bundle").hasLineCount(1);
    }

    @Test
    void tellsValuesOfItsOwnVariablesAloneAndOfThoseNoSecret() {
        assertThat(DoctorBundle.environment(Map.of(
                        "NCCL_IB_HCA", "=erdma_0",
                        "NCCL_MY_TOKEN", "hunter2",
                        "ERDMA_PREFER_DRIVER", "ofed",
                        "KUBERNETES_SERVICE_HOST", "192.168.0.1",
                        "HTTPS_PROXY", "http://user:hunter2@proxy",
                        "AWS_SECRET_ACCESS_KEY", "hunter2",
                        "HOME", "/root")))
                .isEqualTo("""
                        ERDMA_PREFER_DRIVER=ofed
                        HTTPS_PROXY is set
                        KUBERNETES_SERVICE_HOST is set
                        NCCL_IB_HCA==erdma_0
                        NCCL_MY_TOKEN=(left out)
                        """);
    }

    private static Map<String, String> unzip(Path file) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        try (ZipFile zip = new ZipFile(file.toFile())) {
            Enumeration<? extends ZipEntry> entries = zip.entries();
            while (entries.hasMoreElements()) {
                ZipEntry entry = entries.nextElement();
                try (InputStream stream = zip.getInputStream(entry)) {
                    texts.put(entry.getName(), new String(stream.readAllBytes(), StandardCharsets.UTF_8));
                }
            }
        }
        return texts;
    }
}
