package io.erdma.charts;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.InstallCommand;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The chart of this project, rendered by Helm as a library. */
final class Chart {
    static final String RELEASE = "erdma-controller";
    static final String NAMESPACE = "ack-erdma-controller";

    /** What most tests render for; the oldest and newer ones are named where they matter. */
    static final String KUBERNETES = "1.32.0";

    private static final Pattern DOCUMENT = Pattern.compile("(?m)^---\\s*$");
    private static final String HOOK = "helm.sh/hook: ";
    private static final String NO_HOOK = "example.com/no-hook: ";

    private final Path directory;

    private Chart(Path directory) {
        this.directory = directory;
    }

    /** @param project the directory that holds charts/ */
    static Chart of(Path project) {
        return new Chart(project.resolve("charts/erdma-controller"));
    }

    Path directory() {
        return directory;
    }

    LintResult lint() {
        return new Helm(directory).lint().strict().call();
    }

    /**
     * What {@code helm install} sends, but for the definitions.
     *
     * @throws IllegalStateException with Helm's words when it refuses the values
     */
    String installed(Request request) {
        return render(directory, request);
    }

    /** The objects that Helm makes when the release is uninstalled. */
    String hooks(Request request) {
        try {
            Path copy = Files.createTempDirectory("erdma-chart");
            try {
                copyWithoutHooks(copy);
                return join(documents(render(copy, request)).stream()
                                .filter(document -> document.contains(NO_HOOK))
                                .toList())
                        .replace(NO_HOOK, HOOK);
            } finally {
                delete(copy);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What Helm says after the installation. */
    String notes(Request request) {
        InstallCommand command = new Helm(directory)
                .install()
                .withName(RELEASE)
                .withNamespace(request.namespace())
                .withKubeVersion(request.kubernetes())
                .clientOnly()
                .dryRun();
        request.files().forEach(command::withValuesFile);
        request.values().forEach(command::set);
        String output = command.call().getOutput();
        return output.substring(output.indexOf("NOTES:\n") + "NOTES:\n".length());
    }

    private static String render(Path chart, Request request) {
        TemplateCommand command = new Helm(chart)
                .template()
                .withName(RELEASE)
                .withNamespace(request.namespace())
                .withKubeVersion(request.kubernetes());
        request.files().forEach(command::withValuesFile);
        request.values().forEach(command::set);
        return join(documents(command.call()));
    }

    /** Helm's library renders hooks but hands them to nobody, so in this copy they are objects like others. */
    private void copyWithoutHooks(Path copy) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.toList()) {
                Path target = copy.resolve(directory.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.writeString(target, Files.readString(file).replace(HOOK, NO_HOOK));
                }
            }
        }
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** The definitions of crds/, which Helm sends first and never removes. */
    String definitions() {
        try (Stream<Path> files = Files.list(directory.resolve("crds"))) {
            StringBuilder all = new StringBuilder();
            for (Path file : files.sorted().toList()) {
                all.append("---\n").append(Files.readString(file));
            }
            return all.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> documents(String rendered) {
        return DOCUMENT.splitAsStream(rendered)
                .map(String::strip)
                .filter(document -> document.lines().anyMatch(line -> !line.isBlank() && !line.startsWith("#")))
                .toList();
    }

    private static String join(List<String> documents) {
        return documents.stream().map(document -> "---\n" + document + "\n").collect(Collectors.joining());
    }

    /**
     * What to render.
     *
     * @param kubernetes the cluster's version
     * @param files values files, the later ones outranking the earlier
     * @param values as with --set: path → value
     */
    record Request(String namespace, String kubernetes, List<Path> files, Map<String, Object> values) {
        static final Request DEFAULTS = new Request(NAMESPACE, KUBERNETES, List.of(), Map.of());

        Request {
            files = List.copyOf(files);
            values = Map.copyOf(values);
        }

        Request in(String otherNamespace) {
            return new Request(otherNamespace, kubernetes, files, values);
        }

        Request on(String otherKubernetes) {
            return new Request(namespace, otherKubernetes, files, values);
        }

        Request with(Path... moreFiles) {
            return new Request(namespace, kubernetes, List.of(moreFiles), values);
        }

        Request set(Map<String, Object> newValues) {
            return new Request(namespace, kubernetes, files, newValues);
        }
    }
}
