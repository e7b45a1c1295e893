package io.erdma.charts;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    private static final Pattern HOOK = Pattern.compile("(?m)^ {4}\"?helm\\.sh/hook\"?:");

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
     * Everything that Helm would make of the templates, hooks included.
     *
     * @throws IllegalStateException with Helm's words when it refuses the values
     */
    String render(Request request) {
        TemplateCommand command = new Helm(directory)
                .template()
                .withName(RELEASE)
                .withNamespace(request.namespace())
                .withKubeVersion(request.kubernetes());
        request.files().forEach(command::withValuesFile);
        request.values().forEach(command::set);
        return command.call();
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

    /** What {@code helm install} sends: the objects of {@code rendered} that are no hooks. */
    static String installed(String rendered) {
        return join(documents(rendered).stream()
                .filter(document -> !isHook(document))
                .toList());
    }

    /** The objects that Helm creates only at its events. */
    static String hooks(String rendered) {
        return join(documents(rendered).stream().filter(Chart::isHook).toList());
    }

    static List<String> documents(String rendered) {
        return DOCUMENT.splitAsStream(rendered)
                .map(String::strip)
                .filter(document -> document.lines().anyMatch(line -> !line.isBlank() && !line.startsWith("#")))
                .toList();
    }

    private static boolean isHook(String document) {
        return HOOK.matcher(document).find();
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
