package io.erdma.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** What the README says of this project is so. */
class ReadmeTest {
    private static final Path PROJECT = Path.of("..");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");
    private static final Pattern MAKE = Pattern.compile("\\bmake ([a-z][a-z0-9-]*)");
    private static final Pattern CODE = Pattern.compile("`[^`\n]+`");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```([a-z]*)\n(.*?)^```$");

    private String readme;

    @BeforeEach
    void read() throws IOException {
        readme = Files.readString(PROJECT.resolve("README.md"));
    }

    @Test
    void settingsAreThoseOfTheAgent() {
        assertThat(readme).containsOnlyOnce("<!-- settings -->").containsOnlyOnce("<!-- /settings -->");
        String table = readme.substring(readme.indexOf("<!-- settings -->") + 17, readme.indexOf("<!-- /settings -->"));

        assertThat(table.strip()).isEqualTo(Settings.markdown().strip());
    }

    @Test
    void isFilledIn() {
        assertThat(readme).doesNotContain("@@").doesNotContainIgnoringCase("TODO");
    }

    @Test
    void linksLeadSomewhere() throws IOException {
        List<String> links = LINK.matcher(withoutBlocks())
                .results()
                .map(match -> match.group(1))
                .filter(link -> !link.matches("[a-z]+:.*"))
                .toList();
        assertThat(links).isNotEmpty();
        for (String link : links) {
            String[] parts = link.split("#", 2);
            Path file = parts[0].isEmpty() ? PROJECT.resolve("README.md") : PROJECT.resolve(parts[0]);
            assertThat(file).as("%s of README.md", link).exists();
            if (parts.length == 2) {
                assertThat(anchors(Files.readString(file)))
                        .as("headings of %s", file)
                        .contains(parts[1]);
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

    @Test
    void makeTargetsExist() throws IOException {
        List<String> known = Files.readAllLines(PROJECT.resolve("Makefile")).stream()
                .filter(line -> line.matches("[a-z][a-z0-9-]*:.*"))
                .map(line -> line.substring(0, line.indexOf(':')))
                .toList();
        StringBuilder code = new StringBuilder();
        BLOCK.matcher(readme).results().map(block -> block.group(2)).forEach(code::append);
        CODE.matcher(withoutBlocks()).results().map(MatchResult::group).forEach(code::append);

        List<String> named = MAKE.matcher(code)
                .results()
                .map(match -> match.group(1))
                .distinct()
                .toList();

        assertThat(named).contains("demo", "test").isSubsetOf(known);
    }

    @Test
    void yamlIsYaml() {
        BLOCK.matcher(readme)
                .results()
                .filter(block -> block.group(1).matches("ya?ml"))
                .forEach(block -> {
                    Load load = new Load(LoadSettings.builder().build());
                    assertThat(load.loadAllFromString(block.group(2)))
                            .as(block.group(2))
                            .isNotEmpty();
                });
    }

    private String withoutBlocks() {
        return BLOCK.matcher(readme).replaceAll("");
    }
}
