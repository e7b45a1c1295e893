package io.erdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The installed libibverbs on a kernel without RDMA. There it falls back from netlink to the sysfs tree that SYSFS_PATH
 * names, and lists a device of that tree whose node exists below /dev/infiniband. Needs root for that node, and leaves
 * the ones that are there alone.
 */
class RealLibibverbsIT {
    private static final String UVERBS = "uverbs197";

    @TempDir
    Path sysfs;

    private Path node;
    private boolean madeDirectory;

    @BeforeEach
    void layOutTheTree() throws Exception {
        Path infiniband = Path.of("/dev/infiniband");
        madeDirectory = !Files.exists(infiniband);
        Files.createDirectories(infiniband);
        node = Files.createFile(infiniband.resolve(UVERBS));
        Path uverbs = Files.createDirectories(sysfs.resolve("class/infiniband_verbs/" + UVERBS));
        Files.writeString(sysfs.resolve("class/infiniband_verbs/abi_version"), "6\n");
        Files.writeString(uverbs.resolve("ibdev"), "erdma_0\n");
        Files.writeString(uverbs.resolve("dev"), "231:1197\n");
        Files.writeString(uverbs.resolve("abi_version"), "1\n");
        Path device = Files.createDirectories(sysfs.resolve("class/infiniband/erdma_0/device"));
        Files.writeString(device.resolveSibling("node_type"), "4: RNIC\n");
        Files.writeString(device.resolveSibling("node_guid"), "0216:3eff:fe00:0001\n");
        Files.writeString(device.resolve("modalias"), "pci:v00001DEDd0000107Fsv00001DEDsd0000107Fbc02sc00i00\n");
    }

    @AfterEach
    void removeTheNode() throws Exception {
        Files.delete(node);
        if (madeDirectory) {
            Files.delete(node.getParent());
        }
    }

    @Test
    void listsADeviceOfTheTreeAndSaysWhyItCannotBeOpened() throws Exception {
        assertThat(discover(sysfs))
                .containsExactly(
                        new VerbsDevice("erdma_0", UVERBS, new NodeGuid(0x0216_3eff_fe00_0001L), NodeType.RNIC, 1)
                                .toString(),
                        "ibv_open_device on erdma_0 failed: ENOENT (2)");
    }

    /** Root without the right to pass file modes, to which libibverbs says ENOENT as well. */
    @Test
    void saysThatItMayNotOpenTheNodeWhereLibibverbsSaysThatThereIsNone() throws Exception {
        Files.setPosixFilePermissions(node, Set.of());
        ChildJvm.Result result = ChildJvm.run(
                List.of(
                        "setpriv",
                        "--bounding-set=-dac_override,-dac_read_search",
                        "--inh-caps=-dac_override,-dac_read_search"),
                Discover.class,
                List.of(),
                Map.of("SYSFS_PATH", sysfs.toString()),
                sysfs,
                Verbs.DEFAULT_LIBRARY);
        assertThat(result.lines()).last().isEqualTo("open on " + node + " failed: EACCES (13)");
    }

    @Test
    void aDeviceWithoutItsNodeIsNotListed() throws Exception {
        Files.writeString(sysfs.resolve("class/infiniband_verbs/" + UVERBS + "/ibdev"), "erdma_0\n");
        Files.move(
                sysfs.resolve("class/infiniband_verbs/" + UVERBS), sysfs.resolve("class/infiniband_verbs/uverbs198"));
        assertThat(discover(sysfs)).isEmpty();
    }

    @Test
    void aKernelWithoutVerbsHasNoDevices(@TempDir Path empty) throws Exception {
        assertThat(discover(empty)).isEmpty();
    }

    private List<String> discover(Path tree) throws Exception {
        ChildJvm.Result result = ChildJvm.run(
                Discover.class, List.of(), Map.of("SYSFS_PATH", tree.toString()), sysfs, Verbs.DEFAULT_LIBRARY);
        assertThat(result.status()).as(String.join("\n", result.lines())).isZero();
        return result.lines();
    }
}
