package io.erdma.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShareIdTest {
    @Test
    void isWrittenAsTheGoAgentDoes() {
        assertThat(new ShareId("erdma_0", 17)).hasToString("erdma_0/17");
    }

    @ParameterizedTest
    @ValueSource(strings = {"erdma_0/0", "erdma_0/199", "rocep1s0f0v3/10", "a b=:,%é/7", "…/5", "x/999999999"})
    void readsWhatItWrites(String id) {
        assertThat(ShareId.parse(id).map(ShareId::toString)).contains(id);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "erdma_0",
                "erdma_0/",
                "/7",
                "erdma_0/-1",
                "erdma_0/+1",
                "erdma_0/01",
                "erdma_0/00",
                "erdma_0/1 ",
                " /",
                "erdma_0/ 1",
                "erdma_0/1\n",
                "erdma_0/x",
                "erdma_0/0x1",
                "erdma_0/1/2",
                "a/b/3",
                "erdma_0//3",
                "erdma_0/٣",
                "erdma_0/1000000000",
                "erdma_0/99999999999999999999",
                "erdma_0/1.0",
                "erdma_0/1e3"
            })
    void refusesEveryOtherForm(String id) {
        assertThat(ShareId.parse(id)).isEmpty();
    }

    @Test
    void deviceNamesAreAsLongAsTheKernelAllows() {
        assertThat(ShareId.parse("e".repeat(63) + "/1")).contains(new ShareId("e".repeat(63), 1));
        assertThat(ShareId.parse("e".repeat(64) + "/1")).isEmpty();
        assertThat(ShareId.parse("e".repeat(1_000_000))).isEmpty();
    }

    @Test
    void cannotBeMadeWithWhatItCouldNotRead() {
        assertThatThrownBy(() -> new ShareId("a/b", 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ShareId("", 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ShareId("erdma_0", -1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Property
    void anyTextIsEitherRefusedOrReadWithoutLoss(@ForAll String text) {
        Optional<ShareId> parsed = ShareId.parse(text);
        parsed.ifPresent(share -> assertThat(share).hasToString(text));
    }

    @Property
    void anyTextAfterADeviceIsEitherRefusedOrReadWithoutLoss(@ForAll @StringLength(max = 12) String number) {
        Optional<ShareId> parsed = ShareId.parse("erdma_0/" + number);
        parsed.ifPresent(share -> assertThat(share).hasToString("erdma_0/" + number));
        assertThat(parsed.isPresent()).isEqualTo(number.matches("0|[1-9][0-9]{0,8}"));
    }

    @Property
    void everyShareIsReadAgain(
            @ForAll @StringLength(min = 1, max = 63) String device, @ForAll @IntRange(max = 999_999_999) int number) {
        String name = device.replace('/', '!');
        assertThat(ShareId.parse(new ShareId(name, number).toString())).contains(new ShareId(name, number));
    }
}
