package io.erdma.node;

import static io.erdma.inventory.DeviceSelector.parse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.erdma.inventory.DeviceSelector;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.DriverSettings;
import io.erdma.node.driver.InstallerSettings;
import io.erdma.node.interfaces.ExposedRules;
import io.erdma.node.interfaces.InterfaceSettings;
import io.erdma.node.log.LogFormat;
import io.erdma.node.log.LogLevel;
import io.erdma.node.net.RouteSettings;
import io.erdma.plugin.CdiMode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AgentConfigReaderTest {
    @TempDir
    private Path directory;

    private static AgentConfig read(String... args) throws ConfigurationException {
        return AgentConfigReader.read(List.of(args), Map.of());
    }

    private static List<String> problems(Map<String, String> environment, String... args) {
        ConfigurationException e = catchThrowableOfType(
                ConfigurationException.class, () -> AgentConfigReader.read(List.of(args), environment));
        return e == null ? List.of() : e.problems();
    }

    private static List<String> problems(String... args) {
        return problems(Map.of(), args);
    }

    private String file(String content) throws IOException {
        return Files.writeString(directory.resolve("agent.yaml"), content).toString();
    }

    private AgentConfig.Choice choice(AgentConfig config, String name) {
        return config.choices().stream()
                .filter(choice -> choice.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void takesTheDefaultsWhenNobodySaysAnything() throws ConfigurationException {
        AgentConfig config = read();

        assertThat(config.plugin().resourceName()).isEqualTo("aliyun/erdma");
        assertThat(config.plugin().sharesPerDevice()).isEqualTo(200);
        assertThat(config.selectors()).containsExactly(DeviceSelector.ERDMA);
        assertThat(config.plugin().allocateAllDevices()).isFalse();
        assertThat(config.plugin().cdi()).isEqualTo(CdiMode.OFF);
        assertThat(config.session().kubeletRoot()).isEqualTo(Path.of("/var/lib/kubelet"));
        assertThat(config.routes()).isEqualTo(RouteSettings.STANDARD);
        assertThat(config.probeAddress().orElseThrow().getPort()).isEqualTo(9470);
        assertThat(config.logFormat()).isEqualTo(LogFormat.TEXT);
        assertThat(config.choices()).allMatch(AgentConfig.Choice::isDefault);
        assertThat(config.describe()).containsExactly("all settings have their defaults");
    }

    @Test
    void reportsAllProblemsAtOnceWithSuggestions() {
        ConfigurationException e = catchThrowableOfType(
                ConfigurationException.class,
                () -> AgentConfigReader.read(
                        List.of("--prefer-driver=ofde"), Map.of("ERDMA_JUMBO_FRAME_MTTU", "9000")));

        assertThat(e).hasMessage("""
                        configuration has 2 problems:
                          ERDMA_JUMBO_FRAME_MTTU (environment): unknown setting; did you mean ERDMA_JUMBO_FRAME_MTU?
                          --prefer-driver=ofde (command line): unknown mode; use default, compat or ofed""");
    }

    /** All but the one that needs others. */
    static final List<Setting<?>> SETTINGS = Settings.ALL.stream()
            .filter(setting -> !setting.equals(Settings.INSTALL_DRIVER))
            .toList();

    /** A value other than the default for each setting. */
    private static String otherValue(Setting<?> setting) {
        return switch (setting.name()) {
            case "resource-name" -> "example.com/rdma";
            case "shares-per-device" -> "7";
            case "device-selector" -> "name=rxe*";
            case "cdi" -> "also";
            case "cdi-dir", "kubelet-root-dir", "sysfs-root", "dev-root" -> "/somewhere/else";
            case "verbs-library" -> "/opt/lib/libibverbs.so.1";
            case "health-interval", "rescan-interval" -> "1500ms";
            case "fallback-after" -> "90s";
            case "probe-address", "page-address" -> "127.0.0.1:0";
            case "log-format" -> "json";
            case "log-level" -> "debug";
            case "prefer-driver" -> "ofed";
            case "manage-driver" -> "false";
            case "driver-url" -> "https://example.com/erdma-{version}.tar.gz";
            case "driver-sha256" -> "0123456789abcdef".repeat(4);
            case "jumbo-frame-mtu" -> "9000";
            case "manage-interfaces" -> "false";
            case "route-metric" -> "100";
            case "exposed-local-eris" -> "i-* erdma_*";
            case "local-eri-discovery" -> "false";
            case "node-name" -> "node-a.example";
            case "metadata-address" -> "http://127.0.0.1:8080";
            case "erdma-installer-version" -> "1.4.0";
            default -> "true";
        };
    }

    @ParameterizedTest
    @FieldSource("SETTINGS")
    void readsEachSettingInItsThreeSpellingsAndKnowsWhereItCameFrom(Setting<?> setting) throws Exception {
        String value = otherValue(setting);

        AgentConfig fromArgs = read("--" + setting.name() + "=" + value);
        AgentConfig fromEnvironment = AgentConfigReader.read(List.of(), Map.of(setting.environmentName(), value));
        AgentConfig fromFile = read("--config", file(setting.fileKey() + ": \"" + value + "\"\n"));

        assertThat(choice(fromArgs, setting.name()))
                .isEqualTo(new AgentConfig.Choice(setting.name(), value, "command line"));
        assertThat(choice(fromEnvironment, setting.name()))
                .isEqualTo(new AgentConfig.Choice(setting.name(), value, "environment"));
        assertThat(choice(fromFile, setting.name()))
                .isEqualTo(new AgentConfig.Choice(
                        setting.name(), value, "file " + directory.resolve("agent.yaml") + ", line 1"));
    }

    @Test
    void commandLineWinsOverEnvironmentAndThatOverTheFile() throws Exception {
        String file = file("sharesPerDevice: 3\nlogLevel: debug\ncdi: also\n");

        AgentConfig config = AgentConfigReader.read(
                List.of("--shares-per-device=1"),
                Map.of("ERDMA_CONFIG", file, "ERDMA_SHARES_PER_DEVICE", "2", "ERDMA_LOG_LEVEL", "error"));

        assertThat(config.plugin().sharesPerDevice()).isEqualTo(1);
        assertThat(config.logLevel()).isEqualTo(LogLevel.ERROR);
        assertThat(config.plugin().cdi()).isEqualTo(CdiMode.ALSO);
    }

    @Test
    void reportsAWrongValueAlsoWhereAnotherSourceOutranksIt() {
        assertThat(problems(Map.of("ERDMA_SHARES_PER_DEVICE", "many"), "--shares-per-device=1"))
                .containsExactly(
                        "ERDMA_SHARES_PER_DEVICE=many (environment): not a number; use a whole number from 1 to 1000");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--shares-per-device 9",
                "--shares-per-device=9",
                "-shares-per-device 9",
                "-shares-per-device=9",
                "--shares-per-device=1 --shares-per-device=9"
            })
    void takesFlagsInTheFormsThatGoTakes(String line) throws ConfigurationException {
        assertThat(read(line.split(" ")).plugin().sharesPerDevice()).isEqualTo(9);
    }

    @ParameterizedTest
    @CsvSource({
        "--allocate-all-devices,true",
        "-allocate-all-devices,true",
        "--allocate-all-devices=1,true",
        "--allocate-all-devices=T,true",
        "--allocate-all-devices=TRUE,true",
        "--allocate-all-devices=True,true",
        "--allocate-all-devices=f,false",
        "--allocate-all-devices=0,false",
        "--allocate-all-devices=False,false"
    })
    void takesBooleansInTheFormsThatGoTakes(String flag, boolean expected) throws ConfigurationException {
        assertThat(read(flag).plugin().allocateAllDevices()).isEqualTo(expected);
    }

    @Test
    void refusesABooleanBesideItsFlagWhichGoWouldDropWithTheRestOfTheLine() {
        assertThat(problems("--allocate-all-devices", "false", "--shares-per-device=0"))
                .containsExactly(
                        "--allocate-all-devices false (command line): a flag takes its value after =; write"
                                + " --allocate-all-devices=false",
                        "--shares-per-device=0 (command line): out of range; use a whole number from 1 to 1000");
    }

    @Test
    void acceptsTheCommandLineOfTheGoAgent() throws ConfigurationException {
        AgentConfig config = read(
                "--prefer-driver=",
                "--allocate-all-devices=false",
                "-deviceplugin-prestart-container",
                "--local-eri-discovery=true",
                "--exposed-local-eris=i-XXX erdma_0/erdma_1,i-* erdma_*",
                "--erdma-installer-version",
                "1.4.0",
                "--jumbo-frame-mtu=8500",
                "-zap-devel",
                "--zap-encoder=json",
                "--zap-log-level=3",
                "--zap-stacktrace-level=error",
                "--zap-time-encoding",
                "iso8601");

        assertThat(config.plugin().preStartRequired()).isTrue();
        assertThat(config.logFormat()).isEqualTo(LogFormat.JSON);
        assertThat(config.logLevel()).isEqualTo(LogLevel.DEBUG);
        assertThat(config.notes())
                .containsExactly(
                        "--zap-devel has no effect here",
                        "--zap-stacktrace-level has no effect here",
                        "--zap-time-encoding has no effect here",
                        "--erdma-installer-version has no effect without --install-driver");
        assertThat(config.driver()).isEqualTo(new DriverSettings(Optional.empty(), true, Optional.empty()));
    }

    @ParameterizedTest
    @CsvSource({"default,DEFAULT", "compat,COMPAT", "ofed,OFED"})
    void readsThePreferredDriverMode(String text, DriverMode mode) throws ConfigurationException {
        assertThat(read("--prefer-driver=" + text).driver().preference()).contains(mode);
    }

    @Test
    void installsADriverOnlyFromAUrlWithAVersionAndAChecksum() throws ConfigurationException {
        String url = "--driver-url=https://example.com/erdma-{version}.tar.gz";
        String sum = "ab".repeat(32);

        assertThat(problems("--install-driver"))
                .hasSize(2)
                .anyMatch(problem -> problem.contains("there is no URL"))
                .anyMatch(problem -> problem.contains("there is no checksum"));
        assertThat(problems("--install-driver", url, "--driver-sha256=" + sum))
                .containsExactly("--install-driver=true: the URL asks for a version; set --erdma-installer-version");
        assertThat(problems(
                        "--install-driver",
                        "--manage-driver=false",
                        url,
                        "--erdma-installer-version=1.5.9",
                        "--driver-sha256=" + sum))
                .containsExactly("--install-driver=true: --manage-driver=false forbids it; set only one of them");
        assertThat(problems("--driver-url=ftp://example.com/x", "--driver-sha256=abc"))
                .hasSize(2);
        assertThat(read(
                                "--install-driver",
                                url,
                                "--erdma-installer-version=1.5.9",
                                "--driver-sha256=" + sum.toUpperCase(Locale.ROOT))
                        .driver()
                        .installer())
                .contains(new InstallerSettings(URI.create("https://example.com/erdma-1.5.9.tar.gz"), sum));
    }

    @Test
    void reportsWhatSettingsSayTogetherWithEverythingElse() {
        assertThat(problems(
                        "--install-driver",
                        "--kubelet-root-dir=/" + "long/".repeat(40),
                        "--cdi=maybe",
                        "--route-metric=0"))
                .hasSize(5)
                .anyMatch(problem -> problem.startsWith("--cdi=maybe"))
                .anyMatch(problem -> problem.startsWith("--route-metric=0"))
                .anyMatch(problem -> problem.startsWith("--kubelet-root-dir=/long"))
                .anyMatch(problem -> problem.contains("there is no URL"))
                .anyMatch(problem -> problem.contains("there is no checksum"));
        assertThat(problems("--install-driver=perhaps", "--resource-name=x"))
                .as("nothing follows from a value that is none")
                .hasSize(2);
    }

    @Test
    void ourOwnNameWinsOverTheOneOfTheGoAgent() throws ConfigurationException {
        assertThat(read("--log-level=warn", "--zap-log-level=debug").logLevel()).isEqualTo(LogLevel.WARN);
    }

    @Test
    void keepsItsHandsOffInterfacesWhenToldSo() throws ConfigurationException {
        assertThat(read("--manage-interfaces=false", "--route-metric=1").routes())
                .isEqualTo(new RouteSettings(1, false));
        assertThat(problems("--route-metric=0"))
                .containsExactly(
                        "--route-metric=0 (command line): out of range; use a whole number from 1 to 2147483647");
    }

    /** P05: with the Go agent, any rule changed the allocation mode. */
    @Test
    void rulesForLocalInterfacesLeaveTheAllocationModeAlone() throws ConfigurationException {
        AgentConfig config = read("--local-eri-discovery", "--exposed-local-eris=i-XXX erdma_0");

        assertThat(config.plugin().allocateAllDevices()).isFalse();
        assertThat(config.describe())
                .containsExactly(
                        "setting local-eri-discovery=true (command line)",
                        "setting exposed-local-eris=i-XXX erdma_0 (command line)");
    }

    @Test
    void usesTheDevicesFoundOnTheNodeUnlessToldOtherwise() throws ConfigurationException {
        InterfaceSettings standard = read().interfaces();

        assertThat(standard.localDiscovery()).isTrue();
        assertThat(standard.rules()).isEqualTo(ExposedRules.NONE);
        assertThat(standard.metadata()).isEqualTo(new InetSocketAddress("100.100.100.200", 80));
        assertThat(standard.jumboFrameMtuGiven()).isFalse();
        assertThat(read("--local-eri-discovery=false").interfaces().localDiscovery())
                .isFalse();
        assertThat(read("--jumbo-frame-mtu=8500").interfaces().jumboFrameMtuGiven())
                .as("what charts always pass")
                .isFalse();
        assertThat(read("--jumbo-frame-mtu=4000").interfaces().jumboFrameMtuGiven())
                .isTrue();
    }

    @Test
    void readsRulesForLocalDevicesFromALineOrAList() throws Exception {
        String list = file("exposedLocalEris:\n  - i-XXX erdma_0/erdma_1\n  - i-* erdma_*\n");
        ExposedRules expected = ExposedRules.parse("i-XXX erdma_0/erdma_1,i-* erdma_*");

        assertThat(read("--config=" + list).interfaces().rules()).isEqualTo(expected);
        assertThat(read("--exposed-local-eris=i-XXX erdma_0/erdma_1,i-* erdma_*")
                        .interfaces()
                        .rules())
                .isEqualTo(expected);
        assertThat(read("--config=" + file("exposedLocalEris: []\n")).choices())
                .allMatch(AgentConfig.Choice::isDefault);
    }

    @Test
    void takesTheNodesNameFromTheFirstThatTellsIt() throws Exception {
        Map<String, String> both = Map.of("NODE_NAME", "by-chart", "ERDMA_NODE_NAME", "by-us");

        assertThat(AgentConfigReader.read(List.of("--node-name=by-flag"), both)
                        .interfaces()
                        .nodeName())
                .isEqualTo("by-flag");
        assertThat(AgentConfigReader.read(List.of(), both).interfaces().nodeName())
                .isEqualTo("by-us");
        assertThat(AgentConfigReader.read(List.of(), Map.of("NODE_NAME", "by-chart"))
                        .interfaces()
                        .nodeName())
                .isEqualTo("by-chart");
        assertThat(AgentConfigReader.read(List.of(), Map.of("NODE_NAME", ""))
                        .interfaces()
                        .nodeName())
                .isEqualTo(Hostname.read());
        assertThat(problems(Map.of("NODE_NAME", "Node_A")))
                .containsExactly("NODE_NAME=Node_A (environment): not a node's name; use lower-case letters, digits,"
                        + " dashes and dots");
    }

    @ParameterizedTest
    @CsvSource({
        "http://100.100.100.200, 100.100.100.200, 80",
        "http://127.0.0.1:8080/, 127.0.0.1, 8080",
        "http://[fd00::1]:81, fd00::1, 81"
    })
    void readsTheAddressOfTheMetadataService(String url, String host, int port) throws ConfigurationException {
        assertThat(read("--metadata-address=" + url).interfaces().metadata())
                .isEqualTo(new InetSocketAddress(host, port));
    }

    @Test
    void doesNotStumbleOverVariablesThatKubernetesInjectsForServices() throws ConfigurationException {
        Map<String, String> injected = Map.ofEntries(
                Map.entry("ERDMA_SERVICE_HOST", "10.0.0.1"),
                Map.entry("ERDMA_SERVICE_PORT", "443"),
                Map.entry("ERDMA_SERVICE_PORT_METRICS", "9470"),
                Map.entry("ERDMA_PORT", "tcp://10.0.0.1:443"),
                Map.entry("ERDMA_PORT_443_TCP", "tcp://10.0.0.1:443"),
                Map.entry("ERDMA_CONTROLLER_SERVICE_HOST", "10.0.0.1"),
                Map.entry("ERDMA_CONTROLLER_PORT", "tcp://10.0.0.1:443"),
                Map.entry("ERDMA_CONTROLLER_PORT_443_TCP_PROTO", "tcp"),
                Map.entry("ERDMA_CONTROLLER_PORT_443_TCP_ADDR", "10.0.0.1"),
                Map.entry("ERDMA_CONTROLLER_PORT_443_UDP_PORT", "443"),
                Map.entry("ERDMA_FAKEVERBS", "/run/fake"),
                Map.entry("ERDMA_JAVA_OPTS", "-Xint"),
                Map.entry("PATH", "/bin"));

        assertThat(AgentConfigReader.read(List.of(), injected).choices()).allMatch(AgentConfig.Choice::isDefault);
    }

    @Test
    void takesAnEmptyVariableAsNotSet() throws ConfigurationException {
        AgentConfig config =
                AgentConfigReader.read(List.of(), Map.of("ERDMA_SHARES_PER_DEVICE", "", "ERDMA_NCCL_IB_HCA", ""));

        assertThat(config.plugin().sharesPerDevice()).isEqualTo(200);
    }

    @Test
    void anEmptyProbeAddressTurnsTheServerOff() throws ConfigurationException {
        assertThat(read("--probe-address=").probeAddress()).isEmpty();
        assertThat(AgentConfigReader.read(List.of(), Map.of("ERDMA_PROBE_ADDRESS", ""))
                        .probeAddress())
                .isEmpty();
    }

    @Test
    void collectsARepeatedSelectorFromTheFirstSourceThatGivesAny() throws Exception {
        String file = file("deviceSelector:\n  - driver=rdma_rxe\n  - name=x*\n");

        assertThat(read("--config=" + file).selectors()).containsExactly(parse("driver=rdma_rxe"), parse("name=x*"));
        assertThat(read("--config=" + file, "--device-selector=name=a", "--device-selector", "name=b")
                        .selectors())
                .containsExactly(parse("name=a"), parse("name=b"));
        assertThat(AgentConfigReader.read(List.of(), Map.of("ERDMA_DEVICE_SELECTOR", "name=a, name=b"))
                        .selectors())
                .containsExactly(parse("name=a"), parse("name=b"));
    }

    static Stream<List<String>> wrongLines() {
        return Stream.of(
                List.of(
                        "--shares-per-devices=1",
                        "--shares-per-devices (command line): unknown setting; did you mean" + " --shares-per-device?"),
                List.of(
                        "--frobnicate now",
                        "--frobnicate (command line): unknown setting; erdma agent --help lists" + " them"),
                List.of("--cdi", "--cdi (command line): the value is missing"),
                List.of("stray", "stray (command line): unexpected; settings begin with --"),
                List.of("- x", "- (command line): unexpected; settings begin with --"),
                List.of("-- --cdi=off", "--cdi=off (command line): unexpected; settings begin with --"),
                List.of(
                        "--zap-encoder=xml",
                        "--zap-encoder=xml (command line): unknown value; use --log-format" + " instead"),
                List.of(
                        "--resource-name=erdma",
                        "--resource-name=erdma (command line): no domain; an extended"
                                + " resource reads DOMAIN/NAME, as aliyun/erdma"),
                List.of(
                        "--resource-name=kubernetes.io/x",
                        "--resource-name=kubernetes.io/x (command line): the domain"
                                + " kubernetes.io belongs to Kubernetes; use another one"),
                List.of(
                        "--probe-address=9470",
                        "--probe-address=9470 (command line): no port; use :PORT, ADDRESS:PORT"
                                + " or [IPV6]:PORT; empty turns it off"),
                List.of(
                        "--probe-address=node.example:1",
                        "--probe-address=node.example:1 (command line): not an IP"
                                + " address; use :PORT, ADDRESS:PORT or [IPV6]:PORT; empty turns it off"),
                List.of(
                        "--health-interval=5",
                        "--health-interval=5 (command line): not a duration; use for example" + " 500ms, 5s or 1m30s"),
                List.of("--health-interval=1h", "--health-interval=1h (command line): out of range; use 100ms to 30s"),
                List.of("--sysfs-root=sys", "--sysfs-root=sys (command line): not an absolute path; start it with /"),
                List.of(
                        "--exposed-local-eris=erdma_0",
                        "--exposed-local-eris=erdma_0 (command line): rule 1, \"erdma_0\": column 1: expected an instance,"
                                + " i-* or for example i-bp1abc"),
                List.of(
                        "--metadata-address=http://metadata.local",
                        "--metadata-address=http://metadata.local (command line): no address of a service; use"
                                + " http://ADDRESS or http://ADDRESS:PORT with an IP address"),
                List.of(
                        "--metadata-address=http://1.2.3.4:65536",
                        "--metadata-address=http://1.2.3.4:65536 (command line): no valid port; use http://ADDRESS or"
                                + " http://ADDRESS:PORT with an IP address"),
                List.of(
                        "--metadata-address=http://1.2.3",
                        "--metadata-address=http://1.2.3 (command line): not an IP address; use http://ADDRESS or"
                                + " http://ADDRESS:PORT with an IP address"),
                List.of(
                        "--node-name=Node_A",
                        "--node-name=Node_A (command line): not a node's name; use lower-case letters, digits, dashes"
                                + " and dots"));
    }

    @ParameterizedTest
    @MethodSource("wrongLines")
    void saysWhatIsWrongAndWhatToWrite(List<String> lineAndProblem) {
        assertThat(problems(lineAndProblem.get(0).split(" "))).contains(lineAndProblem.get(1));
    }

    @Test
    void writesAProblemOnOneLineWhateverItQuotes() {
        assertThat(problems("--cdi=a\nconfiguration is fine\u001b[2J"))
                .containsExactly("--cdi=a\\x0aconfiguration is fine\\x1b[2J (command line): unknown mode; use off,"
                        + " also or only");
    }

    static Stream<List<String>> wrongFiles() {
        return Stream.of(
                List.of("cdi: off\ncdi: only\n", "cdi (file F, line 2): given twice"),
                List.of(
                        "sharesPerDevise: 1\n",
                        "sharesPerDevise (file F, line 1): unknown setting; did you mean" + " sharesPerDevice?"),
                List.of("sharesPerDevice: [1, 2]\n", "sharesPerDevice (file F, line 1): a list; write one value"),
                List.of(
                        "sharesPerDevice: {a: 1}\n",
                        "sharesPerDevice (file F, line 1): a mapping; write one value or" + " a list"),
                List.of(
                        "\nsharesPerDevice: 1.5\n",
                        "sharesPerDevice: 1.5 (file F, line 2): not a number; use a whole" + " number from 1 to 1000"),
                List.of("allocateAllDevices: yes\n", "allocateAllDevices: yes (file F, line 1): not true or false"),
                List.of("cdi: &a off\nlogLevel: *a\n", "logLevel (file F, line 2): an alias; write the value itself"),
                List.of(
                        "deviceSelector: [[a]]\n",
                        "deviceSelector (file F, line 1): a list may hold single values" + " only"),
                List.of("[a]: b\n", "F, line 1: a key must be a name"),
                List.of("- cdi\n", "F: not a mapping; write one \"name: value\" a line"),
                List.of("just text", "F: not a mapping; write one \"name: value\" a line"),
                List.of("cdi: off\n---\ncdi: only\n", "F, line 2: a second document; only the first would count"));
    }

    @ParameterizedTest
    @MethodSource("wrongFiles")
    void saysWhatIsWrongInTheFileAndWhere(List<String> contentAndProblem) throws IOException {
        String file = file(contentAndProblem.get(0));

        assertThat(problems("--config", file))
                .containsExactly(contentAndProblem.get(1).replace("F", file));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "# nothing yet\n", "---\n", "null\n", "cdi:\n", "{}"})
    void aFileThatSaysNothingChangesNothing(String content) throws Exception {
        assertThat(read("--config", file(content)).choices()).allMatch(AgentConfig.Choice::isDefault);
    }

    @Test
    void readsJsonAsWell() throws Exception {
        AgentConfig config = read("--config", file("{\"sharesPerDevice\": 12, \"deviceSelector\": [\"name=a\"]}"));

        assertThat(config.plugin().sharesPerDevice()).isEqualTo(12);
        assertThat(config.selectors()).containsExactly(parse("name=a"));
    }

    @Test
    void saysSoWhenTheFileCannotBeUsed() throws IOException {
        Path large = Files.write(directory.resolve("large.yaml"), new byte[ConfigFile.MAX_BYTES + 1]);
        Path latin = Files.write(directory.resolve("latin.yaml"), "cdi: é".getBytes(StandardCharsets.ISO_8859_1));

        assertThat(problems("--config=/nowhere/agent.yaml"))
                .containsExactly("/nowhere/agent.yaml: there is no such file");
        assertThat(problems("--config=" + large))
                .containsExactly(large + ": larger than 64 KiB, so this is no file of settings");
        assertThat(problems("--config=" + latin)).containsExactly(latin + ": not UTF-8 text");
        assertThat(problems("--config=" + file("cdi: 'off\n")))
                .singleElement()
                .asString()
                .contains(": not YAML: ");
    }

    /** Opening a pipe waits until somebody writes into it. */
    @Test
    @Timeout(30)
    void readsNothingButRegularFiles() throws Exception {
        Path pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();

        for (Path file : List.of(pipe, Path.of("/dev/zero"))) {
            assertThat(problems("--config=" + file))
                    .containsExactly(file + ": not a regular file, so it is not read; write the settings into one");
        }
        assertThat(problems("--config=" + directory)).containsExactly(directory + ": a directory; name a file in it");
    }

    @Test
    void readsNoMoreOfAHugeFileThanSettingsNeed() throws IOException {
        Path huge = directory.resolve("huge.yaml");
        try (var file = new RandomAccessFile(huge.toFile(), "rw")) {
            file.setLength(10L << 30);
        }

        assertThat(problems("--config=" + huge))
                .containsExactly(huge + ": larger than 64 KiB, so this is no file of settings");
    }

    @Test
    void readsDeeplyNestedRubbishWithoutHarm() throws IOException {
        char[] deep = new char[6_000];
        Arrays.fill(deep, '[');

        assertThat(problems("--config=" + file("cdi: " + new String(deep)))).isNotEmpty();
    }

    @Test
    void readsDurationsAsGoWritesThem() throws ConfigurationException {
        assertThat(read("--rescan-interval=1m30s").health().scan()).isEqualTo(Duration.ofSeconds(90));
        assertThat(read("--rescan-interval=1.5s").health().scan()).isEqualTo(Duration.ofMillis(1500));
    }

    @Test
    void listsEachSettingInTheHelpAndInTheTableForTheReadme() {
        for (Setting<?> setting : Settings.ALL) {
            assertThat(Settings.help()).contains("--" + setting.name());
            assertThat(Settings.markdown())
                    .contains("| `--" + setting.name() + "` | `" + setting.environmentName() + "` | `"
                            + setting.fileKey() + "` |");
        }
    }

    @ParameterizedTest
    @FieldSource("SETTINGS")
    void hasADefaultThatItWouldAcceptItself(Setting<?> setting) {
        if (!setting.isList()) {
            assertThat(setting.problemWith(setting.defaultText())).isEmpty();
        }
    }
}
