package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.nccl.Expectation;
import io.erdma.nccl.LogReader;
import io.erdma.nccl.Mode;
import io.erdma.nccl.NcclLog;
import io.erdma.nccl.NcclRules;
import io.erdma.nccl.NcclVerdict;
import io.erdma.nccl.Outcome;
import io.erdma.sysfs.SysfsTree;
import io.erdma.sysfs.SysfsTree.RdmaClassDevice;
import io.erdma.verbs.NodeType;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code erdma nccl-check}. */
@Command(
        name = "nccl-check",
        sortOptions = false,
        header = "Say from a training log whether NCCL uses eRDMA.",
        description = {
            "Reads the log of a job that ran with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET,ENV, of one rank or of"
                    + " many, and says for each rank which network it uses, with or without GPUDirect, whether training went"
                    + " on, the first sign of each known failure with its cure, and what is wrong with the NCCL variables.",
            "A rank counts when NCCL named the device with its index ([0]erdma_0:1/RoCE), said 'Using network IB', and no"
                    + " channel goes another way. NCCL prints /RoCE in iWARP mode, too, where it can't connect, so a log"
                    + " alone can't prove the driver's mode."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " 0:every rank in the log selected eRDMA",
            " 1:a rank did not",
            " 2:cannot tell: the lines that say it are missing, or the log can't be read",
            "64:wrong usage",
            "70:our own fault"
        })
final class NcclCheckCommand implements Callable<Integer> {
    private static final String STANDARD_INPUT = "-";

    /** Large enough that system calls don't count, small beside the heap. */
    private static final int PIECE = 128 * 1024;

