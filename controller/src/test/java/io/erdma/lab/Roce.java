package io.erdma.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Disturbs the soft-RoCE devices that {@code e2e/roce.sh} made; by its rule erdma_N sits on the card eth(N+1). */
public final class Roce {
    private static final Path SYSFS = Path.of("/sys/class/infiniband");
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private Roce() {}

    public static String netdevOf(String device) {
        return "eth" + (Integer.parseInt(device.substring(device.indexOf('_') + 1)) + 1);
    }

    /** Returns when the command does; the port's state follows by itself. */
    public static void setLink(String device, boolean up) {
        Command.check("ip", "link", "set", netdevOf(device), up ? "up" : "down");
    }

    public static void flap(String device) {
        setLink(device, false);
        awaitPort(device, "DOWN");
        setLink(device, true);
        awaitPort(device, "ACTIVE");
    }

    public static void awaitPort(String device, String state) {
        Await.until(device + " is " + state, LIMIT, () -> portState(device).equals(state));
    }

    public static String portState(String device) {
        try {
            String text = Files.readString(SYSFS.resolve(device + "/ports/1/state"));
            return text.substring(text.indexOf(' ') + 1).strip();
        } catch (IOException e) {
            // The device is not there, or is just going.
            return "";
        }
    }

    public static void add(String device) {
        Command.check("rdma", "link", "add", device, "type", "rxe", "netdev", netdevOf(device));
        awaitPort(device, "ACTIVE");
    }

    public static void delete(String device) {
        Command.check("rdma", "link", "delete", device);
    }

    public static void rename(String from, String to) {
        Command.check("rdma", "dev", "set", from, "name", to);
    }

    public static void setNamespaceMode(String mode) {
        Command.check("rdma", "system", "set", "netns", mode);
    }

    /** The character device of a device by sysfs, as the kernel tells it. */
    public static Path uverbs(String device) {
        try (var entries = Files.list(Path.of("/sys/class/infiniband_verbs"))) {
            List<Path> all = entries.filter(entry -> Files.exists(entry.resolve("ibdev")))
                    .toList();
            for (Path entry : all) {
                if (Files.readString(entry.resolve("ibdev")).strip().equals(device)) {
                    return Path.of("/dev/infiniband").resolve(entry.getFileName());
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("cannot read the uverbs devices", e);
        }
        throw new IllegalStateException(device + " has no uverbs device");
    }
}
