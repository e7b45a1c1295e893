package io.erdma.node.page;

import io.erdma.device.DeviceHealth;
import io.erdma.node.driver.DriverStatus;
import io.erdma.node.log.RecentLines;
import io.erdma.node.page.NodePage.Device;
import io.erdma.node.page.NodePage.Offer;
import io.erdma.node.page.NodePage.Use;
import io.erdma.node.page.Notice.Level;
import io.erdma.node.page.Sparkline.Direction;
import io.erdma.pods.UsageSnapshot;
import io.erdma.traffic.TrafficHistory.Point;
import io.erdma.traffic.TrafficHistory.Series;
import io.erdma.traffic.TrafficRates;
import io.erdma.traffic.TrafficTotals;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * The node's page as HTML: one document that needs nothing else, no script, and no width. Its only style is {@link
 * PageStyle}'s, which is all that its policy allows.
 */
public final class PageHtml {
    private static final Duration REFRESH = TrafficSampler.PERIOD;

    private final NodePage page;
    private final boolean refreshing;
    private final Markup html = new Markup();

    private PageHtml(NodePage page, boolean refreshing) {
        this.page = page;
        this.refreshing = refreshing;
    }

    /** @param refreshing whether the page loads itself again after a while */
    public static String of(NodePage page, boolean refreshing) {
        var document = new PageHtml(page, refreshing);
        document.write();
        return document.html.toString();
    }

    private void write() {
        List<Notice> notices = Notice.of(page);
        html.raw("""
                        <!DOCTYPE html>
                        <html lang="en">
                        <head>
                        <meta charset="utf-8">
                        <meta name="viewport" content="width=device-width, initial-scale=1">
                        <meta name="color-scheme" content="light dark">
                        <title>""")
                .text(notices.getFirst().headline())
                .raw(" – ")
                .text(page.node())
                .raw("</title>\n");
        if (refreshing) {
            html.raw("<meta http-equiv=\"refresh\" content=\"")
                    .number(REFRESH.toSeconds())
                    .raw("\">\n");
        }
        html.raw("<style>").raw(PageStyle.CSS).raw("</style>\n</head>\n<body>\n");
        head(notices);
        html.raw("<main>\n");
        devices();
        html.raw("<div class=\"pair\">\n");
        driver();
        kubelet();
        html.raw("</div>\n");
        use();
        plans();
        events();
        html.raw("</main>\n");
        foot();
        html.raw("</body>\n</html>\n");
    }

    private void head(List<Notice> notices) {
        html.raw("<header class=\"")
                .raw(style(notices.getFirst().level()))
                .raw("\">\n<p class=\"kind\">eRDMA node</p>\n<h1>");
        html.name(page.node()).raw("</h1>\n<ul class=\"notices\">\n");
        for (Notice notice : notices) {
            html.raw("<li class=\"notice ").raw(style(notice.level())).raw("\">");
            icon(notice.level());
            html.raw("<div><strong>").text(notice.headline()).raw("</strong>");
            if (!notice.detail().isEmpty()) {
                html.raw("<p>").text(notice.detail()).raw("</p>");
            }
            html.raw("</div></li>\n");
        }
        html.raw("</ul>\n</header>\n");
    }

    private static String style(Level level) {
        return switch (level) {
            case GOOD -> "good";
            case IDLE -> "idle";
            case BUSY -> "busy";
            case WARNING -> "warning";
            case BAD -> "bad";
        };
    }

