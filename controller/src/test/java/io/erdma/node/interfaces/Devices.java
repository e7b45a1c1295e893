package io.erdma.node.interfaces;

import io.erdma.device.Netdev;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.netlink.MacAddress;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalInt;

/** RDMA devices to choose from. */
final class Devices {
    private final String name;
    private NodeGuid guid = new NodeGuid(0);
    private Optional<Netdev> netdev = Optional.empty();

    private Devices(String name) {
        this.name = name;
    }

    static Devices device(String name) {
        return new Devices(name);
    }

    /** An eRDMA device with that permanent address. */
    static RdmaDevice erdma(String name, String mac) {
        return device(name).ofMac(mac).mac(mac).build();
    }

    Devices guid(String text) {
        guid = new NodeGuid(HexFormat.fromHexDigitsToLong(text.replace(":", "")));
        return this;
    }

    private Devices ofMac(String mac) {
        long value = MacAddress.parse(mac).value() ^ (0x02L << 40);
        guid = new NodeGuid((value >>> 24 << 40) | (0xfffeL << 24) | (value & 0xffffff));
        return this;
    }

    Devices mac(String mac) {
        netdev = Optional.of(new Netdev(2, "eth1", Optional.of(MacAddress.parse(mac))));
        return this;
    }

    RdmaDevice build() {
        return new RdmaDevice(
                name,
                guid,
                NodeType.RNIC,
                "erdma",
                Optional.empty(),
                netdev,
                Optional.of(Path.of("/dev/infiniband/uverbs0")),
                OptionalInt.empty(),
                RdmaCmUse.REQUIRED);
    }
}
