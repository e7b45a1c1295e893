package io.erdma.node.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.erdma.node.http.HttpServer;
import io.erdma.node.http.PagePaths;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The page in a real browser, served as the agent serves it. Pictures of every state stay in {@code
 * target/node-page/STATE-WIDTH-COLOURS.png}.
 */
class NodePageIT {
    private static final Path PICTURES = Path.of("target", "node-page");
    private static final int PHONE = 360;
    private static final int DESKTOP = 1280;

    /** Text whose contrast to what it stands on is below 4.5, as WCAG 2.1 counts it; "ratio text" each. */
    private static final String POOR_CONTRASTS = """
            (() => {
              const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
              const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255)
                  .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
              const behind = element => {
                for (let e = element; e; e = e.parentElement) {
                  const colour = numbers(getComputedStyle(e).backgroundColor);
                  if (colour.length < 4 || colour[3] === 1) return colour;
                  if (colour[3] !== 0) throw new Error('half transparent');
                }
                return [255, 255, 255];
              };
              const poor = [];
              let seen = 0;
              const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
              while (walker.nextNode()) {
                const text = walker.currentNode.textContent.trim();
                if (!text) continue;
                const element = walker.currentNode.parentElement;
                const [a, b] = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))];
                const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                seen++;
                if (ratio < 4.5) poor.push(ratio.toFixed(2) + ' ' + text.slice(0, 40));
              }
              return {seen, poor};
            })()
            """;

    /** Whatever reaches beyond the right edge: "tag.class right". */
    private static final String BEYOND_THE_EDGE = """
            (() => {
              const width = document.documentElement.clientWidth;
              const wide = [...document.body.querySelectorAll('*')]
                  .filter(e => e.getBoundingClientRect().right > width + 0.5 && !e.closest('thead'))
                  .map(e => e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + e.getBoundingClientRect().right);
              return {scroll: document.documentElement.scrollWidth, width, wide};
            })()
            """;

    private static Browser browser;

    @TempDir
    static Path directory;

    @BeforeAll
    static void start() throws IOException {
        Files.createDirectories(PICTURES);
        browser = Browser.start(directory);
    }

    @AfterAll
    static void end() {
        if (browser != null) {
            browser.close();
        }
    }

    private static Stream<String> states() {
        return Pages.all().keySet().stream();
    }

    @FunctionalInterface
    private interface Check {
        void on(String url) throws IOException;
    }

    private static void served(NodePage page, Check check) throws IOException {
        try (HttpServer server = HttpServer.create()) {
            InetSocketAddress address = server.listen(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    new PagePaths(
                            new PagePaths.Page(refreshing -> PageHtml.of(page, refreshing), PageStyle.POLICY),
                            () -> ""));
            check.on("http://127.0.0.1:" + address.getPort() + "/?refresh=off");
        }
    }

    @ParameterizedTest
    @MethodSource("states")
    void isReadableOnPhoneAndDesktopInDarkAndLight(String state) throws IOException {
        served(Pages.all().get(state), url -> {
            for (int width : new int[] {PHONE, DESKTOP}) {
                for (boolean dark : new boolean[] {false, true}) {
                    browser.look(width, 800, dark, true);
                    browser.open(url);
                    browser.screenshot(PICTURES.resolve(
                            state + (width == PHONE ? "-phone" : "-desktop") + (dark ? "-dark" : "-light") + ".png"));
                    String where = state + " at " + width + (dark ? ", dark" : ", light");

                    JsonNode edge = browser.evaluate(BEYOND_THE_EDGE);
                    assertThat(edge.get("wide")).as(where).isEmpty();
                    assertThat(edge.get("scroll").asInt()).as(where).isLessThanOrEqualTo(width);

                    JsonNode contrasts = browser.evaluate(POOR_CONTRASTS);
                    assertThat(contrasts.get("seen").asInt()).as(where).isGreaterThan(20);
                    assertThat(contrasts.get("poor")).as(where).isEmpty();

                    boolean isDark = browser.evaluate(
                                    "getComputedStyle(document.body).backgroundColor === 'rgb(15, 20, 27)'")
                            .asBoolean();
                    assertThat(isDark).as(where).isEqualTo(dark);
                }
            }
        });
    }

