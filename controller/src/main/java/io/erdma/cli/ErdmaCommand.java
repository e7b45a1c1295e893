package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.node.BuildInfo;
import io.erdma.node.Spelling;
import io.erdma.node.driver.HostCommands;
import io.erdma.node.driver.InstallerDirectories;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The root of the command line: what commands there are, and what their failures end with. */
@Command(
        name = "erdma",
        sortOptions = false,
        header = "eRDMA on a Kubernetes node.",
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " 0:done; all is well",
            " 1:something is wrong with the node or the job, or is left to do; doctor: only warnings",
            " 2:doctor: something is wrong; nccl-check: the log can't tell",
            " 3:doctor: something that matters could not be looked at",
            "64:wrong usage; agent: wrong settings",
            "69:agent: the node does not let it start",
            "70:our own fault; set ERDMA_STACKTRACE=1 to see where"
        })
final class ErdmaCommand implements Runnable {
    /** Prints the Java stack of an internal error; for those who mend it. */
    private static final String STACKTRACE = "ERDMA_STACKTRACE";

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this text; also understood after a command.")
    private boolean help;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version.")
    private boolean version;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command given");
    }

    static CommandLine commandLine(Console console) {
        return commandLine(console, new FileInputStream(FileDescriptor.in));
    }

    static CommandLine commandLine(Console console, InputStream standardInput) {
        requireNonNull(console, "console is null");
        CommandLine root = new CommandLine(new ErdmaCommand());
        root.getCommandSpec().versionProvider(new Version());
        root.addSubcommand(new AgentCommand());
        root.addSubcommand(new DevinfoCommand(console));
        root.addSubcommand(new DoctorCommand(console, System.getenv()));
        root.addSubcommand(new StatCommand(console));
        CommandLine ncclCheck = new CommandLine(new NcclCheckCommand(console, standardInput));
        root.addSubcommand(ncclCheck);
        root.addSubcommand(new AwaitCleanupCommand(console, System.getenv()));
        root.addSubcommand(cleanup(console));
        root.addSubcommand(new VersionCommand(console));
        // As getopt does it for ibv_devinfo: --list may be --li, and of two -d the last one counts.
        root.setAbbreviatedOptionsAllowed(true);
        // picocli 4.7 fails on a lone "-" when it looks for what that could be short for.
        ncclCheck.setAbbreviatedOptionsAllowed(false);
        root.setOverwrittenOptionsAllowed(true);
        root.setExpandAtFiles(false);
        root.setOut(console.outWriter());
        root.setErr(console.errWriter());
        root.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        root.setParameterExceptionHandler((e, arguments) -> wrongUsage(e, console));
        root.setExecutionExceptionHandler((e, commandLine, parsed) -> failed(e, console));
        return root;
    }

    private static CleanupCommand cleanup(Console console) {
        Path proc = Path.of("/proc");
        return new CleanupCommand(
                console,
                List.of(
                        new InstallerCleanup(new InstallerDirectories(HostCommands.find(proc), proc)),
                        new InterfaceCleanup()),
                new AgentProcesses(proc)::list,
                System.getenv());
    }

    private static int wrongUsage(ParameterException e, Console console) {
        String command = e.getCommandLine().getCommandSpec().qualifiedName();
        console.complain(command + ": " + e.getMessage().strip() + suggestion(e));
        console.complain("Run '" + command + " --help' for the options.");
        return ExitCode.USAGE;
    }

    /** For a word that none of the command's options or commands is. */
    private static String suggestion(ParameterException e) {
        if (!(e instanceof UnmatchedArgumentException unmatched)
                || unmatched.getUnmatched().isEmpty()) {
            return "";
        }
        CommandSpec command = e.getCommandLine().getCommandSpec();
        String word = unmatched.getUnmatched().getFirst();
        List<String> known = word.startsWith("-")
                ? command.options().stream()
                        .filter(option -> !option.hidden())
                        .map(OptionSpec::longestName)
                        .toList()
                : List.copyOf(command.subcommands().keySet());
        return Spelling.nearest(word.split("=", 2)[0], known)
                .map(meant -> "; did you mean " + meant + "?")
                .orElse("");
    }

    private static int failed(Exception e, Console console) {
        return hasReaderGone(e) ? ExitCode.OK : internalError(e, console);
    }

    /** Whether an answer did not arrive because its reader, such as head, has seen enough. */
    static boolean hasReaderGone(Exception e) {
        return e instanceof IOException && "Broken pipe".equals(e.getMessage());
    }

    static int internalError(Throwable e, Console console) {
        console.complain("erdma: internal error: " + e);
        if (System.getenv(STACKTRACE) == null) {
            console.complain("Set " + STACKTRACE + "=1 and repeat to see where.");
        } else {
            e.printStackTrace(console.errWriter());
        }
        return ExitCode.INTERNAL;
    }

    /** Read only when asked for. */
    private static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"erdma " + BuildInfo.read().version()};
        }
    }
}
