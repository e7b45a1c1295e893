package io.erdma.bench;

import io.erdma.lab.Command;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The figures as a Markdown page, beside those of the page that was committed last. */
final class Report {
    private static final int BAR = 20;
    /** Of the last figure's value; less is the difference from one run to the next. */
    private static final double STEP_BACK = 1.15;

    private Report() {}

    /** @param committed the page's former text, empty when there is none */
    static String page(List<Figure> figures, String committed, List<String> notes) {
        Map<String, Double> before = read(committed);
        List<Integer> columns =
                figures.stream().map(Figure::devices).distinct().sorted().toList();
        StringBuilder out = new StringBuilder(6_000)
                .append("# Measured\n\nWritten by `make bench` on ")
                .append(LocalDate.now(ZoneOffset.UTC))
                .append(": ")
                .append(machine())
                .append(".\n\n");
        for (String note : notes) {
            out.append("- ").append(note).append('\n');
        }
        out.append("""

                A column for each number of devices. `×` is the ratio to the page that was committed last; a percentile of
                less than a hundred samples is their maximum, and says so. The bar is the share of the aim that the worst
                of the row takes, `!` marks one that misses it; *growth* is the last column over the first. The last bar is the
                worst of the row's ratios, half full at 1; `!` marks one above 1.15, which is a step back.

                | figure |""");
        columns.forEach(devices -> out.append(" %d %s |".formatted(devices, devices == 1 ? "device" : "devices")));
        out.append(" growth | aim | of the aim | of the last |\n|---|")
                .append("---:|".repeat(columns.size() + 2))
                .append("---|---|\n");
        figures.stream().map(Figure::name).distinct().forEach(name -> {
            List<Figure> row = figures.stream()
                    .filter(figure -> figure.name().equals(name))
                    .toList();
            out.append("| ").append(name).append(" |");
            for (int devices : columns) {
                out.append(' ')
                        .append(row.stream()
                                .filter(figure -> figure.devices() == devices)
                                .map(figure -> cell(figure, before))
                                .collect(Collectors.joining()))
                        .append(" |");
            }
            row(row, before, out);
        });
        return out.toString();
    }

    private static String cell(Figure figure, Map<String, Double> before) {
        String text = text(figure.value(), figure.unit());
        OptionalDouble ratio = ratio(figure, before);
        if (ratio.isPresent()) {
            text += String.format(Locale.ROOT, " ×%.2f", ratio.getAsDouble());
        }
        return figure.isMaximum() ? text + " (max of " + figure.samples() + ")" : text;
    }

    /** To what the page said before, if it did. */
    private static OptionalDouble ratio(Figure figure, Map<String, Double> before) {
        double then = before.getOrDefault(key(figure.name(), figure.devices()), 0.0);
        return then > 0 ? OptionalDouble.of(figure.value() / then) : OptionalDouble.empty();
    }

    /** How many figures are worse than on the page that was committed last. */
    static long stepsBack(List<Figure> figures, String committed) {
        Map<String, Double> before = read(committed);
        return figures.stream()
                .filter(figure -> ratio(figure, before).orElse(1) > STEP_BACK)
                .count();
    }

    /** Growth, aim and bars. */
    private static void row(List<Figure> row, Map<String, Double> before, StringBuilder out) {
        Figure first = row.getFirst();
        Figure last = row.getLast();
        out.append(' ');
        if (row.size() > 1 && first.value() > 0) {
            out.append(String.format(Locale.ROOT, "%.2f", last.value() / first.value()));
        }
        Optional<Figure> worst =
                row.stream().filter(figure -> figure.aim().isPresent()).max(Comparator.comparingDouble(Figure::value));
        out.append(" | ")
                .append(worst.map(figure -> text(figure.aim().getAsDouble(), figure.unit()))
                        .orElse(""))
                .append(" | ")
                .append(worst.map(figure -> bar(figure.value() / figure.aim().getAsDouble(), figure.misses()))
                        .orElse(""))
                .append(" | ");
        row.stream()
                .flatMapToDouble(figure -> ratio(figure, before).stream())
                .max()
                .ifPresent(ratio -> out.append(bar(ratio / 2, ratio > STEP_BACK)));
        out.append(" |\n");
    }

    /** The figures of a page, by name and number of devices, which the table's head gives. */
    static Map<String, Double> read(String page) {
        Map<String, Double> figures = new HashMap<>();
        List<String> head = List.of();
        for (String line : page.lines().filter(line -> line.startsWith("| ")).toList()) {
            List<String> cells =
                    Stream.of(line.split("\\|", -1)).map(String::strip).toList();
            if (cells.get(1).equals("figure")) {
                head = cells;
            }
            for (int i = 2; i < Math.min(cells.size(), head.size()); i++) {
                String number = cells.get(i).split(" ", -1)[0];
                if (head.get(i).matches("\\d+ devices?") && number.matches("[0-9]+(\\.[0-9]+)?")) {
                    figures.put(
                            key(cells.get(1), Integer.parseInt(head.get(i).split(" ", -1)[0])), Double.valueOf(number));
                }
            }
        }
        return figures;
    }

    private static String key(String name, int devices) {
        return name + "@" + devices;
    }

    /** What the last commit holds of a file; empty when it is new, or when this is no clone. */
    static String committed(Path file) {
        Command.Result result = Command.run(List.of("git", "show", "HEAD:./" + file));
        return result.code() == 0 ? result.out() : "";
    }

    private static String text(double value, String unit) {
        String number = value >= 100
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, value >= 10 ? "%.1f" : "%.3f", value);
        return number + " " + unit;
    }

    private static String bar(double share, boolean marked) {
        int filled = (int) Math.clamp(Math.round(share * BAR), 0L, BAR);
        return "`" + "#".repeat(filled) + ".".repeat(BAR - filled) + (marked ? "!`" : "`");
    }

    private static String machine() {
        try {
            String cpu = Files.readAllLines(Path.of("/proc/cpuinfo"), StandardCharsets.UTF_8).stream()
                    .filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown CPU");
            return cpu + ", " + Runtime.getRuntime().availableProcessors() + " cores, Linux "
                    + System.getProperty("os.version") + ", JDK "
                    + System.getProperty("java.vendor.version", System.getProperty("java.version"));
        } catch (IOException e) {
            throw new IllegalStateException("cannot read /proc/cpuinfo", e);
        }
    }
}
