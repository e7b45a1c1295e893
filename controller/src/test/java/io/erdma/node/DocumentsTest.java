package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.w3c.dom.Element;

/** The documents lead where they say, and speak of what is there. */
class DocumentsTest {
    private static final Path PROJECT = Path.of("..");
    private static final Path DESIGN = Path.of("src/main/java/io/erdma/node/DESIGN.md");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$");
    private static final Pattern THREAD = Pattern.compile("(?m)^\\| `(erdma-[a-z]+)");

    static List<Path> documents() throws IOException {
        try (Stream<Path> files = Files.list(PROJECT.resolve("docs"))) {
            Stream<Path> inRoot = Stream.concat(Stream.of(PROJECT.resolve("CHANGELOG.md")), translations().stream());
            return Stream.concat(inRoot, files)
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    static List<Path> translations() {
        return List.of(PROJECT.resolve("README.zh-CN.md"), PROJECT.resolve("README.ja.md"));
    }

    /** What is not translated can't be mistranslated: a reader of any language runs the same. */
    @ParameterizedTest
    @MethodSource("translations")
    void translationsHaveTheCommandsAndTheYamlOfTheReadme(Path translation) throws IOException {
        String readme = Files.readString(PROJECT.resolve("README.md"));
        assertThat(BLOCK.matcher(Files.readString(translation)).results().map(MatchResult::group))
                .hasSize(2)
                .allSatisfy(block -> assertThat(readme).contains(block));
    }

    @ParameterizedTest
    @MethodSource("documents")
    void linksLeadSomewhere(Path document) throws IOException {
        String text = BLOCK.matcher(Files.readString(document)).replaceAll("");
        for (String link :
                LINK.matcher(text).results().map(match -> match.group(1)).toList()) {
            if (!link.matches("[a-z]+:.*")) {
                String[] parts = link.split("#", 2);
                Path target = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]);
                assertThat(target).as("%s of %s", link, document).exists();
                if (parts.length == 2) {
                    assertThat(anchors(Files.readString(target)))
                            .as("headings of %s", target)
                            .contains(parts[1]);
                }
            }
        }
    }

    /** As GitHub makes them of headings. */
    private static List<String> anchors(String markdown) {
        return HEADING.matcher(markdown)
                .results()
                .map(match -> match.group(1).strip().toLowerCase(Locale.ROOT))
                .map(heading -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void yamlIsYaml(Path document) throws IOException {
        BLOCK.matcher(Files.readString(document))
                .results()
                .filter(block -> block.group(1).matches("ya?ml"))
                .forEach(block -> {
                    Load load = new Load(LoadSettings.builder().build());
                    assertThat(load.loadAllFromString(block.group(2)))
                            .as(block.group(2))
                            .isNotEmpty();
                });
    }

    @ParameterizedTest
    @MethodSource("documents")
    void isFilledIn(Path document) throws IOException {
        assertThat(document).content().doesNotContain("@@").doesNotContainIgnoringCase("TODO");
    }

    @Test
    void architectureNamesTheThreadsThatTheDesignNames() throws IOException {
        String architecture = Files.readString(PROJECT.resolve("docs/architecture.md"));
        assertThat(threads(architecture)).containsAll(threads(Files.readString(DESIGN)));

        StringBuilder code = new StringBuilder();
        for (String sources : List.of("src/main/java", "../device-plugin/src/main/java")) {
            try (Stream<Path> files = Files.walk(Path.of(sources))) {
                for (Path file :
                        files.filter(name -> name.toString().endsWith(".java")).toList()) {
                    code.append(Files.readString(file));
                }
            }
        }
        assertThat(threads(architecture))
                .allSatisfy(thread -> assertThat(code.toString()).containsPattern('"' + thread + "[ \"-]"));
    }

    private static Set<String> threads(String markdown) {
        Set<String> threads = new TreeSet<>();
        THREAD.matcher(markdown).results().forEach(match -> threads.add(match.group(1)));
        assertThat(threads).isNotEmpty();
        return threads;
    }

    /** It is drawn by hand, as text, and read by people who see it and people who hear it. */
    @Test
    void thePictureIsReadableInTheDarkAndByScreenReaders() throws Exception {
        Path file = PROJECT.resolve("docs/architecture.svg");
        Element svg = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(file.toFile())
                .getDocumentElement();
        assertThat(svg.getTagName()).isEqualTo("svg");
        assertThat(svg.getElementsByTagName("title").getLength()).isEqualTo(1);
        assertThat(svg.getElementsByTagName("desc").getLength()).isEqualTo(1);
        assertThat(svg.getElementsByTagName("script").getLength()).isZero();
        assertThat(file).content().contains("prefers-color-scheme: dark");
    }
}
