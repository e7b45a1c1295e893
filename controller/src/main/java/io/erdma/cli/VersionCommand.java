package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonGenerator;
import io.erdma.node.BuildInfo;
import io.erdma.verbs.Verbs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "version",
        sortOptions = false,
        header = "Print which build this is and what it runs on.",
        description = "Loads nothing, so it answers where RDMA or its libraries are missing, too.")
final class VersionCommand implements Callable<Integer> {
    private static final String TIMESTAMP_SOURCE = "project.build.outputTimestamp";

    private final Console console;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Option(
            names = "--verbs-library",
            hidden = true,
            defaultValue = Verbs.DEFAULT_LIBRARY,
            description = "Name or path of libibverbs.")
    private String verbsLibrary;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this text.")
    private boolean help;

    VersionCommand(Console console) {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call() throws IOException {
        VerbsFiles files = VerbsFiles.here(verbsLibrary, System.getenv());
        BuildInfo build = BuildInfo.read();
        console.print(json ? toJson(build, files) : toText(build, files));
        return ExitCode.OK;
    }

    static String toText(BuildInfo build, VerbsFiles files) {
        return "erdma " + build.version() + "\n"
                + "commit:         " + build.commit() + "\n"
                + "dated:          " + build.timestamp() + " (" + TIMESTAMP_SOURCE + ")\n"
                + "java:           " + Runtime.version() + " (" + System.getProperty("java.vendor") + ", "
                + System.getProperty("os.arch") + ")\n"
                + "libibverbs:     " + text(files.library())
                + files.version().map(version -> " (" + version + ")").orElse("") + "\n"
                + "erdma provider: " + text(files.erdmaProvider()) + "\n";
    }

    private static String text(Optional<Path> file) {
        return TerminalText.escape(file.map(Path::toString).orElse("not found"));
    }

    static String toJson(BuildInfo build, VerbsFiles files) throws IOException {
        return Json.object(generator -> {
            generator.writeStringField("version", build.version());
            generator.writeStringField("commit", build.commit());
            generator.writeStringField("timestamp", build.timestamp());
            generator.writeStringField("timestampSource", TIMESTAMP_SOURCE);
            generator.writeObjectFieldStart("java");
            generator.writeStringField("version", Runtime.version().toString());
            generator.writeStringField("vendor", System.getProperty("java.vendor"));
            generator.writeStringField("architecture", System.getProperty("os.arch"));
            generator.writeEndObject();
            generator.writeObjectFieldStart("libibverbs");
            writePath(generator, "path", files.library());
            Json.string(generator, "version", files.version());
            generator.writeEndObject();
            writePath(generator, "erdmaProvider", files.erdmaProvider());
        });
    }

    private static void writePath(JsonGenerator generator, String key, Optional<Path> file) throws IOException {
        Json.string(generator, key, file.map(Path::toString));
    }
}
