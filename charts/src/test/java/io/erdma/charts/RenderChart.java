package io.erdma.charts;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints the chart's definitions and manifests, as {@code helm install} sends them, where there is no helm: for kubectl
 * apply. Without hooks, which are made only at the end; with {@code --hooks} those alone.
 *
 * <p>{@code RenderChart [--hooks] [--kube-version=VERSION] PROJECT VALUES.yaml…}
 */
public final class RenderChart {
    private RenderChart() {}

    public static void main(String[] args) {
        boolean hooks = false;
        String kubernetes = Chart.KUBERNETES;
        List<Path> paths = new ArrayList<>();
        for (String arg : args) {
            if (arg.equals("--hooks")) {
                hooks = true;
            } else if (arg.startsWith("--kube-version=")) {
                kubernetes = arg.substring(arg.indexOf('=') + 1);
            } else if (arg.startsWith("-")) {
                throw new IllegalArgumentException("unknown option " + arg);
            } else {
                paths.add(Path.of(arg));
            }
        }
        if (paths.isEmpty()) {
            throw new IllegalArgumentException("name the project's directory, then any values files");
        }
        Chart chart = Chart.of(paths.getFirst());
        Chart.Request request = Chart.Request.DEFAULTS
                .on(kubernetes)
                .with(paths.subList(1, paths.size()).toArray(Path[]::new));
        String text = hooks ? chart.hooks(request) : chart.definitions() + chart.installed(request);
        System.out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }
}
