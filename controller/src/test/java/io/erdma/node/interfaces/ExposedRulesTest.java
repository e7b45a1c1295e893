package io.erdma.node.interfaces;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.erdma.node.interfaces.ExposedRules.Devices;
import io.erdma.node.interfaces.ExposedRules.Rule;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExposedRulesTest {
    private static final Devices ZERO = new Devices(Set.of("erdma_0"), false);
    private static final Devices ZERO_AND_ONE = new Devices(Set.of("erdma_0", "erdma_1"), false);
    private static final Devices ALL = new Devices(Set.of(), true);

    /** P01: the Go agent refuses the last of these, which its documents show. */
    @Test
    void readsEachDocumentedForm() {
        assertThat(ExposedRules.parse("i-XXX erdma_0/erdma_1,i-* erdma_0,i-* erdma_*")
                        .rules())
                .containsExactly(
                        new Rule(Optional.of("i-XXX"), ZERO_AND_ONE),
                        new Rule(Optional.empty(), ZERO),
                        new Rule(Optional.empty(), ALL));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "i-XXX erdma_0/erdma_1",
                "i-XXX   erdma_0/erdma_1",
                "i-XXX\terdma_0/erdma_1",
                "i-XXX\n  erdma_0/erdma_1\n",
                "  i-XXX erdma_0 / erdma_1  ",
                "i-XXX\u00a0erdma_0/\u2003erdma_1",
                ", i-XXX erdma_0/erdma_1 ,,",
                "i-XXX erdma_1/erdma_0/erdma_1"
            })
    void takesAnyWhiteSpaceAndEmptyPlacesBetweenCommas(String text) {
        assertThat(ExposedRules.parse(text).rules()).containsExactly(new Rule(Optional.of("i-XXX"), ZERO_AND_ONE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", ",", " , \n,"})
    void readsNothingAsNoRule(String text) {
        assertThat(ExposedRules.parse(text)).isEqualTo(ExposedRules.NONE);
    }

    @Test
    void anExplicitRuleBeatsTheOneForAllInstancesWhereverItStands() {
        for (String text : List.of("i-a erdma_1,i-* erdma_*", "i-* erdma_*,i-a erdma_1")) {
            ExposedRules rules = ExposedRules.parse(text);

            assertThat(rules.forInstance("i-a")).contains(new Devices(Set.of("erdma_1"), false));
            assertThat(rules.forInstance("i-b")).contains(ALL);
            assertThat(rules.forAnyInstance()).contains(ALL);
            assertThat(rules.nameInstances()).isTrue();
        }
    }

    @Test
    void severalRulesForOneInstanceAddUp() {
        ExposedRules rules = ExposedRules.parse("i-a erdma_0,i-a erdma_1");

        assertThat(rules.forInstance("i-a")).contains(ZERO_AND_ONE);
        assertThat(rules.forInstance("i-b")).isEmpty();
    }

    @Test
    void onlyAnInstanceByNameMakesTheIdentityMatter() {
        assertThat(ExposedRules.parse("i-* erdma_0").nameInstances()).isFalse();
        assertThat(ExposedRules.NONE.nameInstances()).isFalse();
    }

    @Test
    void theStarStandsForAllNamesOfErdmaDevices() {
        assertThat(ALL.contains("erdma_17")).isTrue();
        assertThat(ALL.contains("mlx5_0")).isFalse();
        assertThat(ZERO.contains("erdma_17")).isFalse();
        assertThat(ExposedRules.parse("i-* mlx5_0/erdma_*").forAnyInstance().orElseThrow())
                .matches(devices -> devices.contains("mlx5_0") && devices.contains("erdma_2"))
                .hasToString("mlx5_0/erdma_*");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "erdma_0|rule 1, \"erdma_0\": column 1: expected an instance, i-* or for example i-bp1abc",
                "i- erdma_0|rule 1, \"i- erdma_0\": column 1: expected an instance, i-* or for example i-bp1abc",
                "i-a*b erdma_0|rule 1, \"i-a*b erdma_0\": column 4: expected letters and digits only, or i-*",
                "i-a|rule 1, \"i-a\": column 4: expected a device, for example erdma_0, or erdma_*",
                "i-a erdma_0/|rule 1, \"i-a erdma_0/\": column 13: expected a device, for example erdma_0, or erdma_*",
                "i-a /x|rule 1, \"i-a /x\": column 5: expected a device, for example erdma_0, or erdma_*",
                "i-a mlx*|rule 1, \"i-a mlx*\": column 8: expected * only as erdma_*",
                "i-a er:0|rule 1, \"i-a er:0\": column 7: expected a device, for example erdma_0, or erdma_*",
                "i-a x i-b y|rule 1, \"i-a x i-b y\": column 7: expected / and another device, or a comma and another"
                        + " rule",
            })
    void saysWhereARuleIsWrongAndWhatBelongsThere(String text, String problem) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExposedRules.parse(text))
                .withMessage(problem);
    }

    @Test
    void namesAllMistakesOfAllRulesAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExposedRules.parse("i-a erdma_0, x *,,i-b"))
                .withMessage("rule 2, \"x *\": column 1: expected an instance, i-* or for example i-bp1abc,"
                        + " column 3: expected * only as erdma_*;"
                        + " rule 3, \"i-b\": column 4: expected a device, for example erdma_0, or erdma_*");
    }

    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.oneOf(
                Arbitraries.strings(),
                Arbitraries.of("i-*", "i-a", "erdma_0", "erdma_*", "/", ",", " ", "\n", "\t", "*", "i-", "x")
                        .list()
                        .ofMaxSize(12)
                        .map(parts -> String.join("", parts)));
    }

    @Property(tries = 5_000)
    void answersAnyTextWithRulesOrOneLineOfProblems(@ForAll("texts") String text) {
        Throwable thrown = catchThrowable(() -> ExposedRules.parse(text));

        if (thrown == null) {
            ExposedRules rules = ExposedRules.parse(text);
            assertThat(ExposedRules.parse(rules.toString())).isEqualTo(rules);
        } else {
            assertThat(thrown).isInstanceOf(IllegalArgumentException.class);
            assertThat(thrown.getMessage()).startsWith("rule ").matches("[ -~]+");
        }
    }
}
