package io.erdma.plugin;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.Netdev;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.netlink.MacAddress;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/** Offers and settings for tests, each a value that is varied by one word. */
final class Offers {
    static final Path RDMA_CM = Path.of("/dev/infiniband/rdma_cm");
    static final DeviceHealth HEALTHY = new DeviceHealth.Healthy(Instant.EPOCH);
    static final DeviceHealth DOWN = new DeviceHealth.Unhealthy("port 1 is DOWN", Instant.EPOCH);

    private Offers() {}

    /** Device {@code erdma_<number>} with {@code uverbs<number>} and a MAC that ends in the number. */
    static RdmaDevice device(int number, OptionalInt numaNode, RdmaCmUse rdmaCm) {
        return device("erdma_" + number, number, numaNode, rdmaCm);
    }

    static RdmaDevice device(String name, int number, OptionalInt numaNode, RdmaCmUse rdmaCm) {
        return new RdmaDevice(
                name,
                new NodeGuid(0x02163efffe000000L + number),
                NodeType.CA,
                "erdma",
                Optional.empty(),
                Optional.of(
                        new Netdev(number + 2, "eth" + number, Optional.of(new MacAddress(0x00163e2f3700L + number)))),
                Optional.of(uverbs(number)),
                numaNode,
                rdmaCm);
    }

    static RdmaDevice device(int number) {
        return device(number, OptionalInt.empty(), RdmaCmUse.UNUSED);
    }

    static RdmaDevice onNode(int number, int numaNode) {
        return device(number, OptionalInt.of(numaNode), RdmaCmUse.UNUSED);
    }

    static RdmaDevice withRdmaCm(int number, RdmaCmUse use) {
        return device(number, OptionalInt.empty(), use);
    }

    static RdmaDevice withoutMac(int number) {
        return with(device(number), Optional.empty(), Optional.of(uverbs(number)));
    }

    static RdmaDevice withUverbs(int number, Optional<Path> uverbs) {
        return with(device(number), device(number).netdev(), uverbs);
    }

    private static RdmaDevice with(RdmaDevice device, Optional<Netdev> netdev, Optional<Path> uverbs) {
        return new RdmaDevice(
                device.name(),
                device.nodeGuid(),
                device.nodeType(),
                device.driver(),
                device.pciAddress(),
                netdev,
                uverbs,
                device.numaNode(),
                device.rdmaCm());
    }

    static Path uverbs(int number) {
        return Path.of("/dev/infiniband/uverbs" + number);
    }

    static AdvertisedDevices offer(RdmaDevice... healthy) {
        return new AdvertisedDevices(Arrays.stream(healthy).map(Offers::healthy).toList(), Optional.of(RDMA_CM));
    }

    static AdvertisedDevices offer(AdvertisedDevices.Entry... entries) {
        return new AdvertisedDevices(List.of(entries), Optional.of(RDMA_CM));
    }

    static AdvertisedDevices offerOf(int devices) {
        return offer(IntStream.range(0, devices).mapToObj(Offers::device).toArray(RdmaDevice[]::new));
    }

    static AdvertisedDevices.Entry healthy(RdmaDevice device) {
        return new AdvertisedDevices.Entry(device, HEALTHY);
    }

    static AdvertisedDevices.Entry down(RdmaDevice device) {
        return new AdvertisedDevices.Entry(device, DOWN);
    }

    static PluginSettings settings() {
        return PluginSettings.defaults();
    }

    static PluginSettings allDevices() {
        return settings(200, true, CdiMode.OFF, PluginSettings.DEFAULT_CDI_DIRECTORY, false);
    }

    static PluginSettings shares(int sharesPerDevice) {
        return settings(sharesPerDevice, false, CdiMode.OFF, PluginSettings.DEFAULT_CDI_DIRECTORY, false);
    }

    static PluginSettings cdi(CdiMode mode, Path directory) {
        return settings(200, false, mode, directory, false);
    }

    static PluginSettings settings(
            int sharesPerDevice, boolean allDevices, CdiMode cdi, Path cdiDirectory, boolean ncclIbHca) {
        return new PluginSettings(
                PluginSettings.DEFAULT_RESOURCE_NAME, sharesPerDevice, allDevices, cdi, cdiDirectory, ncclIbHca, false);
    }
}
