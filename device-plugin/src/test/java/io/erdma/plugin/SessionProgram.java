package io.erdma.plugin;

import io.erdma.log.InotifyShortage;
import java.io.IOException;
import java.nio.file.Path;

/** One device's plugin as a process of its own: {@code SessionProgram <kubelet root>}. It ends with its input. */
final class SessionProgram {
    private SessionProgram() {}

    public static void main(String[] args) throws IOException {
        SessionSettings settings = SessionSettings.of(Path.of(args[0]), FakeKubelet.RESOURCE);
        try (UnixTransport transport = UnixTransport.open();
                KubeletSession session = new KubeletSession(
                        settings, transport, service(), PluginObserver.NONE, new InotifyShortage())) {
            session.start();
            System.in.transferTo(System.out);
        }
    }

    private static DevicePluginService service() {
        DeviceStream stream = new DeviceStream(Offers.settings(), PluginObserver.NONE);
        stream.advertise(Offers.offerOf(1), System.nanoTime());
        return new DevicePluginService(Offers.settings(), stream, path -> true, CdiNames.NONE, PluginObserver.NONE);
    }
}
