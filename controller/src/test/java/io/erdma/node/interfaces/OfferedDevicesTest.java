package io.erdma.node.interfaces;

import static io.erdma.node.interfaces.Devices.device;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.netlink.MacAddress;
import io.erdma.node.interfaces.InstanceIdentity.Known;
import io.erdma.node.interfaces.InstanceIdentity.Unknown;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OfferedDevicesTest {
    private static final InstanceIdentity A = new Known("i-a", "the test");
    private static final InstanceIdentity NOT_KNOWN = new Unknown("nobody told");

    private static boolean offers(OfferedDevices offered, String device) {
        return offered.whyNot(device(device).build()).isEmpty();
    }

    private static OfferedDevices byRules(String rules, InstanceIdentity identity) {
        return OfferedDevices.byRules(ExposedRules.parse(rules), identity);
    }

    @Test
    void withoutRulesEveryDeviceIsOfferedWhoeverTheNodeIs() {
        assertThat(byRules("", NOT_KNOWN)).isEqualTo(new OfferedDevices.Everything());
        assertThat(offers(byRules("", NOT_KNOWN), "mlx5_0")).isTrue();
    }

    @Test
    void rulesForAllInstancesHoldBeforeTheInstanceIsKnown() {
        assertThat(offers(byRules("i-* erdma_0", NOT_KNOWN), "erdma_0")).isTrue();
        assertThat(offers(byRules("i-* erdma_0", NOT_KNOWN), "erdma_1")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"i-a erdma_0", "i-a erdma_0,i-* erdma_*", "i-* erdma_*,i-b erdma_0"})
    void whileARuleNamesAnInstanceAndThisOneIsUnknownNothingIsOffered(String rules) {
        OfferedDevices offered = byRules(rules, NOT_KNOWN);

        assertThat(offers(offered, "erdma_0")).isFalse();
        assertThat(offered.whyNot(device("erdma_0").build()))
                .contains(
                        "--exposed-local-eris names instances, and which one this node is, is not known: nobody told");
    }

    @Test
    void theInstancesOwnRuleDecidesOnceItIsKnown() {
        assertThat(offers(byRules("i-a erdma_1,i-* erdma_*", A), "erdma_1")).isTrue();
        assertThat(offers(byRules("i-a erdma_1,i-* erdma_*", A), "erdma_0")).isFalse();
        assertThat(offers(byRules("i-b erdma_1,i-* erdma_0", A), "erdma_0")).isTrue();
        assertThat(byRules("i-a erdma_1", A).whyNot(device("erdma_0").build()))
                .contains("--exposed-local-eris offers only erdma_1 on this node");
    }

    /** P05: the Go agent's chart passes this sample rule, which then exposes nothing without a word. */
    @Test
    void saysWhichInstanceNoRuleIsForAndThatASampleIsNone() {
        assertThat(byRules("i-XXX erdma_0/erdma_1", A))
                .isEqualTo(new OfferedDevices.Nothing("no rule of --exposed-local-eris is for this node's instance"
                        + " i-a; i-XXX in a rule stands for an instance's own id"));
        assertThat(byRules("i-b erdma_0", A))
                .isEqualTo(
                        new OfferedDevices.Nothing("no rule of --exposed-local-eris is for this node's instance i-a"));
    }

    /** P47. */
    @ParameterizedTest
    @ValueSource(strings = {"00:16:3e:00:00:01", "00-16-3E-00-00-01", "00163E000001"})
    void findsADeviceByItsMacHoweverThatIsWritten(String mac) {
        var offered = new OfferedDevices.ByMacs(Set.of(MacAddress.parse(mac)));

        assertThat(offered.whyNot(device("erdma_0").guid("0216:3eff:fe00:0001").build()))
                .isEmpty();
        assertThat(offered.whyNot(device("erdma_1").guid("0216:3eff:fe00:0002").build()))
                .contains("this node's ERdmaDevice object does not name its MAC address 00:16:3e:00:00:02");
    }

    /** P47: an odd GUID of another vendor's card is no address, and no reason to stop. */
    @Test
    void takesTheInterfacesAddressWhereTheGuidIsNone() {
        var offered = new OfferedDevices.ByMacs(Set.of(MacAddress.parse("00:16:3e:00:00:01")));

        assertThat(offered.whyNot(device("mlx5_0")
                        .guid("b8ce:f603:0081:7a52")
                        .mac("00:16:3e:00:00:01")
                        .build()))
                .isEmpty();
        assertThat(offered.whyNot(device("mlx5_0").guid("b8ce:f603:0081:7a52").build()))
                .contains("its MAC address is not known, so it cannot be found in this node's ERdmaDevice object");
    }

    @ParameterizedTest
    @CsvSource({
        "cn-hangzhou.i-bp1abc, i-bp1abc",
        "cn-hangzhou.i-bp1ABC9, i-bp1ABC9",
        "cn.hang.i-x, i-x",
        "i-bp1abc,",
        ".i-bp1abc,",
        "cn-hangzhou.,",
        "aws:///eu-west-1a/i-0abc,",
        "cn-hangzhou.m-bp1abc,",
        "cn-hangzhou.i-,",
        "'',"
    })
    void readsTheInstanceFromAProviderId(String providerId, String id) {
        assertThat(InstanceIdentity.inProviderId(providerId)).isEqualTo(Optional.ofNullable(id));
    }
}