    @ParameterizedTest
    @MethodSource("states")
    void tellsTheSameWithoutScriptsAndAsksForNothingElse(String state) throws IOException {
        served(Pages.all().get(state), url -> {
            browser.look(DESKTOP, 800, false, true);
            browser.open(url);
            String with = browser.html();
            browser.takeEvents("Network.requestWillBeSent");
            browser.takeEvents("Log.entryAdded");
            browser.look(DESKTOP, 800, false, false);
            browser.open(url);

            assertThat(browser.html()).isEqualTo(with).doesNotContain("<script");
            assertThat(browser.takeEvents("Network.requestWillBeSent"))
                    .extracting(event -> event.at("/params/request/url").asText())
                    .containsOnly(url);
            assertThat(browser.takeEvents("Log.entryAdded"))
                    .extracting(event -> event.at("/params/entry/text").asText())
                    .isEmpty();
        });
    }

    @Test
    void tellsScreenReadersWhatItShows() throws IOException {
        served(Pages.oneSick(), url -> {
            browser.look(PHONE, 800, false, true);
            browser.open(url);
            List<String> told = accessible();

            assertThat(told)
                    .contains(
                            "RootWebArea 1 of 2 devices is unhealthy – cn-hangzhou.10.0.3.17",
                            "heading cn-hangzhou.10.0.3.17",
                            "heading Devices",
                            "heading erdma_0",
                            "heading erdma_1",
                            "heading Driver",
                            "heading Kubelet",
                            "heading Pods and queue pairs",
                            "heading Plan in force",
                            "heading Recent events",
                            "region Devices",
                            "table Who holds shares, and who uses the devices",
                            "columnheader Queue pairs",
                            "link Metrics")
                    .anyMatch(line -> line.startsWith("rowheader training/llama-70b-worker-0/pytorch"))
                    .anyMatch(line ->
                            line.matches("ima?ge? Traffic of erdma_1 in the last 10 minutes: received at most .*"));
            assertThat(browser.evaluate("document.documentElement.lang").asText())
                    .isEqualTo("en");
            assertThat(browser.evaluate("document.title").asText())
                    .isEqualTo("1 of 2 devices is unhealthy – cn-hangzhou.10.0.3.17");
        });
    }

    /** "role name" of all that assistive technology gets to know. */
    private static List<String> accessible() {
        JsonNode nodes = browser.send("Accessibility.getFullAXTree", Map.of()).get("nodes");
        List<String> told = new ArrayList<>();
        nodes.forEach(node -> {
            if (!node.path("ignored").asBoolean()) {
                told.add(node.at("/role/value").asText() + " "
                        + node.at("/name/value").asText());
            }
        });
        return told;
    }

    @Test
    void letsNoNameBecomeMarkup() throws IOException {
        served(Pages.hostile(), url -> {
            browser.look(DESKTOP, 800, false, true);
            browser.open(url);

            assertThat(browser.evaluate("document.title").asText()).contains("<script>document.title='owned'</script>");
            for (String element : List.of("script", "img", "main li > b", "[onerror]", "[onmouseover]")) {
                assertThat(browser.evaluate("document.querySelectorAll(\"" + element + "\").length")
                                .asInt())
                        .as(element)
                        .isZero();
            }
            assertThat(browser.evaluate("document.querySelectorAll('h1').length")
                            .asInt())
                    .isEqualTo(1);
            String text = browser.evaluate("document.body.textContent").asText();
            assertThat(text)
                    .contains(
                            "<script>document.title='owned'</script>",
                            "\"><img src=x onerror=alert(1)>",
                            "&lt;b&gt;&amp;")
                    .contains("evil\\u202egnp.exe\\u2066\\u200b", "bell\\x07\\x1b[31mred\\x00\\x0a<b>line</b>")
                    .doesNotContain("\u202e", "\u0007", "x".repeat(2_000));
        });
    }

    @Test
    void showsCurvesThatABrowserDraws() throws IOException {
        served(Pages.healthy(1), url -> {
            browser.look(DESKTOP, 800, false, true);
            browser.open(url);
            JsonNode boxes = browser.evaluate(
                    "[...document.querySelectorAll('svg.flow path')].map(p => p.getBBox()).map(b => [b.width, b.height])");
            assertThat(boxes).hasSize(2);
            assertThat(StreamSupport.stream(boxes.spliterator(), false)).allSatisfy(box -> {
                assertThat(box.get(0).asDouble()).isGreaterThan(250);
                assertThat(box.get(1).asDouble()).isGreaterThan(10);
            });
        });
    }
}
