package io.erdma.plugin;

import static io.erdma.plugin.Offers.device;
import static io.erdma.plugin.Offers.down;
import static io.erdma.plugin.Offers.healthy;
import static io.erdma.plugin.Offers.offer;
import static io.erdma.plugin.Offers.offerOf;
import static io.erdma.plugin.Offers.settings;
import static io.erdma.plugin.Offers.uverbs;
import static io.erdma.plugin.Offers.withRdmaCm;
import static io.erdma.plugin.Offers.withUverbs;
import static io.erdma.plugin.Offers.withoutMac;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaCmUse;
import io.erdma.log.Quote;
import io.erdma.plugin.Allocation.DeviceNode;
import io.erdma.plugin.Allocation.Granted;
import io.erdma.plugin.Allocation.Malformed;
import io.erdma.plugin.Allocation.NotReady;
import io.erdma.plugin.Allocation.Refused;
import io.erdma.plugin.Allocation.Unknown;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class AllocatorTest {
    @Test
    void givesTheUverbsNodeOfTheShareAndThePnetId() {
        assertThat(allocate(settings(), offerOf(2), "erdma_1/7"))
                .isEqualTo(new Granted(
                        List.of(new DeviceNode(uverbs(1), uverbs(1))), Map.of("SMCR_PNET", "00163E2F3701"), List.of()));
    }

    @Test
    void givesEachDeviceOnceForSeveralOfItsShares() {
        assertThat(hostPaths(allocate(settings(), offerOf(2), "erdma_1/7", "erdma_0/3", "erdma_1/8")))
                .containsExactly(uverbs(0), uverbs(1));
    }

    @Test
    void answersTheSameForTheSameSharesInAnyOrder() {
        List<String> ids = new ArrayList<>(List.of("erdma_2/1", "erdma_0/9", "erdma_1/0", "erdma_0/1"));
        Allocation answer = allocate(settings(), offerOf(3), ids.toArray(String[]::new));
        for (int i = 0; i < 4; i++) {
            Collections.rotate(ids, 1);
            assertThat(allocate(settings(), offerOf(3), ids.toArray(String[]::new)))
                    .isEqualTo(answer);
        }
    }

    @Test
    void containersFindTheNodesWhereTheirLibrariesLookWhereverTheHostKeepsThem() {
        AdvertisedDevices offer = new AdvertisedDevices(
                List.of(healthy(withUverbs(0, Optional.of(Path.of("/odd/root/dev/infiniband/uverbs4"))))),
                Optional.empty());
        assertThat(((Granted) allocate(settings(), offer, "erdma_0/0")).nodes())
                .containsExactly(new DeviceNode(
                        Path.of("/dev/infiniband/uverbs4"), Path.of("/odd/root/dev/infiniband/uverbs4")));
    }

    @Test
    void p12_rdmaCmIsGivenExactlyOnceToSeveralDevicesThatNeedIt() {
        AdvertisedDevices offer =
                offer(withRdmaCm(0, RdmaCmUse.REQUIRED), withRdmaCm(1, RdmaCmUse.REQUIRED), device(2));
        assertThat(hostPaths(allocate(settings(), offer, "erdma_0/0", "erdma_1/0", "erdma_2/0")))
                .containsExactly(uverbs(0), uverbs(1), uverbs(2), Offers.RDMA_CM);
    }

    @Test
    void rdmaCmIsGivenOnlyForTheDevicesOfThisContainer() {
        AdvertisedDevices offer = offer(device(0), withRdmaCm(1, RdmaCmUse.REQUIRED));
        assertThat(hostPaths(allocate(settings(), offer, "erdma_0/0"))).containsExactly(uverbs(0));
    }

    @Test
    void r09_rdmaCmIsLeftOutWhereItIsOptionalAndMissing() {
        AdvertisedDevices offer = offer(withRdmaCm(0, RdmaCmUse.IF_PRESENT));
        assertThat(hostPaths(allocate(settings(), offer, "erdma_0/0"))).containsExactly(uverbs(0), Offers.RDMA_CM);
        assertThat(hostPaths(allocate(settings(), offer, path -> !path.equals(Offers.RDMA_CM), "erdma_0/0")))
                .containsExactly(uverbs(0));
        assertThat(hostPaths(
                        allocate(settings(), new AdvertisedDevices(offer.devices(), Optional.empty()), "erdma_0/0")))
                .containsExactly(uverbs(0));
    }

    @Test
    void r09_aMissingRequiredRdmaCmIsRefusedWithWhatToDo() {
        AdvertisedDevices offer = offer(withRdmaCm(0, RdmaCmUse.REQUIRED));
        assertRefused(
                allocate(settings(), offer, path -> !path.equals(Offers.RDMA_CM), "erdma_0/5"),
                NotReady.class,
                "\"erdma_0/5\"",
                "Load rdma_ucm");
        assertRefused(
                allocate(settings(), new AdvertisedDevices(offer.devices(), Optional.empty()), "erdma_0/5"),
                NotReady.class,
                "Load rdma_ucm");
    }

    @Test
    void anUnhealthyDeviceThatHasItsNodeIsGranted() {
        assertThat(hostPaths(allocate(settings(), offer(down(device(0))), "erdma_0/0")))
                .containsExactly(uverbs(0));
    }

    @Test
    void r09_aDeviceWithoutItsNodeIsRefusedWithThePathAndWhatToDo() {
        assertRefused(
                allocate(settings(), offerOf(2), path -> !path.equals(uverbs(1)), "erdma_0/0", "erdma_1/3"),
                NotReady.class,
                "\"erdma_1/3\"",
                "/dev/infiniband/uverbs1 does not exist",
                "Load ib_uverbs");
        assertRefused(
                allocate(settings(), offer(withUverbs(0, Optional.empty())), "erdma_0/0"),
                NotReady.class,
                "\"erdma_0\"",
                "Load ib_uverbs");
    }

    @Test
    void p09_anUnknownDeviceIsRefusedWithTheOnesThereAre() {
        assertRefused(
                allocate(settings(), offerOf(2), "erdma_7/0"),
                Unknown.class,
                "\"erdma_7/0\" is unknown",
                "\"erdma_0\", \"erdma_1\"");
        assertRefused(
                allocate(settings(), AdvertisedDevices.NONE, "erdma_0/0"),
                Unknown.class,
                "this node has no eRDMA device");
    }

    @Test
    void p09_aShareBeyondTheLastIsRefused() {
        assertThat(allocate(Offers.shares(3), offerOf(1), "erdma_0/2")).isInstanceOf(Granted.class);
        assertRefused(allocate(Offers.shares(3), offerOf(1), "erdma_0/3"), Unknown.class, "\"erdma_0/3\"", "3 shares");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "erdma_0", "erdma_0/", "/1", "erdma_0/-1", "erdma_0/007", "erdma_0/1/1", "../../dev/sda/0"})
    void p09_aMalformedIdIsRefusedByItsName(String id) {
        assertRefused(allocate(settings(), offerOf(1), "erdma_0/1", id), Malformed.class, Quote.of(id), "malformed");
    }

    @Test
    void anEmptyOrRepeatedRequestIsRefused() {
        assertRefused(allocate(settings(), offerOf(1)), Malformed.class, "names no share of aliyun/erdma");
        assertRefused(
                allocate(settings(), offerOf(1), "erdma_0/1", "erdma_0/1"), Malformed.class, "\"erdma_0/1\"", "twice");
    }

    @Test
    void messagesStayShortAndPrintableForHostileIds() {
        Refused refused = (Refused) allocate(settings(), offerOf(1), "\n\u001b[31m\u0000é".repeat(100_000));
        assertThat(refused.message()).hasSizeLessThan(1000).matches("[ -~]*");
    }

    @Test
    void allDevicesModeGivesEveryHealthyDeviceThatHasItsNode() {
        AdvertisedDevices offer = offer(
                healthy(device(0)),
                down(device(1)),
                healthy(device(2)),
                healthy(withUverbs(3, Optional.empty())),
                healthy(device(4)));
        assertThat(hostPaths(allocate(Offers.allDevices(), offer, path -> !path.equals(uverbs(4)), "erdma_2/9")))
                .containsExactly(uverbs(0), uverbs(2));
    }

    @Test
    void allDevicesModeAlsoGivesTheUnhealthyDeviceThatWasAskedFor() {
        AdvertisedDevices offer = offer(healthy(device(0)), down(device(1)));
        assertThat(hostPaths(allocate(Offers.allDevices(), offer, "erdma_1/9"))).containsExactly(uverbs(0), uverbs(1));
    }

    @Test
    void allDevicesModeLeavesOutADeviceThatLacksItsRequiredRdmaCm() {
        AdvertisedDevices offer = offer(device(0), withRdmaCm(1, RdmaCmUse.REQUIRED));
        assertThat(hostPaths(allocate(Offers.allDevices(), offer, path -> !path.equals(Offers.RDMA_CM), "erdma_0/0")))
                .containsExactly(uverbs(0));
    }

    @Test
    void allDevicesModeStillRefusesWhatItDoesNotKnow() {
        assertRefused(allocate(Offers.allDevices(), offerOf(2), "erdma_9/0"), Unknown.class, "\"erdma_9/0\"");
    }

    @Test
    void thePnetIdIsThatOfTheFirstDeviceWithAMac() {
        assertThat(environment(allocate(
                        settings(), offer(withoutMac(0), device(1), device(2)), "erdma_2/0", "erdma_0/0", "erdma_1/0")))
                .containsEntry("SMCR_PNET", "00163E2F3701");
        assertThat(environment(allocate(settings(), offer(withoutMac(0)), "erdma_0/0")))
                .isEmpty();
    }

    @Test
    void ncclGetsTheExactNamesWhereItIsAskedFor() {
        PluginSettings settings = Offers.settings(200, false, CdiMode.OFF, PluginSettings.DEFAULT_CDI_DIRECTORY, true);
        assertThat(environment(allocate(settings, offerOf(2), "erdma_1/0"))).containsEntry("NCCL_IB_HCA", "=erdma_1");
        assertThat(environment(allocate(settings, offerOf(2), "erdma_1/0", "erdma_0/0")))
                .containsEntry("NCCL_IB_HCA", "=erdma_0,erdma_1");
        assertThat(environment(allocate(settings(), offerOf(2), "erdma_1/0"))).doesNotContainKey("NCCL_IB_HCA");
    }

    @Test
    void ncclIsToldNothingWhereANameCannotStandInItsList() {
        PluginSettings settings = Offers.settings(200, false, CdiMode.OFF, PluginSettings.DEFAULT_CDI_DIRECTORY, true);
        AdvertisedDevices offer = offer(device(0), device("odd:1", 1, OptionalInt.empty(), RdmaCmUse.UNUSED));
        assertThat(environment(allocate(settings, offer, "erdma_0/0", "odd:1/0")))
                .doesNotContainKey("NCCL_IB_HCA");
    }

    @Test
    void cdiBesideNodesNamesWhatTheRuntimeCanResolve() {
        PluginSettings settings = Offers.cdi(CdiMode.ALSO, Path.of("/var/run/cdi"));
        AdvertisedDevices offer = offer(withRdmaCm(0, RdmaCmUse.REQUIRED), withRdmaCm(1, RdmaCmUse.REQUIRED));
        List<DeviceNode> nodes = List.of(
                new DeviceNode(uverbs(0), uverbs(0)),
                new DeviceNode(uverbs(1), uverbs(1)),
                new DeviceNode(Offers.RDMA_CM, Offers.RDMA_CM));
        Granted all = (Granted) new Allocator(settings)
                .allocate(List.of("erdma_1/0", "erdma_0/0"), offer, AllocatorTest::exists, name -> true);
        assertThat(all.nodes()).isEqualTo(nodes);
        assertThat(all.cdiDevices())
                .containsExactly("aliyun.com/erdma=erdma_0", "aliyun.com/erdma=erdma_1", "aliyun.com/erdma=rdma_cm");
        Granted none = (Granted) new Allocator(settings)
                .allocate(List.of("erdma_1/0", "erdma_0/0"), offer, AllocatorTest::exists, CdiNames.NONE);
        assertThat(none.nodes()).isEqualTo(nodes);
        assertThat(none.cdiDevices()).isEmpty();
    }

    @Test
    void cdiAloneGivesNoNodes() {
        PluginSettings settings = Offers.cdi(CdiMode.ONLY, Path.of("/var/run/cdi"));
        AdvertisedDevices offer = offer(withRdmaCm(0, RdmaCmUse.IF_PRESENT), device(1));
        Granted granted = (Granted)
                new Allocator(settings).allocate(List.of("erdma_0/0"), offer, AllocatorTest::exists, name -> true);
        assertThat(granted.nodes()).isEmpty();
        assertThat(granted.cdiDevices()).containsExactly("aliyun.com/erdma=erdma_0", "aliyun.com/erdma=rdma_cm");
        assertThat(granted.environment()).containsEntry("SMCR_PNET", "00163E2F3700");
    }

    @Test
    void cdiAloneRefusesWhatTheRuntimeCouldNotResolve() {
        PluginSettings settings = Offers.cdi(CdiMode.ONLY, Path.of("/var/run/cdi"));
        assertRefused(
                new Allocator(settings)
                        .allocate(List.of("erdma_0/0"), offerOf(1), AllocatorTest::exists, CdiNames.NONE),
                NotReady.class,
                "/var/run/cdi");
        assertRefused(
                new Allocator(settings)
                        .allocate(
                                List.of("erdma_0/0"),
                                offer(withRdmaCm(0, RdmaCmUse.REQUIRED)),
                                AllocatorTest::exists,
                                name -> !name.equals(CdiSpec.RDMA_CM)),
                NotReady.class,
                "rdma_cm");
    }

    @ParameterizedTest
    @EnumSource(RdmaCmUse.class)
    void neverNamesTheSameContainerPathTwice(RdmaCmUse use) {
        AdvertisedDevices offer =
                offer(withRdmaCm(0, use), device("twin", 0, OptionalInt.empty(), use), withRdmaCm(1, use));
        assertThat(((Granted) allocate(settings(), offer, "erdma_0/0", "twin/0", "erdma_1/0")).nodes())
                .extracting(DeviceNode::containerPath)
                .doesNotHaveDuplicates();
    }

    private static Allocation allocate(PluginSettings settings, AdvertisedDevices offer, String... ids) {
        return allocate(settings, offer, AllocatorTest::exists, ids);
    }

    private static Allocation allocate(
            PluginSettings settings, AdvertisedDevices offer, Predicate<Path> exists, String... ids) {
        return new Allocator(settings).allocate(List.of(ids), offer, exists, CdiNames.NONE);
    }

    private static boolean exists(Path path) {
        return path.isAbsolute();
    }

    private static List<Path> hostPaths(Allocation allocation) {
        return ((Granted) allocation).nodes().stream().map(DeviceNode::hostPath).toList();
    }

    private static Map<String, String> environment(Allocation allocation) {
        return ((Granted) allocation).environment();
    }

    private static void assertRefused(Allocation allocation, Class<? extends Refused> kind, String... texts) {
        assertThat(allocation).isInstanceOf(kind);
        assertThat(((Refused) allocation).message()).contains(texts);
    }
}
