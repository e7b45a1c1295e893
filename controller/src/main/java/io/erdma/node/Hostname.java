package io.erdma.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The name that this host goes by, without asking any name service. */
public final class Hostname {
    private static final Path FILE = Path.of("/proc/sys/kernel/hostname");

    private Hostname() {}

    /** In lower case, as the kubelet makes a node's name of it; "localhost" when the kernel does not tell. */
    public static String read() {
        try {
            return Files.readString(FILE).strip().toLowerCase(Locale.ROOT);
        } catch (IOException e) {
            return "localhost";
        }
    }
}