    /** A shape for each level, since not everybody sees colours; what it means always stands beside it. */
    private void icon(Level level) {
        html.raw("<svg class=\"icon\" viewBox=\"0 0 16 16\" aria-hidden=\"true\">")
                .raw(
                        switch (level) {
                            case GOOD -> "<circle cx=\"8\" cy=\"8\" r=\"7\"/><path d=\"M4.5 8.3 7 10.8 11.6 5.6\"/>";
                            case IDLE -> "<circle class=\"ring\" cx=\"8\" cy=\"8\" r=\"6\"/>";
                            case BUSY ->
                                "<circle class=\"ring\" cx=\"8\" cy=\"8\" r=\"6\" stroke-dasharray=\"4 2.3\"/>";
                            case WARNING ->
                                "<path class=\"body\" d=\"M8 1 15.5 14.5H.5Z\"/><path d=\"M8 6v4M8 12v.4\"/>";
                            case BAD ->
                                "<path class=\"body\" d=\"M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5Z\"/><path d=\"M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2\"/>";
                        })
                .raw("</svg>");
    }

    private void pill(Level level, String word) {
        html.raw("<span class=\"pill ").raw(style(level)).raw("\">");
        icon(level);
        html.text(word).raw("</span>");
    }

    private void section(String id, String title) {
        html.raw("<section aria-labelledby=\"")
                .raw(id)
                .raw("\">\n<h2 id=\"")
                .raw(id)
                .raw("\">")
                .raw(title)
                .raw("</h2>\n");
    }

    private void devices() {
        section("devices", "Devices");
        if (page.devices().isEmpty()) {
            html.raw("<p class=\"card empty\">")
                    .text(page.scanned() ? "There is none." : "Not looked at yet.")
                    .raw("</p>\n");
        } else {
            html.raw("<ul class=\"cards\" role=\"list\">\n");
            page.devices().forEach(this::device);
            html.raw("</ul>\n");
        }
        html.raw("</section>\n");
    }

    private void device(Device device) {
        html.raw("<li class=\"card\">\n<div class=\"title\"><h3>")
                .name(device.name())
                .raw("</h3>");
        switch (device.offer()) {
            case Offer.Offered(DeviceHealth.Healthy(Instant since)) -> {
                pill(Level.GOOD, "Healthy");
                html.raw("</div>\n");
                since(since);
            }
            case Offer.Offered(DeviceHealth.Unhealthy(String reason, Instant since)) -> {
                pill(Level.BAD, "Unhealthy");
                html.raw("</div>\n<p class=\"why\">").text(reason).raw("</p>\n");
                since(since);
            }
            case Offer.Withheld(String reason) -> {
                pill(Level.IDLE, "Not offered");
                html.raw("</div>\n<p class=\"why\">").text(reason).raw("</p>\n");
            }
        }
        device.traffic().ifPresent(traffic -> traffic(device, traffic));
        html.raw("<dl>\n");
        held(device)
                .ifPresentOrElse(
                        held -> shares(held, device.shares()), () -> fact("Shares", device.shares() + " offered"));
        fact("Queue pairs", queuePairs(device));
        device.netdev().ifPresent(netdev -> fact("Interface", netdev));
        fact("NUMA node", number(device.numaNode()));
        device.pciAddress().ifPresent(address -> fact("PCI address", address));
        fact("Driver", device.driver());
        html.raw("</dl>\n</li>\n");
    }

    private void since(Instant since) {
        html.raw("<p class=\"since\">since ");
        time(since);
        html.raw(", for ").text(Words.time(Duration.between(since, page.at()))).raw("</p>\n");
    }

    private void time(Instant at) {
        html.raw("<time datetime=\"")
                .text(at.toString())
                .raw("\">")
                .text(Words.time(at))
                .raw("</time>");
    }

    private void fact(String name, String value) {
        html.raw("<div><dt>").raw(name).raw("</dt><dd>").name(value).raw("</dd></div>\n");
    }

    /** A word beside a bar that says the same. */
    private void shares(int held, int offered) {
        long filled = offered == 0 ? 0 : Math.round(100.0 * Math.min(held, offered) / offered);
        html.raw("<div><dt>Shares held</dt><dd>")
                .number(held)
                .raw(" of ")
                .number(offered)
                .raw("<svg class=\"bar\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
                        + "<rect width=\"100\" height=\"6\"/><rect class=\"filled\" height=\"6\" width=\"")
                .number(filled)
                .raw("\"/></svg></dd></div>\n");
    }

