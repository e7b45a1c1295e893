package io.erdma.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** docs/troubleshooting.md speaks of the doctor's lines by their names. */
class TroubleshootingTest {
    private static final Pattern NAMED = Pattern.compile("\\*\\*([^*]+)\\*\\*");

    private final List<String> titles = Checks.ALL.stream().map(Check::title).toList();
    private String guide;

    @BeforeEach
    void read() throws IOException {
        guide = Files.readString(Path.of("../docs/troubleshooting.md"));
    }

    private static List<String> named(String text) {
        return NAMED.matcher(text).results().map(name -> name.group(1)).toList();
    }

    @Test
    void namesNoLineThatTheDoctorDoesNotHave() {
        assertThat(named(guide)).isNotEmpty().isSubsetOf(titles);
    }

    @Test
    void listsEveryLineOfTheDoctorInItsOrder() {
        String table = guide.substring(guide.indexOf("<!-- checks -->"), guide.indexOf("<!-- /checks -->"));
        assertThat(named(table)).isEqualTo(titles);
    }

    @Test
    void saysOfEveryLineWhereItHelps() {
        String symptoms = guide.substring(0, guide.indexOf("<!-- checks -->"));
        assertThat(named(symptoms)).containsAll(titles);
    }

    /** Each part below "You see" has a table of the doctor's lines, or names one. */
    @Test
    void everySymptomHasALineOfTheDoctor() {
        List<String> symptoms = List.of(guide.split("(?m)^## ", -1)).stream()
                .filter(part -> part.contains("*You see:*"))
                .toList();
        assertThat(symptoms)
                .hasSizeGreaterThan(5)
                .allSatisfy(part -> assertThat(named(part)).isNotEmpty());
    }
}
