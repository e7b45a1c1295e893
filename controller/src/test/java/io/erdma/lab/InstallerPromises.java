package io.erdma.lab;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.InstallerSettings;
import io.erdma.node.driver.ModeInForce;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * What is promised of installing a missing driver: a server on this machine has an archive with an install.sh and the
 * module that stands in for the driver, whose host has none before.
 */
final class InstallerPromises implements AutoCloseable {
    private static final Path MODULES = Path.of("/lib/modules");
    private static final Path GROUPS = Path.of("/sys/fs/cgroup");

    private static final String SCRIPT = """
            #!/bin/sh
            set -e
            here=$(dirname "$(readlink -f "$0")")
            echo "compiling for $(uname -r), $*, mad=$ERDMA_FORCE_MAD_ENABLE"
            cat /proc/self/cgroup >@DIRECTORY@/cgroup
            mkdir -p "/lib/modules/$(uname -r)/updates"
            cp "$here/erdma.ko" "/lib/modules/$(uname -r)/updates/"
            cp "$here"/index/* "/lib/modules/$(uname -r)/"
            # A daemon that stays, with all the outputs it got.
            setsid sleep 1000 &
            echo $! >@DIRECTORY@/daemon
            """;

    private final DriverPromises driver;
    private final Node node;
    private final Path directory;
    private final Path kernelModules;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch end = new CountDownLatch(1);
    private final byte[] archive;

    InstallerPromises(DriverPromises driver, Node node) throws IOException {
        this.driver = driver;
        this.node = node;
        this.directory = Files.createTempDirectory("installer");
        this.kernelModules = Path.of(System.getenv("LAB"), "kernel/lib/modules");
        this.archive = pack();
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/good.tar.gz", exchange -> answer(exchange, archive.length, archive));
        server.createContext(
                "/truncated.tar.gz",
                exchange -> answer(exchange, archive.length, Arrays.copyOf(archive, archive.length / 2)));
        server.createContext("/hanging.tar.gz", exchange -> {
            exchange.sendResponseHeaders(200, archive.length);
            exchange.getResponseBody().write(archive, 0, 1000);
            exchange.getResponseBody().flush();
            awaitEnd();
        });
        server.start();
        DriverPromises.unload();
        // As the kernel's package leaves it, without a driver of that name.
        Command.check("mount", "--bind", kernelModules.toString(), MODULES.toString());
    }

    private byte[] pack() throws IOException {
        Path tree = Files.createDirectories(directory.resolve("tree/erdma_installer-1.5.9"));
        Path script =
                Files.writeString(tree.resolve("install.sh"), SCRIPT.replace("@DIRECTORY@", directory.toString()));
        Command.check("chmod", "755", script.toString());
        Path built = MODULES.resolve(kernel());
        Files.copy(built.resolve("updates/erdma.ko"), tree.resolve("erdma.ko"));
        Path index = Files.createDirectories(tree.resolve("index"));
        for (String name : List.of("modules.dep.bin", "modules.alias.bin", "modules.symbols.bin", "modules.softdep")) {
            Files.copy(built.resolve(name), index.resolve(name));
        }
        Path packed = directory.resolve("archive");
        Command.check(
                "tar",
                "-czf",
                packed.toString(),
                "-C",
                directory.resolve("tree").toString(),
                ".");
        return Files.readAllBytes(packed);
    }

    private static String kernel() {
        return Command.check("uname", "-r").out().strip();
    }

    private static void answer(HttpExchange exchange, long length, byte[] content) throws IOException {
        exchange.sendResponseHeaders(200, length);
        exchange.getResponseBody().write(content);
        exchange.close();
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String url(String name) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/" + name + ".tar.gz";
    }

    private String sum() {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(archive));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    // ---- the promises

    String runsNothingThatIsNotWhatTheOperatorMeant() throws IOException {
        refuses("good", "0".repeat(64), "has the SHA-256 sum");
        refuses("truncated", sum(), "cannot download the driver's installer");
        try (DriverPromises.Keeper keeper = keeper("hanging", sum())) {
            Await.until(
                    "the download has begun", Node.PATIENCE, () -> leftBehind().contains("erdma-agent-installer"));
            Duration took = keeper.end();
            DriverPromises.require(
                    took.compareTo(Duration.ofSeconds(5)) < 0, "a hanging download holds up the end: " + took);
        }
        return "wrong checksum, truncated, hanging";
    }

