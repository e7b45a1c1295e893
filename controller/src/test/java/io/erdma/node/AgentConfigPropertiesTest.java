package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever is typed, set or written, the answer is a configuration or a list of problems. */
class AgentConfigPropertiesTest {
    private static final List<String> NAMES =
            Settings.ALL.stream().map(Setting::name).toList();

    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.oneOf(
                Arbitraries.strings().ofMaxLength(12),
                Arbitraries.of(
                        "", "true", "0", "5s", "off", "200", "/x", ":1", "i-* a", "text", "-", "--", "=", "a/b"));
    }

    @Provide
    Arbitrary<List<String>> commandLines() {
        Arbitrary<String> flags = Combinators.combine(
                        Arbitraries.of("-", "--", "---", ""),
                        Arbitraries.oneOf(
                                Arbitraries.of(NAMES),
                                Arbitraries.of("config", "zap-encoder", "zap-log-level", "zap-devel", "kubeconfig"),
                                texts()),
                        Arbitraries.of("", "="),
                        texts())
                .as((dashes, name, equals, value) -> dashes + name + equals + (equals.isEmpty() ? "" : value));
        return Arbitraries.oneOf(flags, texts()).list().ofMaxSize(8);
    }

    @Provide
    Arbitrary<Map<String, String>> environments() {
        Arbitrary<String> names = Arbitraries.oneOf(
                Arbitraries.of(Settings.ALL).map(Setting::environmentName),
                texts().map(text -> "ERDMA_" + text),
                texts());
        return Arbitraries.maps(names, texts()).ofMaxSize(5);
    }

    @Provide
    Arbitrary<String> files() {
        Arbitrary<String> keys = Arbitraries.oneOf(Arbitraries.of(Settings.ALL).map(Setting::fileKey), texts());
        Arbitrary<String> lines = Combinators.combine(
                        keys,
                        Arbitraries.of(": ", ":", ":\n  - ", ": [", ": {", ": &a ", ": *a", ": |\n ", "? "),
                        texts(),
                        Arbitraries.of("\n", "]\n", "}\n", ""))
                .as((key, colon, value, end) -> key + colon + value + end);
        return Arbitraries.oneOf(lines.list().ofMaxSize(6).map(all -> String.join("", all)), Arbitraries.strings());
    }

    @Property(tries = 2_000)
    void answersEveryCommandLineAndEnvironmentWithAConfigurationOrProblems(
            @ForAll("commandLines") List<String> args, @ForAll("environments") Map<String, String> environment) {
        try {
            assertThat(AgentConfigReader.read(args, environment).choices()).hasSize(Settings.ALL.size());
        } catch (ConfigurationException e) {
            assertThat(e.problems()).isNotEmpty();
            assertThat(e.getMessage().lines()).hasSize(e.problems().size() + 1);
        }
    }

    @Property(tries = 2_000)
    void answersEveryFileWithEntriesOrProblems(@ForAll("files") String content) {
        ConfigFile file = ConfigFile.parse(content, "agent.yaml");

        assertThat(file.problems()).allSatisfy(problem -> assertThat(problem).isNotBlank());
        assertThat(file.entries()).allSatisfy(entry -> assertThat(entry.line()).isPositive());
    }

    @Property(tries = 500)
    void losesNoProblemHoweverManyThereAre(@ForAll("wrongSettings") Map<Setting<?>, Boolean> wrong)
            throws ConfigurationException {
        List<String> args = new ArrayList<>();
        Map<String, String> environment = new HashMap<>();
        wrong.forEach((setting, onCommandLine) -> {
            if (onCommandLine) {
                args.add("--" + setting.name() + "=\u0000");
            } else {
                environment.put(setting.environmentName(), "\u0000");
            }
        });
        try {
            AgentConfigReader.read(args, environment);
            assertThat(wrong).isEmpty();
        } catch (ConfigurationException e) {
            assertThat(e.problems()).hasSameSizeAs(wrong.keySet());
        }
    }

    @Provide
    Arbitrary<Map<Setting<?>, Boolean>> wrongSettings() {
        return Arbitraries.maps(Arbitraries.of(Settings.ALL), Arbitraries.of(true, false));
    }
}
