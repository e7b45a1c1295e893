package io.erdma.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.erdma.inventory.DeviceSelector.Candidate;
import java.util.OptionalInt;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DeviceSelectorTest {
    private static final OptionalInt NONE = OptionalInt.empty();

    private static Candidate named(String name) {
        return new Candidate(name, Set.of(), NONE, NONE, NONE);
    }

    private static Candidate driven(String... names) {
        return new Candidate("any", Set.of(names), NONE, NONE, NONE);
    }

    @Test
    void knowsErdmaByTheDriverNumberOfRdmaNetlink() {
        Candidate renamed = new Candidate("rocep0s5", Set.of(), OptionalInt.of(19), NONE, NONE);
        assertThat(DeviceSelector.ERDMA.choose(renamed)).isPresent();
    }

    @Test
    void knowsErdmaByTheDriverLinkOfSysfs() {
        assertThat(DeviceSelector.ERDMA.choose(driven("erdma"))).isPresent();
    }

    @Test
    void knowsErdmaByItsPciFunction() {
        Candidate function = new Candidate("any", Set.of(), NONE, OptionalInt.of(0x1ded), OptionalInt.of(0x107f));
        assertThat(DeviceSelector.ERDMA.choose(function)).isPresent();
    }

    @Test
    void neverTakesTheNameForTheDriver() {
        Candidate impostor =
                new Candidate("erdma_0", Set.of("mlx5_core"), OptionalInt.of(1), OptionalInt.of(0x15b3), NONE);
        assertThat(DeviceSelector.ERDMA.choose(impostor)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "erdma_*,erdma_0,true",
        "erdma_?,erdma_10,false",
        "erdma_?,erdma_1,true",
        "*,anything,true",
        "a.c,abc,false",
        "a[b]c,a[b]c,true",
        "erdma,erdma_0,false"
    })
    void matchesNamesByGlob(String glob, String name, boolean matches) {
        assertThat(DeviceSelector.parse("name=" + glob).choose(named(name)).isPresent())
                .isEqualTo(matches);
    }

    @Test
    void choosesByDriver() {
        assertThat(DeviceSelector.parse("driver=rxe").choose(driven("rdma_rxe", "rxe")))
                .contains("selector driver=rxe");
        assertThat(DeviceSelector.parse("driver=rxe").choose(driven("siw"))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"pci=1ded:107f", "pci=1DED:107F", "PCI=0x1ded:0x107f", " pci = 1ded:107f "})
    void choosesByPciFunction(String text) {
        Candidate function = new Candidate("any", Set.of(), NONE, OptionalInt.of(0x1ded), OptionalInt.of(0x107f));
        assertThat(DeviceSelector.parse(text).choose(function)).isPresent();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "=", "erdma", "driver", "driver=", "name= ", "pci=1ded", "pci=1ded:107g", "pci=12345:1"})
    void namesTheTextAndTheValidFormsWhenItCannotParse(String text) {
        assertThatThrownBy(() -> DeviceSelector.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("device selector '" + text + "' is not one of driver=NAME, name=GLOB or pci=VVVV:DDDD");
    }

    @Property(tries = 300)
    void anyTextIsASelectorOrACleanRefusal(@ForAll String text, @ForAll String name) {
        try {
            DeviceSelector.parse(text).choose(named(name));
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("is not one of");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"driver=rdma_rxe", "name=erdma_*", "pci=1ded:107f"})
    void readsAsItIsWritten(String text) {
        assertThat(DeviceSelector.parse(text)).hasToString(text);
    }
}