    private void refuses(String name, String sum, String why) throws IOException {
        try (DriverPromises.Keeper keeper = keeper(name, sum)) {
            String problem = keeper.await(status -> status.problem().isPresent())
                    .problem()
                    .orElseThrow();
            DriverPromises.require(problem.contains(why), problem);
        }
        DriverPromises.require(!Files.exists(directory.resolve("cgroup")), "something was run");
        DriverPromises.require(leftBehind().isEmpty(), "left: " + leftBehind());
    }

    private DriverPromises.Keeper keeper(String name, String sum) {
        return driver.keeper(DriverMode.COMPAT, new InstallerSettings(URI.create(url(name)), sum));
    }

    private static String leftBehind() {
        return Command.run(List.of("sh", "-c", "ls /var/tmp | grep erdma-agent-installer- || :"))
                .out()
                .strip();
    }

    String installsAndLoadsInThePreferredMode() throws IOException {
        try (DriverPromises.Keeper keeper = keeper("good", sum())) {
            keeper.await(status -> status.inForce() == ModeInForce.COMPAT);
            DriverPromises.require(DriverPromises.compatMode().equals("Y"), DriverPromises.compatMode());
        }
        DriverPromises.require(!leftBehind().contains("erdma-agent"), "left: " + leftBehind());
        uninstall();
        return "compat_mode=Y";
    }

    /** In a mount namespace and a control group as a pod has them; the kernel tells in which group the installer ran. */
    String leavesThePodsControlGroup(int version) throws IOException {
        Path tree = GROUPS;
        // Another promise may have mounted the tree of version 2 there.
        boolean mounted = version == 2 && Files.exists(tree.resolve("cgroup.procs"));
        if (version == 2 && !mounted) {
            Command.check("mount", "-t", "cgroup2", "none", tree.toString());
        } else if (version == 1) {
            Command.check("mount", "-t", "tmpfs", "none", GROUPS.toString());
            tree = Files.createDirectory(GROUPS.resolve("lab"));
            // One of a controller would keep it from the tree of version 2 for as long as it remembers anything.
            Command.check("mount", "-t", "cgroup", "-o", "none,name=lab", "none", tree.toString());
        }
        Path group = Files.createDirectory(tree.resolve("pod"));
        try {
            Command.Result told = Command.run(
                    List.of(
                            "sh",
                            "-c",
                            "echo $$ >" + group + "/cgroup.procs && exec unshare --mount --propagation private sh -c"
                                    + " 'mount -t tmpfs none /lib/modules && exec \"$@\"' sh \"$@\"",
                            "sh",
                            node.project().resolve("build/test-main.sh").toString(),
                            InstallerProbe.class.getName(),
                            url("good"),
                            sum()),
                    Node.PATIENCE.multipliedBy(2));
            DriverPromises.require(
                    told.out().strip().equals("installed in the host's mount namespace"), told.toString());
            String where = Files.readString(directory.resolve("cgroup"));
            DriverPromises.require(
                    where.lines().noneMatch(line -> line.endsWith("pod")), "it ran in the pod's group: " + where);
            DriverPromises.require(leftBehind().isEmpty(), "left: " + leftBehind());
            return where.lines().filter(line -> line.endsWith(":/")).findFirst().orElse(where);
        } finally {
            uninstall();
            Files.delete(group);
            if (version == 1) {
                Command.check("umount", tree.toString());
            }
            if (!mounted) {
                Command.check("umount", GROUPS.toString());
            }
        }
    }

    private void uninstall() throws IOException {
        DriverPromises.unload();
        Optional<String> daemon = Files.exists(directory.resolve("daemon"))
                ? Optional.of(Files.readString(directory.resolve("daemon")).strip())
                : Optional.empty();
        if (daemon.isPresent()) {
            Command.check("kill", "-KILL", daemon.get());
            Files.delete(directory.resolve("daemon"));
            Files.deleteIfExists(directory.resolve("cgroup"));
        }
        Command.check("rm", "-rf", MODULES.resolve(kernel()).resolve("updates").toString());
    }

    @Override
    public void close() throws IOException {
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
        uninstall();
        Command.check("umount", MODULES.toString());
    }
}