    private final Console console;
    private final InputStream standardInput;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "FILE",
            defaultValue = STANDARD_INPUT,
            description = "The log; - or nothing is the standard input.")
    private String file;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description = {
                "Name of a device that counts as eRDMA; repeatable. Without it these are the names that begin with erdma."
                        + " On a machine that has the device, its mode is looked up there."
            })
    private List<String> devices = new ArrayList<>();

    @Option(
            names = "--driver-mode",
            paramLabel = "MODE",
            converter = ModeConverter.class,
            description = "The driver's mode where the job ran: default (iWARP), compat or ofed. Goes before what this"
                    + " machine says.")
    private Optional<DriverModeOption> driverMode = Optional.empty();

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Option(names = "--sysfs-root", hidden = true, defaultValue = "/sys", description = "Where sysfs is mounted.")
    private Path sysfsRoot;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this text.")
    private boolean help;

    NcclCheckCommand(Console console, InputStream standardInput) {
        this.console = requireNonNull(console, "console is null");
        this.standardInput = requireNonNull(standardInput, "standardInput is null");
    }

    /** A mode by the name that operators give it. */
    private record DriverModeOption(String name, Mode mode) {}

    private static final class ModeConverter implements ITypeConverter<DriverModeOption> {
        @Override
        public DriverModeOption convert(String name) {
            return switch (name) {
                case "default" -> new DriverModeOption(name, Mode.IWARP);
                case "compat", "ofed" -> new DriverModeOption(name, Mode.ROCE);
                default -> throw new TypeConversionException("unknown mode; use default, compat or ofed");
            };
        }
    }

    @Override
    public Integer call() throws IOException {
        LogReader reader = new LogReader();
        Optional<String> problem = read(reader);
        NcclLog log = reader.finish();
        if (problem.isPresent()) {
            console.complain("erdma nccl-check: " + problem.get());
            if (log.bytes() == 0) {
                return ExitCode.CANNOT_TELL;
            }
        }
        Expectation expected = expectation();
        NcclVerdict verdict = NcclRules.judge(log, expected);
        try {
            console.print(
                    json
                            ? NcclCheckJson.format(log, expected, verdict)
                            : NcclCheckFormat.format(log, expected, verdict));
        } catch (IOException e) {
            // The exit code is the verdict, which does not change when head has seen enough of the text.
            if (!ErdmaCommand.hasReaderGone(e)) {
                throw e;
            }
        }
        boolean incomplete = problem.isPresent() && verdict.outcome() == Outcome.ERDMA;
        return incomplete ? ExitCode.CANNOT_TELL : exitCode(verdict.outcome());
    }

    static int exitCode(Outcome outcome) {
        return switch (outcome) {
            case ERDMA -> ExitCode.OK;
            case NOT_ERDMA -> ExitCode.NOT_USABLE;
            case UNKNOWN -> ExitCode.CANNOT_TELL;
        };
    }

    /** @return what kept the log from being read, to its end or at all */
    private Optional<String> read(LogReader reader) {
        String name =
                file.equals(STANDARD_INPUT) ? "the standard input" : file.isEmpty() ? "a file without a name" : file;
        try (InputStream in = open()) {
            byte[] piece = new byte[PIECE];
            int length = in.readNBytes(piece, 0, MAGIC);
            Optional<String> compressed = packed(piece, length).map(advice -> name + " is not plain text: " + advice);
            if (compressed.isPresent()) {
                return compressed;
            }
            while (length >= 0) {
                reader.read(piece, 0, length);
                length = in.read(piece);
            }
            return Optional.empty();
        } catch (NoSuchFileException e) {
            return Optional.of("cannot read " + name + ": there is no such file");
        } catch (AccessDeniedException e) {
            return Optional.of("cannot read " + name + ": permission denied");
        } catch (InvalidPathException e) {
            return Optional.of("cannot read " + name + ": " + e.getReason());
        } catch (FileSystemException e) {
            return Optional.of("cannot read " + name + ": " + e.getReason());
        } catch (IOException e) {
            return Optional.of("cannot read " + name + ": " + e.getMessage());
        }
    }

    private InputStream open() throws IOException {
        if (file.equals(STANDARD_INPUT)) {
            // Not ours to close.
            return new FilterInputStream(standardInput) {
                @Override
                public void close() {}
            };
        }
        if (file.isEmpty()) {
            // Path would take it for the current directory.
            throw new NoSuchFileException(file);
        }
        Path path = Path.of(file);
        if (Files.isDirectory(path)) {
            throw new FileSystemException(file, null, "it is a directory; give one file, or cat several into this");
        }
        return Files.newInputStream(path);
    }

    private static final int MAGIC = 4;

    /** What to do about a file that is no text, by its first bytes. */
    private static Optional<String> packed(byte[] bytes, int length) {
        int first = length < MAGIC
                ? 0
                : (bytes[0] & 0xff) << 24 | (bytes[1] & 0xff) << 16 | (bytes[2] & 0xff) << 8 | (bytes[3] & 0xff);
        if (first >>> 16 == 0x1f8b) {
            return Optional.of("it is compressed; pass it through zcat");
        }
        if (first == 0x28b52ffd) {
            return Optional.of("it is compressed; pass it through zstdcat");
        }
        if (first == 0xfd377a58) {
            return Optional.of("it is compressed; pass it through xzcat");
        }
        if (first >>> 16 == 0xfffe || first >>> 16 == 0xfeff) {
            return Optional.of("it is UTF-16; pass it through iconv -f UTF-16 -t UTF-8");
        }
        return Optional.empty();
    }

    private Expectation expectation() {
        if (driverMode.isPresent()) {
            return new Expectation(
                    Set.copyOf(devices),
                    Optional.of(driverMode.get().mode()),
                    "--driver-mode=" + driverMode.get().name());
        }
        return devices.isEmpty() ? Expectation.none() : fromThisMachine();
    }

    /** The device's own type says most; without the device, the driver's parameter does. */
    private Expectation fromThisMachine() {
        SysfsTree sysfs = new SysfsTree(sysfsRoot);
        List<RdmaClassDevice> here = sysfs.rdmaDevices().stream()
                .filter(device -> devices.contains(device.name()))
                .toList();
        Optional<RdmaClassDevice> iwarp = here.stream()
                .filter(device -> device.nodeType() == NodeType.RNIC)
                .findFirst();
        if (iwarp.isPresent()) {
            return expect(Mode.IWARP, iwarp.get().name() + " on this machine is an iWARP device (RNIC)");
        }
        Optional<RdmaClassDevice> roce =
                here.stream().filter(device -> device.nodeType() == NodeType.CA).findFirst();
        if (roce.isPresent()) {
            return expect(Mode.ROCE, roce.get().name() + " on this machine is a RoCE device (CA)");
        }
        return sysfs.erdmaCompatMode()
                .map(compat -> expect(
                        compat ? Mode.ROCE : Mode.IWARP,
                        "the erdma module on this machine has compat_mode=" + (compat ? "Y" : "N")))
                .orElseGet(() -> new Expectation(Set.copyOf(devices), Optional.empty(), ""));
    }

    private Expectation expect(Mode mode, String source) {
        return new Expectation(Set.copyOf(devices), Optional.of(mode), source);
    }
}
