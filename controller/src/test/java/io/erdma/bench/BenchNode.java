package io.erdma.bench;

import io.erdma.sysfs.NodeFixture;
import io.erdma.verbs.FakeVerbs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A node with any number of eRDMA devices that exist only in files: sysfs, /dev and the stand-in of libibverbs. */
final class BenchNode {
    private final NodeFixture tree;
    private final FakeVerbs verbs;
    private final List<FakeVerbs.Device> devices = new ArrayList<>();

    BenchNode(Path directory, int count) throws IOException {
        this.tree = NodeFixture.lay(NodeFixture.NO_RDMA, Files.createDirectories(directory.resolve("node")));
        this.verbs = FakeVerbs.tree(directory.resolve("verbs"));
        tree.addDeviceNode("infiniband/rdma_cm");
        tree.write("class/infiniband_verbs/abi_version", "6\n");
        tree.write("module/erdma/refcnt", "0\n");
        for (int i = 0; i < count; i++) {
            devices.add(add(i));
        }
    }

    /** A device of the driver erdma, alone on its PCI function and bound to no interface of this machine. */
    private FakeVerbs.Device add(int number) {
        String name = "erdma_" + number;
        String uverbs = "uverbs" + number;
        String guid = "0216:3eff:fe00:%04x".formatted(number + 1);
        String slot = "0000:%02x:00.0".formatted(number + 0x10);
        String pci = "devices/pci0000:00/" + slot;
        tree.write(pci + "/vendor", "0x1ded\n");
        tree.write(pci + "/device", "0x107f\n");
        tree.write(pci + "/numa_node", "-1\n");
        tree.link(pci + "/driver", "../../../bus/pci/drivers/erdma");
        String device = pci + "/infiniband/" + name;
        tree.link(device + "/device", "../../../" + slot);
        tree.write(device + "/node_type", "1: CA\n");
        tree.write(device + "/node_guid", guid + "\n");
        tree.write(device + "/sys_image_guid", guid + "\n");
        tree.write(device + "/fw_ver", "0.2.0\n");
        tree.write(device + "/ports/1/state", "4: ACTIVE\n");
        tree.write(device + "/ports/1/link_layer", "Ethernet\n");
        tree.link("class/infiniband/" + name, "../../" + device);
        String character = pci + "/infiniband_verbs/" + uverbs;
        tree.write(character + "/ibdev", name + "\n");
        tree.write(character + "/dev", "231:" + (192 + number) + "\n");
        tree.write(character + "/abi_version", "1\n");
        tree.link(character + "/device", "../../../" + slot);
        tree.link("class/infiniband_verbs/" + uverbs, "../../" + character);
        tree.addDeviceNode("infiniband/" + uverbs);
        return verbs.device(name).uverbs(uverbs).guid(guid).index(number);
    }

    /** Unplugged: gone from libibverbs, sysfs and /dev. */
    void remove(int number) {
        FakeVerbs.Device device = devices.get(number);
        tree.removeDevice(device.name());
        device.remove();
    }

    void addAgain(int number) {
        devices.set(number, add(number));
    }

    FakeVerbs.Device device(int number) {
        return devices.get(number);
    }

    int size() {
        return devices.size();
    }

    /** The port changes as a driver changes it: sysfs and the query first, then the event. */
    void setPort(int number, boolean up) {
        FakeVerbs.Device device = devices.get(number);
        tree.setPortState(device.name(), 1, up ? "4: ACTIVE" : "1: DOWN");
        if (up) {
            device.portUp();
        } else {
            device.portDown();
        }
    }

    /** What the agent needs to see this node instead of the machine's. */
    List<String> agentOptions() {
        return List.of(
                "--sysfs-root=" + tree.sysfs(), "--dev-root=" + tree.dev(), "--verbs-library=" + FakeVerbs.library());
    }

    FakeVerbs verbs() {
        return verbs;
    }
}
