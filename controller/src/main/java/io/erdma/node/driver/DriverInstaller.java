package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Downloads the driver's installer and runs it on the host. Nothing of it is unpacked or executed before its SHA-256 sum
 * is the one that the operator gave, and nothing is left behind but what the installer itself puts on the host. The
 * calling thread waits, for minutes.
 */
public final class DriverInstaller {
    private static final Log LOG = Log.of(DriverInstaller.class);

    private static final int MAX_REDIRECTS = 5;

    /** Compiling tells less news than a download. */
    private static final int SLOWER = 3;

    private static final int LAST_LINE_BYTES = 512;

    private final InstallerSettings settings;
    private final HostCommands host;
    private final HostCgroup cgroup;
    private final InstallerDirectories directories;
    private final Limits limits;

    /**
     * @param connect for a connection to be made
     * @param download for the whole download
     * @param install for the installer, which compiles
     * @param progress how often the log tells how far it has come
     * @param maxBytes what a download may have at most
     * @param archive what may be in it
     */
    record Limits(
            Duration connect,
            Duration download,
            Duration install,
            Duration progress,
            long maxBytes,
            InstallerArchive.Limits archive) {
        static final Limits STANDARD = new Limits(
                Duration.ofSeconds(10),
                Duration.ofMinutes(10),
                Duration.ofMinutes(30),
                Duration.ofSeconds(10),
                512L << 20,
                InstallerArchive.Limits.STANDARD);
    }

    public DriverInstaller(InstallerSettings settings, HostCommands host, Path proc) {
        this(
                settings,
                host,
                new HostCgroup(host.here(Path.of("/sys/fs/cgroup")), proc),
                new InstallerDirectories(host, proc),
                Limits.STANDARD);
    }

    DriverInstaller(
            InstallerSettings settings,
            HostCommands host,
            HostCgroup cgroup,
            InstallerDirectories directories,
            Limits limits) {
        this.settings = requireNonNull(settings, "settings is null");
        this.host = requireNonNull(host, "host is null");
        this.cgroup = requireNonNull(cgroup, "cgroup is null");
        this.directories = requireNonNull(directories, "directories is null");
        this.limits = requireNonNull(limits, "limits is null");
    }

    /** @throws IOException with what failed and what to do; the host is then as before, as far as it is up to us */
    public void install(DriverMode mode) throws IOException {
        // The names are chosen here and not by the URL, whose last component could be anything.
        removeLeftovers();
        Path ours = directories.create();
        Path onHost = directories.onHost(ours);
        try {
            Path file = ours.resolve(settings.isArchive() ? "installer.tar.gz" : "installer");
            download(file);
            verify(file);
            Path program = settings.isArchive() ? unpack(file, ours.resolve("unpacked"), mode) : executable(file);
            run(mode, onHost.resolve(ours.relativize(program)), ours.resolve("log"));
        } finally {
            delete(ours);
        }
    }

    // ---- download ----

    private void download(Path file) throws IOException {
        URI url = settings.url();
        LOG.info("downloading the driver's installer", Field.of("url", InstallerSettings.shown(url.toString())));
        HttpClient client = HttpClient.newBuilder()
                .connectTimeout(limits.connect())
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
        long end = System.nanoTime() + limits.download().toNanos();
        try {
            for (int redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
                HttpResponse<Path> answer = fetch(client, url, file, end);
                if (answer.statusCode() / 100 != 3) {
                    if (answer.statusCode() != 200) {
                        throw new IOException(cannotDownload(url) + "the server answered " + answer.statusCode()
                                + "; check --driver-url and --erdma-installer-version");
                    }
                    LOG.info("downloaded the driver's installer", Field.of("bytes", Files.size(file)));
                    return;
                }
                url = redirected(url, answer);
            }
            throw new IOException(cannotDownload(settings.url()) + "more than " + MAX_REDIRECTS + " redirects");
        } finally {
            client.shutdownNow();
        }
    }

