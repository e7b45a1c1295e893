package io.erdma.node.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What can be told of the page without a browser; {@link NodePageIT} asks one. */
class PageHtmlTest {
    private static final Pattern TAG = Pattern.compile("<(/?[a-z][a-z0-9]*)((?:\\s[^<>]*)?)>");

    private static Stream<String> states() {
        return Pages.all().keySet().stream();
    }

    private static String html(NodePage page) {
        return PageHtml.of(page, true);
    }

    @Test
    void loadsItselfAgainUnlessItIsToStandStill() {
        assertThat(PageHtml.of(Pages.healthy(1), true))
                .contains("<meta http-equiv=\"refresh\" content=\"10\">", "href=\"/?refresh=off\"");
        assertThat(PageHtml.of(Pages.healthy(1), false))
                .doesNotContain("http-equiv")
                .contains("href=\"/\"");
    }

    @ParameterizedTest
    @MethodSource("states")
    void hasNoOtherElementsWhateverTheNamesAre(String state) {
        assertThat(tags(html(Pages.all().get(state))))
                .isSubsetOf(tags(html(Pages.healthy(2))
                        + html(Pages.oneSick())
                        + html(Pages.notRegistered())
                        + html(Pages.justStarted())));
    }

    private static Set<String> tags(String html) {
        return TAG.matcher(html.replace(PageStyle.CSS, ""))
                .results()
                .map(tag -> tag.group(1))
                .collect(Collectors.toSet());
    }

    @ParameterizedTest
    @MethodSource("states")
    void closesWhatItOpens(String state) {
        Map<String, Long> counts = TAG.matcher(html(Pages.all().get(state)).replace(PageStyle.CSS, ""))
                .results()
                .filter(tag -> !tag.group(2).endsWith("/") && !tag.group(1).equals("meta"))
                .map((MatchResult tag) -> tag.group(1))
                .collect(Collectors.groupingBy(name -> name, Collectors.counting()));
        counts.keySet().stream()
                .filter(name -> !name.startsWith("/"))
                .forEach(name -> assertThat(counts.get("/" + name)).as(name).isEqualTo(counts.get(name)));
    }

    @Test
    void staysSmallAlsoForABusyNodeAndForNamesOfAnyLength() {
        assertThat(html(Pages.pods(5_000))).hasSizeLessThan(400_000).contains("4502 more are not shown");
        assertThat(html(Pages.hostile())).hasSizeLessThan(100_000);
    }

    @Test
    void tellsEachDeviceWithItsReasonAndSinceWhen() {
        assertThat(html(Pages.oneSick()))
                .contains("<h3><bdi>erdma_0</bdi></h3>", "port 1 is DOWN: the link eth1 has no carrier")
                .contains("<time datetime=\"2026-12-01T13:02:30Z\">2026-12-01 13:02:30 UTC</time>, for 1 min 35 s")
                .contains("<dt>Shares held</dt><dd>1 of 200");
    }

    @Test
    void saysUnknownWhereNobodyToldTheBudget() {
        assertThat(html(Pages.oneSick())).contains("the instance’s budget is unknown");
        assertThat(html(Pages.healthy(1))).contains("the instance may have 131072");
    }

    @Test
    void saysWhyItDoesNotKnowWhoUsesTheDevices() {
        assertThat(html(Pages.withoutHostPids())).contains("set hostPID: true", "200 offered");
    }

    @Test
    void letsABrowserTakeNothingButItsOwnStyle() {
        assertThat(PageStyle.POLICY)
                .startsWith("default-src 'none'; style-src 'sha256-")
                .doesNotContain("unsafe");
        assertThat(html(Pages.healthy(1)))
                .contains("<style>" + PageStyle.CSS + "</style>")
                .doesNotContain("style=\"");
    }
}
