package io.erdma.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.Netdev;
import io.erdma.device.RdmaCmUse;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.SourceStatus.Source;
import io.erdma.libc.Errno;
import io.erdma.netlink.MacAddress;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DeviceInventoryTest {
    @TempDir
    Path root;

    private ScriptedNode node;

    @BeforeEach
    void makeNode() throws IOException {
        node = new ScriptedNode(root);
    }

    private InventorySnapshot scan() {
        return new DeviceInventory(node, node.paths(), List.of()).scan();
    }

    private Found only() {
        List<Found> found = scan().devices();
        assertThat(found).hasSize(1);
        return found.getFirst();
    }

    private static Optional<String> problem(InventorySnapshot snapshot, Source source) {
        return snapshot.sources().stream()
                .filter(status -> status.source() == source)
                .findFirst()
                .orElseThrow()
                .problem();
    }

    @Test
    void joinsAllSourcesIntoOneDevice() {
        node.add("erdma_0", 1).numaNode = OptionalInt.of(1);
        node.makeNode("rdma_cm");

        InventorySnapshot snapshot = scan();

        Found found = snapshot.devices().getFirst();
        assertThat(found.selected()).isTrue();
        assertThat(found.inVerbs()).isTrue();
        assertThat(found.missingFromVerbs()).isEmpty();
        assertThat(found.uverbsPresent()).isTrue();
        assertThat(found.device().driver()).isEqualTo("erdma");
        assertThat(found.device().uverbs()).contains(Path.of("/dev/infiniband/uverbs1"));
        assertThat(found.device().numaNode()).hasValue(1);
        assertThat(found.device().netdev())
                .contains(new Netdev(11, "eth1", Optional.of(MacAddress.parse("00:16:3e:00:00:01"))));
        assertThat(snapshot.rdmaCm()).contains(Path.of("/dev/infiniband/rdma_cm"));
        assertThat(snapshot.sources()).allMatch(SourceStatus::usable);
    }

    @Test
    void aNodeWithoutRdmaIsAnAnswer() {
        assertThat(scan().devices()).isEmpty();
        assertThat(scan().sources()).allMatch(SourceStatus::usable);
    }

    @ParameterizedTest
    @CsvSource({
        "true,false,false",
        "false,true,false",
        "false,false,true",
        "true,true,false",
        "true,false,true",
        "false,true,true"
    })
    void findsTheDeviceWithWhateverSourcesWork(boolean verbs, boolean netlink, boolean sysfs) {
        node.add("erdma_0", 0);
        node.verbsProblem = verbs ? Optional.empty() : Optional.of("libibverbs.so.1 is missing");
        node.netlinkErrno = netlink ? 0 : Errno.EPROTONOSUPPORT;
        node.sysfsProblem = sysfs ? Optional.empty() : Optional.of("/sys/class is missing");

        InventorySnapshot snapshot = scan();

        assertThat(snapshot.devices())
                .extracting(found -> found.device().name())
                .containsExactly("erdma_0");
        assertThat(problem(snapshot, Source.VERBS).isEmpty()).isEqualTo(verbs);
        assertThat(problem(snapshot, Source.RDMA_NETLINK).isEmpty()).isEqualTo(netlink);
        assertThat(problem(snapshot, Source.SYSFS).isEmpty()).isEqualTo(sysfs);
        assertThat(snapshot.devices().getFirst().device().netdev())
                .map(Netdev::name)
                .contains("eth0");
    }

    @Test
    void allSourcesFailingIsAnAnswerWithFourReasons() {
        node.verbsProblem = Optional.of("libibverbs.so.1 is missing");
        node.netlinkErrno = Errno.EMFILE;
        node.sysfsProblem = Optional.of("too many open files");
        node.linksErrno = Errno.EMFILE;

        assertThat(scan().sources()).noneMatch(SourceStatus::usable).hasSize(4);
    }

    @Test
    void tellsThatTheUverbsNodeIsMissing() {
        node.add("erdma_0", 0);
        node.removeNode("uverbs0");

        Found found = only();

        assertThat(found.uverbsPresent()).isFalse();
        assertThat(found.missingFromVerbs().orElseThrow())
                .contains(node.paths().infiniband().resolve("uverbs0") + " is missing");
    }

    @Test
    void tellsThatTheNodeIsNoCharacterDevice() {
        node.add("erdma_0", 0).inVerbs = false;

        assertThat(only().missingFromVerbs().orElseThrow()).contains("is not a character device");
    }

    /** A link to a real character device stands for the node, which only the kernel can make. */
    private void makeRealNode() throws IOException {
        node.add("erdma_0", 0).inVerbs = false;
        Path file = node.paths().infiniband().resolve("uverbs0");
        Files.delete(file);
        Files.createSymbolicLink(file, Path.of("/dev/null"));
    }

    @Test
    void tellsThatTheProviderPackageIsMissing() throws IOException {
        makeRealNode();

        assertThat(only().missingFromVerbs().orElseThrow())
                .contains("erdma.driver")
                .contains("ibverbs-providers 43 or newer");
    }

    @Test
    void saysWhyLibibverbsCannotBeLoaded() {
        node.add("erdma_0", 0);
        node.verbsProblem = Optional.of("libibverbs.so.1 cannot be loaded: install libibverbs1");

        assertThat(only().missingFromVerbs()).contains("libibverbs.so.1 cannot be loaded: install libibverbs1");
    }

    @Test
    void aForeignCardIsFoundButNotSelected() {
        node.add("erdma_0", 0);
        ScriptedNode.Device foreign = node.add("mlx5_0", 1);
        foreign.driverId = 1;
        foreign.sysfsDriver = Optional.of("mlx5_core");
        foreign.pciDevice = OptionalInt.of(0x1017);

        InventorySnapshot snapshot = scan();

        assertThat(snapshot.devices()).extracting(Found::selected).containsExactly(true, false);
        assertThat(snapshot.devices().get(1).why()).contains("mlx5_core");
    }

    @Test
    void aRenamedErdmaDeviceStaysOurs() {
        node.add("rocep0s5", 0);

        assertThat(only().selected()).isTrue();
    }

    @Test
    void findsTheNetdevByGuidWhenNoSourceNamesIt() {
        node.add("erdma_0", 3).netdev = OptionalInt.empty();

        assertThat(only().device().netdev()).map(Netdev::name).contains("eth3");
    }

    @Test
    void anOddGuidOfAForeignCardHidesNoOtherDevice() {
        ScriptedNode.Device foreign = node.add("mlx5_0", 1);
        foreign.guid = new NodeGuid(0x98039b0300cc5b7aL);
        foreign.netdev = OptionalInt.empty();
        node.add("erdma_0", 2).netdev = OptionalInt.empty();

        List<Found> found = scan().devices();

        assertThat(found).hasSize(2);
        assertThat(found.get(0).device().netdev()).map(Netdev::name).contains("eth2");
        assertThat(found.get(1).device().netdev()).isEmpty();
    }

    @Test
    void readsTheMacFromAGuid() {
        assertThat(DeviceInventory.macOf(new NodeGuid(0x02163efffe000001L)))
                .contains(MacAddress.parse("00-16-3E-00-00-01"));
        assertThat(DeviceInventory.macOf(new NodeGuid(0))).isEmpty();
    }

    @Property
    void noGuidIsTooOdd(@ForAll long guid) {
        assertThat(DeviceInventory.macOf(new NodeGuid(guid)).isPresent()).isEqualTo(((guid >>> 24) & 0xffff) == 0xfffe);
    }

    @Property
    void everyMacIsFoundBehindItsGuid(@ForAll @LongRange(min = 0, max = 0xffff_ffff_ffffL) long mac) {
        long guid = ((mac >>> 24) << 40 | 0xfffeL << 24 | (mac & 0xffffff)) ^ (2L << 56);
        assertThat(DeviceInventory.macOf(new NodeGuid(guid))).contains(new MacAddress(mac));
    }

    @ParameterizedTest
    @CsvSource({"true,RNIC,UNUSED", "false,CA,REQUIRED", ",RNIC,REQUIRED", ",CA,IF_PRESENT"})
    void theDriverModeTellsWhetherRdmaCmIsNeeded(Boolean compatMode, NodeType type, RdmaCmUse use) {
        node.add("erdma_0", 0).type = type;
        node.compatMode = Optional.ofNullable(compatMode);

        assertThat(only().device().rdmaCm()).isEqualTo(use);
    }

    @Test
    void uverbsNumbersAreReadNotCounted() {
        node.add("erdma_0", 0).uverbs = "uverbs7";

        assertThat(only().device().uverbs()).contains(Path.of("/dev/infiniband/uverbs7"));
    }
}
