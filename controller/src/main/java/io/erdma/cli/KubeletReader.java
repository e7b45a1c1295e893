package io.erdma.cli;

import io.erdma.doctor.Fact;
import io.erdma.doctor.Facts.KubeletSocket;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether the kubelet takes registrations. Connects and says nothing. */
final class KubeletReader {
    private KubeletReader() {}

    /** @param root the kubelet's root directory */
    static Fact<KubeletSocket> socket(Path root) {
        Path directory = root.resolve("device-plugins");
        if (!Files.isDirectory(directory)) {
            return Fact.unknown("no " + directory
                    + " here: either no kubelet runs on this machine, or its directory is not" + " mounted");
        }
        Path socket = directory.resolve("kubelet.sock");
        if (Files.notExists(socket)) {
            return Fact.known(new KubeletSocket.Missing(socket));
        }
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return channel.isConnected()
                    ? Fact.known(new KubeletSocket.Answers(socket))
                    : Fact.known(new KubeletSocket.Refuses(socket, "did not connect"));
        } catch (IOException e) {
            return "Permission denied".equals(e.getMessage())
                    ? Fact.unknown(socket + ": permission denied")
                    : Fact.known(new KubeletSocket.Refuses(socket, String.valueOf(e.getMessage())));
        }
    }
}
