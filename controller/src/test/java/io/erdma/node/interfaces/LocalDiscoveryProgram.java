package io.erdma.node.interfaces;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.health.DeviceChoice;
import io.erdma.node.kube.ClusterAccess;
import io.erdma.node.net.WantedInterfaces;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** Local discovery as an agent with default settings runs it, until it has found its interface. */
final class LocalDiscoveryProgram {
    private LocalDiscoveryProgram() {}

    public static void main(String[] args) throws InterruptedException {
        var metadata = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        var found = new CountDownLatch(1);
        InterfacesListener listener = (WantedInterfaces wanted, DeviceChoice choice) -> {
            if (!wanted.secondary().isEmpty()) {
                found.countDown();
            }
        };
        var settings = new InterfaceSettings(true, ExposedRules.NONE, "node-a", metadata, 8500, false);
        var cluster = ClusterAccess.find(System.getenv(), Path.of(args[1]));
        var device = new AdvertisedDevices.Entry(
                Devices.erdma("erdma_1", "00:16:3e:00:00:02"), new DeviceHealth.Healthy(Instant.EPOCH));
        try (var source = new InterfaceSource(settings, cluster)) {
            source.start(listener);
            source.advertise(new AdvertisedDevices(List.of(device), Optional.empty()), System.nanoTime());
            found.await();
        }
    }
}