    /** To another server only where that one proves who it is, and never from https back to http. */
    private static URI redirected(URI from, HttpResponse<Path> answer) throws IOException {
        String location = answer.headers().firstValue("Location").orElse("");
        URI to;
        try {
            to = from.resolve(location);
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    cannotDownload(from) + "it redirects to no URL: " + InstallerSettings.shown(location), e);
        }
        boolean sameServer = from.getScheme().equalsIgnoreCase(to.getScheme())
                && from.getHost().equalsIgnoreCase(to.getHost())
                && from.getPort() == to.getPort();
        if (location.isEmpty() || to.getHost() == null || !(sameServer || InstallerSettings.isHttps(to))) {
            throw new IOException(cannotDownload(from) + "it redirects to " + InstallerSettings.shown(to.toString())
                    + ", which is another server without https; give its own URL if that is right");
        }
        return to;
    }

    private HttpResponse<Path> fetch(HttpClient client, URI url, Path file, long end) throws IOException {
        HttpRequest request = HttpRequest.newBuilder(url).build();
        CompletableFuture<HttpResponse<Path>> coming =
                client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofFile(file), limits.maxBytes()));
        try {
            while (true) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    throw new IOException(cannotDownload(url) + "not complete within "
                            + limits.download().toSeconds() + " s (" + size(file) + " bytes came)");
                }
                try {
                    return coming.get(Math.min(left, limits.progress().toNanos()), TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) {
                    LOG.info("still downloading the driver's installer", Field.of("bytes", size(file)));
                }
            }
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            String what = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
            throw new IOException(cannotDownload(url) + what, cause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(cannotDownload(url) + "the agent stops", e);
        } finally {
            coming.cancel(true);
        }
    }

    private static String cannotDownload(URI url) {
        return "cannot download the driver's installer from " + InstallerSettings.shown(url.toString()) + ": ";
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            // Not there yet.
            return 0;
        }
    }

    private void verify(Path file) throws IOException {
        String found = sha256(file);
        if (!found.equals(settings.sha256())) {
            throw new IOException("the driver's installer from " + settings + " has the SHA-256 sum " + found
                    + " and not " + settings.sha256() + ", so nothing of it was run; check --driver-sha256, or who"
                    + " changed the file");
        }
    }

    private static String sha256(Path file) throws IOException {
        try (InputStream stream = Files.newInputStream(file)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] chunk = new byte[64 << 10];
            for (int read = stream.read(chunk); read >= 0; read = stream.read(chunk)) {
                digest.update(chunk, 0, read);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    // ---- installation ----

    private static Path executable(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
        return file;
    }

    /** @return the program to run */
    private Path unpack(Path archive, Path into, DriverMode mode) throws IOException {
        Files.createDirectory(into);
        try {
            InstallerArchive.unpack(archive, into, limits.archive());
        } catch (IOException e) {
            throw new IOException(
                    "the driver's installer from " + settings + " cannot be unpacked: " + e.getMessage(), e);
        }
        List<String> names = mode == DriverMode.OFED ? List.of("env_setup.sh", "install.sh") : List.of("install.sh");
        for (String name : names) {
            Optional<Path> script = find(into, name);
            if (script.isPresent()) {
                return script.get();
            }
        }
        throw new IOException("the archive from " + settings + " holds no " + String.join(" and no ", names)
                + " that can be executed, neither at its top nor in a directory there");
    }

    private static Optional<Path> find(Path directory, String name) throws IOException {
        List<Path> places = new ArrayList<>(List.of(directory));
        try (DirectoryStream<Path> entries =
                Files.newDirectoryStream(directory, entry -> Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS))) {
            entries.forEach(places::add);
        }
        return places.stream()
                .map(place -> place.resolve(name))
                .filter(script -> Files.isRegularFile(script, LinkOption.NOFOLLOW_LINKS) && Files.isExecutable(script))
                .findFirst();
    }

    /** @param log its output goes there, so that it does not break off when the agent ends before it */
    private void run(DriverMode mode, Path program, Path log) throws IOException {
        Map<String, String> environment = new LinkedHashMap<>();
        if (mode != DriverMode.OFED) {
            environment.put("ERDMA_CM_NO_BOUND_IF", "1");
        }
        if (mode == DriverMode.COMPAT) {
            environment.put("ERDMA_FORCE_MAD_ENABLE", "1");
        }
        List<String> command = List.of(program.toString(), mode == DriverMode.OFED ? "--egs" : "--batch");
        LOG.info(
                "installing the driver; this compiles a kernel module and takes minutes",
                Field.of("mode", mode),
                Field.of("command", String.join(" ", command)));
        long start = System.nanoTime();
        HostCommands.Result result =
                host.run(limits.install(), command, environment, Optional.of(log), new Progress(log));
        if (!result.succeeded()) {
            throw HostCommands.failed(command, result);
        }
        LOG.info(
                "installed the driver",
                Field.of("seconds", Duration.ofNanos(System.nanoTime() - start).toSeconds()));
    }

    private final class Progress implements HostCommands.Watch {
        private final Path log;
        private Duration next = limits.progress().multipliedBy(SLOWER);

        Progress(Path log) {
            this.log = log;
        }

        @Override
        public void started(Process process) throws IOException {
            try {
                cgroup.admit(process);
            } catch (IOException e) {
                throw new IOException(
                        "it could not be moved out of the agent's control group, whose memory it would use up (" + e
                                + ")",
                        e);
            }
        }

        @Override
        public void running(Duration since) {
            if (since.compareTo(next) >= 0) {
                next = since.plus(limits.progress().multipliedBy(SLOWER));
                LOG.info(
                        "still installing the driver",
                        Field.of("seconds", since.toSeconds()),
                        Field.of("says", lastLine(log)));
            }
        }
    }

    private static String lastLine(Path log) {
        try (SeekableByteChannel file = Files.newByteChannel(log)) {
            file.position(Math.max(0, file.size() - LAST_LINE_BYTES));
            byte[] end = Channels.newInputStream(file).readNBytes(LAST_LINE_BYTES);
            return new String(end, StandardCharsets.UTF_8)
                    .lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .reduce("", (former, line) -> line);
        } catch (IOException e) {
            return "";
        }
    }

    // ---- what is left ----

    /** @throws IOException when a former agent's installer still runs: two at once would break each other's work */
    private void removeLeftovers() throws IOException {
        List<Path> leftovers = directories.leftovers();
        for (Path leftover : leftovers) {
            Optional<String> pid = directories.runningFrom(leftover);
            if (pid.isPresent()) {
                throw new IOException("an installer that an agent before this one started still runs (pid " + pid.get()
                        + ", in " + directories.onHost(leftover) + "); it is waited for");
            }
        }
        leftovers.forEach(this::delete);
    }

    /** What cannot be deleted, such as a mount that an installer left there, must not keep the driver from a node. */
    private void delete(Path ours) {
        try {
            directories.delete(ours);
        } catch (IOException e) {
            LOG.warn("cannot delete all of " + directories.onHost(ours) + ", where the driver's installer was: " + e
                    + "; remove it by hand");
        }
    }
}
