package io.erdma.pods;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads what the kernel tells about processes below a proc root. A process may end at any moment and much is for root
 * alone, so whatever can't be read is absent.
 */
public final class ProcTree {
    /** What the kernel numbers the first pid namespace with: {@code PROC_PID_INIT_INO} of its proc_ns.h. */
    private static final String FIRST_PID_NAMESPACE = "pid:[4026531836]";

    private static final Pattern PID = Pattern.compile("[1-9][0-9]{0,9}");

    /** Where a container has its nodes is its own business; their names it has from us. */
    private static final Pattern UVERBS = Pattern.compile("/(?:.*/)?(uverbs[0-9]{1,5})");

    private static final int MOST_BYTES = 1 << 20;
    private static final int MOST_ENTRIES = 200_000;

    /** Of a process's environment only these are kept, since others hold secrets. */
    private static final Set<String> VARIABLES = Set.of("NCCL_IB_DISABLE", "NCCL_IB_HCA");

    private static final String PROVIDER = "liberdma-rdmav*.so";
    private static final List<String> LIBRARY_DIRECTORIES =
            List.of("usr/lib", "usr/lib64", "usr/local/lib", "usr/local/lib64", "opt/conda/lib", "lib", "lib64");

    private final Path root;

    /** @param root usually /proc */
    public ProcTree(Path root) {
        this.root = requireNonNull(root, "root is null");
    }

    /** Whether this process lives in the machine's first pid namespace, and so sees the processes of all others. */
    public boolean seesAllProcesses() {
        return link(root.resolve("self/ns/pid"))
                .filter(FIRST_PID_NAMESPACE::equals)
                .isPresent();
    }

    public List<Long> pids() {
        List<Long> pids = new ArrayList<>();
        for (String name : entries(root)) {
            if (PID.matcher(name).matches()) {
                pids.add(Long.parseLong(name));
            }
        }
        pids.sort(null);
        return pids;
    }

    /** Empty for a process outside pods, and for one that has ended. */
    public Optional<ContainerId> container(long pid) {
        return text(pid, "cgroup").flatMap(ContainerId::ofCgroup);
    }

    /** Names ("uverbs0") of the verbs device nodes that the process has open; empty when it doesn't let itself be asked. */
    public Optional<Set<String>> openUverbs(long pid) {
        Set<String> open = new TreeSet<>();
        try (DirectoryStream<Path> descriptors =
                Files.newDirectoryStream(root.resolve(Long.toString(pid)).resolve("fd"))) {
            for (Path descriptor : descriptors) {
                verbsNode(descriptor).ifPresent(open::add);
            }
            return Optional.of(open);
        } catch (IOException | DirectoryIteratorException e) {
            // Listing the descriptors needs less than following them, which the kernel forbids without CAP_SYS_PTRACE.
            return Optional.empty();
        }
    }

    private static Optional<String> verbsNode(Path descriptor) throws IOException {
        try {
            Matcher node = UVERBS.matcher(Files.readSymbolicLink(descriptor).toString());
            return node.matches() ? Optional.of(node.group(1)) : Optional.empty();
        } catch (NoSuchFileException e) {
            // Closed meanwhile.
            return Optional.empty();
        }
    }

    /** Of a process or a thread; empty when it has ended. */
    public Optional<ProcessStatus> status(long pid) {
        return text(pid, "status").map(text -> ProcessStatus.parse(pid, text));
    }

    /** What may keep the process from using RDMA. */
    public ProcessLimits limits(long pid) {
        return new ProcessLimits(
                text(pid, "limits").flatMap(ProcessLimits::lockedMemory),
                status(pid).map(ProcessStatus::mayLockMemory).orElse(false),
                variables(pid),
                hasProvider(pid));
    }

    private Optional<Map<String, String>> variables(long pid) {
        return text(pid, "environ").map(text -> {
            Map<String, String> kept = new HashMap<>();
            for (String variable : text.split("\0", -1)) {
                int equals = variable.indexOf('=');
                if (equals > 0 && VARIABLES.contains(variable.substring(0, equals))) {
                    kept.put(variable.substring(0, equals), variable.substring(equals + 1));
                }
            }
            return kept;
        });
    }

    /** Links are not followed: a container's absolute ones would lead into our own file system. */
    private Optional<Boolean> hasProvider(long pid) {
        Path image = root.resolve(Long.toString(pid)).resolve("root");
        boolean anyDirectory = false;
        for (String name : LIBRARY_DIRECTORIES) {
            Path libraries = image.resolve(name);
            if (!Files.isDirectory(libraries, LinkOption.NOFOLLOW_LINKS)) {
                continue;
            }
            anyDirectory = true;
            if (holdsProvider(libraries.resolve("libibverbs"))) {
                return Optional.of(true);
            }
            for (String below : entries(libraries)) {
                Path directory = libraries.resolve(below);
                if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
                        && holdsProvider(directory.resolve("libibverbs"))) {
                    return Optional.of(true);
                }
            }
        }
        return anyDirectory ? Optional.of(false) : Optional.empty();
    }

    private static boolean holdsProvider(Path directory) {
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, PROVIDER)) {
            return found.iterator().hasNext();
        } catch (IOException | DirectoryIteratorException e) {
            return false;
        }
    }

    private Optional<String> text(long pid, String file) {
        try (InputStream stream =
                Files.newInputStream(root.resolve(Long.toString(pid)).resolve(file))) {
            return Optional.of(new String(stream.readNBytes(MOST_BYTES), StandardCharsets.UTF_8));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> link(Path path) {
        try {
            return Optional.of(Files.readSymbolicLink(path).toString());
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty();
        }
    }

    private static List<String> entries(Path directory) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
            for (Path entry : stream) {
                names.add(entry.getFileName().toString());
                if (names.size() == MOST_ENTRIES) {
                    break;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return names;
        }
        return names;
    }
}