    private Optional<UsageSnapshot> known() {
        return page.use() instanceof Use.Known(var snapshot) ? Optional.of(snapshot) : Optional.empty();
    }

    private Optional<Integer> held(Device device) {
        return known().map(snapshot -> snapshot.shares().stream()
                .filter(hold -> hold.device().equals(device.name()))
                .mapToInt(UsageSnapshot.ShareHold::shares)
                .sum());
    }

    private String queuePairs(Device device) {
        return known().stream()
                .flatMap(snapshot -> snapshot.devices().stream())
                .filter(use -> use.device().equals(device.name()))
                .map(use -> Integer.toString(use.queuePairs()))
                .findFirst()
                .orElse("unknown");
    }

    private static String number(OptionalInt number) {
        return number.isPresent() ? Integer.toString(number.getAsInt()) : "unknown";
    }

    private void traffic(Device device, Series traffic) {
        List<Point> points = traffic.points();
        double top = Sparkline.highest(points);
        Duration age = points.isEmpty()
                ? TrafficSampler.REMEMBERED
                : Duration.between(points.getLast().at(), page.at());
        html.raw("<figure>\n<figcaption>\n");
        for (Direction direction : Direction.values()) {
            rate(direction, points);
        }
        html.raw("</figcaption>\n<svg class=\"flow\" viewBox=\"0 0 ")
                .number(Sparkline.WIDTH)
                .raw(" ")
                .number(Sparkline.HEIGHT)
                .raw("\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Traffic of ")
                .text(device.name())
                .raw(" in the last 10 minutes: received at most ")
                .text(Words.rate(Sparkline.highest(points, Direction.RECEIVED)))
                .raw(", sent at most ")
                .text(Words.rate(Sparkline.highest(points, Direction.SENT)))
                .raw("\">");
        for (Direction direction : Direction.values()) {
            html.raw("<path class=\"")
                    .raw(style(direction))
                    .raw("\" vector-effect=\"non-scaling-stroke\" d=\"")
                    .raw(Sparkline.path(points, direction, page.at(), TrafficSampler.REMEMBERED, top))
                    .raw("\"/>");
        }
        html.raw("</svg>\n<p class=\"axis\" aria-hidden=\"true\"><span>10 min ago</span><span>")
                .text(top > 0 ? "top " + Words.rate(OptionalDouble.of(top)) : "")
                .raw("</span><span>now</span></p>\n");
        if (age.compareTo(TrafficSampler.PERIOD.multipliedBy(3)) > 0) {
            html.raw("<p class=\"why\">The driver has not told its counters for ")
                    .text(Words.time(age))
                    .raw(".</p>\n");
        }
        limits(points);
        Optional.of(traffic.latest())
                .flatMap(TrafficTotals::carrier)
                .ifPresent(carrier -> html.raw(
                                "<p class=\"note\">The device counts no bytes; these are all of its interface ")
                        .name(carrier)
                        .raw(".</p>\n"));
        html.raw("</figure>\n");
    }

    private void rate(Direction direction, List<Point> points) {
        TrafficRates.Rate rate =
                direction.of(points.isEmpty() ? new Point(page.at(), TrafficRates.UNKNOWN) : points.getLast());
        html.raw("<span class=\"rate\"><svg class=\"key\" viewBox=\"0 0 18 6\" aria-hidden=\"true\"><path class=\"")
                .raw(style(direction))
                .raw("\" d=\"M1 3H17\"/></svg><span>")
                .raw(
                        switch (direction) {
                            case RECEIVED -> "rx (download)";
                            case SENT -> "tx (upload)";
                        })
                .raw("</span><b>")
                .text(Words.rate(rate.bytes()))
                .raw("</b><span class=\"packets\">")
                .text(Words.packets(rate.packets()))
                .raw("</span></span>\n");
    }

