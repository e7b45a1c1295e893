package io.erdma.plugin;

import static io.erdma.plugin.Offers.device;
import static io.erdma.plugin.Offers.down;
import static io.erdma.plugin.Offers.healthy;
import static io.erdma.plugin.Offers.offer;
import static io.erdma.plugin.Offers.offerOf;
import static io.erdma.plugin.Offers.onNode;
import static io.erdma.plugin.Offers.settings;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PreferredAllocationTest {
    @Test
    void oneShareComesFromTheLeastUsedDevice() {
        assertThat(choose(offerOf(3), ids("erdma_0", 10, 200, "erdma_1", 3, 200, "erdma_2", 7, 200), 1))
                .containsExactly("erdma_1/3");
    }

    @Test
    void equallyUsedDevicesAreTakenByName() {
        assertThat(choose(offer(onNode(0, 1), onNode(1, 0)), ids("erdma_1", 5, 200, "erdma_0", 5, 200), 1))
                .containsExactly("erdma_0/5");
    }

    @Test
    void oneShareStaysAmongTheDevicesTheKubeletNarrowedTo() {
        assertThat(choose(offer(onNode(0, 0), onNode(1, 1)), ids("erdma_1", 190, 200), 1))
                .containsExactly("erdma_1/190");
    }

    @Test
    void theNumaNodeOfABusyDeviceDoesNotDrawASingleShare() {
        AdvertisedDevices offer = offer(onNode(0, 0), onNode(1, 0), onNode(2, 1));
        assertThat(choose(offer, ids("erdma_0", 9, 200, "erdma_1", 9, 200, "erdma_2", 8, 200), 1))
                .containsExactly("erdma_2/8");
    }

    @Test
    void p20_devicesOfUnknownNumaNodeAreChosenLikeAnyOther() {
        AdvertisedDevices offer = offer(onNode(0, 0), device(1));
        assertThat(choose(offer, ids("erdma_0", 9, 200, "erdma_1", 8, 200), 1)).containsExactly("erdma_1/8");
        assertThat(choose(offer, ids("erdma_0", 9, 200, "erdma_1", 8, 200), 2))
                .containsExactlyInAnyOrder("erdma_0/9", "erdma_1/8");
    }

    @Test
    void severalSharesComeFromDistinctDevicesOfOneNumaNode() {
        AdvertisedDevices offer = offer(onNode(0, 0), onNode(1, 1), onNode(2, 1));
        assertThat(choose(offer, ids("erdma_0", 0, 200, "erdma_1", 9, 200, "erdma_2", 5, 200), 2))
                .containsExactly("erdma_2/5", "erdma_1/9");
    }

    @Test
    void r08_knownNumaNodesArePreferredOverUnknownOnes() {
        AdvertisedDevices offer = offer(device(0), device(1), onNode(2, 1), onNode(3, 1));
        assertThat(choose(offer, ids("erdma_0", 0, 9, "erdma_1", 0, 9, "erdma_2", 5, 9, "erdma_3", 5, 9), 2))
                .containsExactly("erdma_2/5", "erdma_3/5");
    }

    @Test
    void ofTwoNodesThatCanServeTheIdlerOneDoes() {
        AdvertisedDevices offer = offer(onNode(0, 0), onNode(1, 0), onNode(2, 1), onNode(3, 1));
        assertThat(choose(offer, ids("erdma_0", 5, 9, "erdma_1", 5, 9, "erdma_2", 4, 9, "erdma_3", 5, 9), 2))
                .containsExactly("erdma_2/4", "erdma_3/5");
    }

    @Test
    void mostSharesAreOnOneNodeWhereNoneCanServeAll() {
        AdvertisedDevices offer = offer(onNode(0, 0), onNode(1, 0), onNode(2, 1), onNode(3, 1), onNode(4, 1));
        assertThat(choose(offer, fresh(5), 4)).containsExactly("erdma_2/0", "erdma_3/0", "erdma_4/0", "erdma_0/0");
    }

    @Test
    void moreSharesThanDevicesAreSpreadEvenly() {
        assertThat(choose(offerOf(2), fresh(2), 5))
                .containsExactlyInAnyOrder("erdma_0/0", "erdma_0/1", "erdma_0/2", "erdma_1/0", "erdma_1/1");
    }

    @Test
    void whatOneDeviceLacksTheOthersGive() {
        assertThat(choose(offerOf(2), List.of("erdma_0/7", "erdma_1/1", "erdma_1/2", "erdma_1/3"), 4))
                .containsExactlyInAnyOrder("erdma_0/7", "erdma_1/1", "erdma_1/2", "erdma_1/3");
    }

    @Test
    void whatTheContainerHasIsKeptAndItsDeviceNotTakenAgain() {
        assertThat(choose(offerOf(3), fresh(3), List.of("erdma_0/50"), 3))
                .containsExactlyInAnyOrder("erdma_0/50", "erdma_1/0", "erdma_2/0");
    }

    @Test
    void theNodeOfWhatTheContainerHasIsPreferred() {
        AdvertisedDevices offer = offer(onNode(0, 0), onNode(1, 1), onNode(2, 1), onNode(3, 0));
        assertThat(choose(offer, fresh(4), List.of("erdma_3/50"), 2)).containsExactly("erdma_3/50", "erdma_0/0");
    }

    @Test
    void whatTheContainerHasIsAnsweredEvenBeyondTheSizeAndTheOffer() {
        assertThat(choose(offerOf(1), fresh(1), List.of("erdma_0/2", "erdma_0/1"), 1))
                .containsExactly("erdma_0/1", "erdma_0/2");
        assertThat(choose(offerOf(1), List.of(), List.of("gone_4/2"), 2)).containsExactly("gone_4/2");
    }

    @Test
    void unhealthyDevicesAreTakenOnlyWhenTheHealthyOnesHaveNoMore() {
        AdvertisedDevices offer = offer(healthy(device(0)), down(device(1)));
        List<String> available = List.of("erdma_0/0", "erdma_0/1", "erdma_1/0", "erdma_1/1");
        assertThat(choose(offer, available, 2)).containsExactly("erdma_0/0", "erdma_0/1");
        assertThat(choose(offer, available, 3)).containsExactly("erdma_0/0", "erdma_0/1", "erdma_1/0");
    }

    @Test
    void idsThatAreNotOursAreStillUsable() {
        assertThat(choose(offerOf(1), List.of("what", "ever/", "other_1/3"), 2)).hasSize(2);
        assertThat(choose(offerOf(1), List.of("what", "erdma_0/3"), 1)).containsExactly("erdma_0/3");
        assertThat(choose(AdvertisedDevices.NONE, List.of("b", "a"), 5)).containsExactly("a", "b");
    }

    @Test
    void tooLargeARequestGetsAllThereIsAndNoneGetsNothing() {
        assertThat(choose(offerOf(2), List.of("erdma_0/0", "erdma_1/0"), Integer.MAX_VALUE))
                .hasSize(2);
        assertThat(choose(offerOf(2), fresh(2), 0)).isEmpty();
        assertThat(choose(offerOf(2), fresh(2), Integer.MIN_VALUE)).isEmpty();
        assertThat(choose(offerOf(2), List.of(), 3)).isEmpty();
    }

    @Test
    void shareNumbersAreTakenLowestFirstByNumber() {
        assertThat(choose(offerOf(1), List.of("erdma_0/100", "erdma_0/20", "erdma_0/3"), 2))
                .containsExactly("erdma_0/3", "erdma_0/20");
    }

    @Test
    void theOrderAndRepetitionOfTheOfferChangeNothing() {
        AdvertisedDevices offer = offer(onNode(0, 0), onNode(1, 1), onNode(2, 1));
        List<String> available = new ArrayList<>(fresh(3));
        List<String> answer = choose(offer, available, 7);
        available.addAll(available.subList(100, 300));
        Collections.shuffle(available, new Random(7));
        assertThat(choose(offer, available, 7)).isEqualTo(answer);
    }

    @Test
    void alternatingRequestsKeepTheDevicesEven() {
        AdvertisedDevices offer = offer(onNode(0, 0), onNode(1, 0), onNode(2, 1));
        List<String> free = new ArrayList<>(fresh(3));
        for (int i = 0; i < 300; i++) {
            free.removeAll(choose(offer, free, 1));
        }
        for (int device = 0; device < 3; device++) {
            String prefix = "erdma_" + device + "/";
            assertThat(free).filteredOn(id -> id.startsWith(prefix)).hasSize(100);
        }
    }

    private static List<String> choose(AdvertisedDevices offer, List<String> available, int size) {
        return choose(offer, available, List.of(), size);
    }

    private static List<String> choose(AdvertisedDevices offer, List<String> available, List<String> must, int size) {
        return new PreferredAllocation(settings()).choose(available, must, size, offer);
    }

    private static List<String> fresh(int devices) {
        return IntStream.range(0, devices)
                .boxed()
                .flatMap(device -> ids("erdma_" + device, 0, 200).stream())
                .toList();
    }

    /** Triples of a device, the first number that is free and the one after the last. */
    private static List<String> ids(Object... triples) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < triples.length; i += 3) {
            for (int number = (Integer) triples[i + 1]; number < (Integer) triples[i + 2]; number++) {
                ids.add(triples[i] + "/" + number);
            }
        }
        return ids;
    }
}
