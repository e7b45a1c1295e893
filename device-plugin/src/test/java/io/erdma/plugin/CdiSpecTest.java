package io.erdma.plugin;

import static io.erdma.plugin.Offers.down;
import static io.erdma.plugin.Offers.healthy;
import static io.erdma.plugin.Offers.offer;
import static io.erdma.plugin.Offers.withRdmaCm;
import static io.erdma.plugin.Offers.withUverbs;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CdiSpecTest {
    @Test
    void describesEachDeviceAndRdmaCmOnce() {
        CdiSpec spec = CdiSpec.of(offer(withRdmaCm(0, RdmaCmUse.REQUIRED), withRdmaCm(1, RdmaCmUse.IF_PRESENT)))
                .orElseThrow();
        assertThat(spec.names())
                .containsExactlyInAnyOrder(
                        "aliyun.com/erdma=erdma_0", "aliyun.com/erdma=erdma_1", "aliyun.com/erdma=rdma_cm");
        assertThat(spec.json().replaceAll("\\s+", ""))
                .isEqualTo("{\"cdiVersion\":\"0.5.0\",\"kind\":\"aliyun.com/erdma\",\"devices\":["
                        + device("erdma_0", "uverbs0") + "," + device("erdma_1", "uverbs1") + ","
                        + device("rdma_cm", "rdma_cm") + "]}");
    }

    @Test
    void leavesOutRdmaCmWhereNoDeviceUsesItOrItDoesNotExist() {
        assertThat(CdiSpec.of(offer(Offers.device(0))).orElseThrow().names())
                .containsExactly("aliyun.com/erdma=erdma_0");
        AdvertisedDevices without =
                new AdvertisedDevices(List.of(healthy(withRdmaCm(0, RdmaCmUse.REQUIRED))), Optional.empty());
        assertThat(CdiSpec.of(without).orElseThrow().names()).containsExactly("aliyun.com/erdma=erdma_0");
    }

    @Test
    void doesNotChangeWithHealth() {
        assertThat(CdiSpec.of(offer(down(Offers.device(0))))).isEqualTo(CdiSpec.of(offer(healthy(Offers.device(0)))));
    }

    @Test
    void saysWhereTheHostKeepsTheNode() {
        assertThat(CdiSpec.of(offer(withUverbs(0, Optional.of(Path.of("/odd/dev/infiniband/uverbs3")))))
                        .orElseThrow()
                        .json())
                .contains("\"/dev/infiniband/uverbs3\"", "\"/odd/dev/infiniband/uverbs3\"");
    }

    @Test
    void isAbsentRatherThanWithoutDevices() {
        assertThat(CdiSpec.of(AdvertisedDevices.NONE)).isEmpty();
        assertThat(CdiSpec.of(offer(withUverbs(0, Optional.empty())))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma_cm", "-erdma", "erdma_", "er dma", "erdma=0", "\"", "\n", "é"})
    void aNameThatWouldSpoilTheSpecIsLeftOut(String name) {
        AdvertisedDevices offer =
                offer(Offers.device(0), Offers.device(name, 1, OptionalInt.empty(), RdmaCmUse.REQUIRED));
        assertThat(CdiSpec.of(offer).orElseThrow().names()).containsExactly("aliyun.com/erdma=erdma_0");
    }

    @Test
    void isJsonForEveryName() throws IOException {
        String json = CdiSpec.of(offer(device0("a.b:c-d"), device0("0")))
                .orElseThrow()
                .json();
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            int tokens = 0;
            while (parser.nextToken() != null) {
                tokens++;
            }
            assertThat(tokens).isPositive();
        }
    }

    private static RdmaDevice device0(String name) {
        return Offers.device(name, name.length(), OptionalInt.empty(), RdmaCmUse.UNUSED);
    }

    private static String device(String name, String node) {
        return ("{'name':'" + name + "','containerEdits':{'deviceNodes':[{'path':'/dev/infiniband/" + node
                        + "','hostPath':'/dev/infiniband/" + node + "','permissions':'rw'}]}}")
                .replace('\'', '"');
    }
}