    private static String style(Direction direction) {
        return switch (direction) {
            case RECEIVED -> "rx";
            case SENT -> "tx";
        };
    }

    private void limits(List<Point> points) {
        limit(
                "bandwidth",
                points.stream()
                        .mapToLong(point -> point.rates().bandwidthDrops())
                        .sum());
        limit(
                "packet rate",
                points.stream()
                        .mapToLong(point -> point.rates().packetRateDrops())
                        .sum());
    }

    private void limit(String what, long drops) {
        if (drops > 0) {
            html.raw("<p class=\"why\">Limited by the instance’s ")
                    .raw(what)
                    .raw(" quota: ")
                    .number(drops)
                    .raw(" drops in these 10 minutes.</p>\n");
        }
    }

    private void driver() {
        section("driver", "Driver");
        if (page.driver().isEmpty()) {
            html.raw("<p class=\"card empty\">Not looked at yet.</p>\n");
        } else {
            DriverStatus driver = page.driver().get();
            html.raw("<dl class=\"card\">\n");
            fact("Mode preferred", driver.preferred() + (driver.chosenByNode() ? " (chosen by the node)" : ""));
            fact("Mode in force", driver.inForce().toString());
            fact("Switch pending", driver.pending().orElse("no"));
            driver.problem().ifPresent(problem -> fact("Problem", problem));
            fact("Plan", driver.plan());
            if (!driver.usedBy().isEmpty()) {
                fact("Used by", String.join(", ", driver.usedBy()));
            }
            html.raw("</dl>\n");
        }
        html.raw("</section>\n");
    }

    private void kubelet() {
        section("kubelet", "Kubelet");
        html.raw("<dl class=\"card\">\n");
        fact("Resource", page.resource());
        fact("Registered", page.kubelet().registered() ? "yes" : "no");
        fact("Listens", page.kubelet().streams() > 0 ? "yes" : "no");
        page.kubelet().problem().ifPresent(problem -> fact("Problem", problem));
        html.raw("</dl>\n</section>\n");
    }

    private void use() {
        section("pods", "Pods and queue pairs");
        switch (page.use()) {
            case Use.Unknown(String reason) ->
                html.raw("<p class=\"card empty\">").text(reason).raw("</p>\n");
            case Use.Known(UsageSnapshot snapshot) -> use(snapshot);
        }
        html.raw("</section>\n");
    }

    private void use(UsageSnapshot snapshot) {
        int inUse = snapshot.devices().stream()
                .mapToInt(UsageSnapshot.DeviceUse::queuePairs)
                .sum();
        html.raw("<div class=\"card\">\n<p><b>")
                .number(inUse)
                .raw(inUse == 1 ? " queue pair</b> in use; " : " queue pairs</b> in use; ");
        if (page.queuePairBudget().isPresent()) {
            html.raw("the instance may have ").number(page.queuePairBudget().getAsLong());
        } else {
            html.raw("the instance’s budget is unknown");
        }
        html.raw(". Looked at ")
                .text(Words.time(Duration.between(snapshot.at(), page.at())))
                .raw(" ago.</p>\n");
        for (String problem : snapshot.problems()) {
            html.raw("<p class=\"why\">").text(problem).raw("</p>\n");
        }
        List<UseRow> rows = UseRow.of(snapshot);
        if (rows.isEmpty()) {
            html.raw("<p class=\"note\">No pod holds a share, and nobody has a device open.</p>\n</div>\n");
            return;
        }
        // The roles stay when a narrow screen shows rows as blocks, which takes the elements' own away.
        html.raw("""
                <table role="table">
                <caption>Who holds shares, and who uses the devices</caption>
                <thead role="rowgroup">
                <tr role="row">
                <th role="columnheader" scope="col">Whose</th>
                <th role="columnheader" scope="col">Device</th>
                <th role="columnheader" scope="col" class="number">Shares</th>
                <th role="columnheader" scope="col" class="number">Queue pairs</th>
                <th role="columnheader" scope="col">Use</th>
                </tr>
                </thead>
                <tbody role="rowgroup">
                """);
        rows.stream().limit(UseRow.MOST).forEach(this::row);
        html.raw("</tbody>\n</table>\n");
        if (rows.size() > UseRow.MOST) {
            html.raw("<p class=\"note\">")
                    .number(rows.size() - UseRow.MOST)
                    .raw(" more are not shown; “erdma stat --pods” tells them all.</p>\n");
        }
        html.raw("</div>\n");
    }

    private void row(UseRow row) {
        html.raw("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">")
                .name(row.whose())
                .raw("</th>");
        html.raw("<td role=\"cell\" data-label=\"Device\">").name(row.device()).raw("</td>");
        cell("Shares", row.shares());
        cell("Queue pairs", row.queuePairs());
        html.raw("<td role=\"cell\" data-label=\"Use\">");
        switch (row.use()) {
            case USES -> pill(Level.GOOD, "uses eRDMA");
            case OPEN -> pill(Level.BUSY, "open, no queue pair");
            case ASKS_ONLY -> pill(Level.WARNING, "asked, not used");
            case NO_VERDICT -> html.text(row.note());
        }
        html.raw("</td></tr>\n");
    }

    private void cell(String label, OptionalInt number) {
        html.raw("<td role=\"cell\" class=\"number\" data-label=\"").raw(label).raw("\">");
        html.text(number.isPresent() ? Integer.toString(number.getAsInt()) : Words.UNKNOWN)
                .raw("</td>");
    }

    private void plans() {
        section("plan", "Plan in force");
        html.raw("<ul class=\"card lines\" role=\"list\">\n");
        for (String line : page.plans()) {
            int end = Math.max(0, line.indexOf(' '));
            String word = line.substring(0, end);
            html.raw("<li>");
            switch (word) {
                case "problem" -> pill(Level.BAD, word);
                case "warning" -> pill(Level.WARNING, word);
                case "pending", "planned" -> pill(Level.BUSY, word);
                default -> pill(Level.IDLE, word.isEmpty() ? "info" : word);
            }
            html.raw(" <span>").text(line.substring(end).strip()).raw("</span></li>\n");
        }
        html.raw("</ul>\n</section>\n");
    }

    private void events() {
        section("events", "Recent events");
        if (page.events().isEmpty()) {
            html.raw("<p class=\"card empty\">None yet.</p>\n");
        } else {
            html.raw("<ol class=\"card lines\" role=\"list\">\n");
            page.events().forEach(this::event);
            html.raw("</ol>\n");
        }
        html.raw("</section>\n");
    }

    private void event(RecentLines.Line line) {
        html.raw("<li>");
        switch (line.level()) {
            case ERROR -> pill(Level.BAD, "error");
            case WARN -> pill(Level.WARNING, "warning");
            case INFO, DEBUG -> pill(Level.IDLE, line.level().word());
        }
        html.raw(" <span><time datetime=\"")
                .text(line.at().toString())
                .raw("\">")
                .text(Words.clock(line.at()))
                .raw("</time> ")
                .text(line.text())
                .raw("</span></li>\n");
    }

    private void foot() {
        html.raw("<footer>\n<p>Agent ")
                .name(page.version())
                .raw(", running for ")
                .text(Words.time(Duration.between(page.started(), page.at())))
                .raw(". This is how it stood at ");
        time(page.at());
        html.raw(".</p>\n<p>");
        if (refreshing) {
            html.raw("The page loads itself again every ")
                    .number(REFRESH.toSeconds())
                    .raw(" s. <a href=\"/?refresh=off\">Let it stand still</a>");
        } else {
            html.raw("The page stands still. <a href=\"/\">Keep it up to date</a>");
        }
        html.raw(" · <a href=\"/metrics\">Metrics</a></p>\n</footer>\n");
    }
}
