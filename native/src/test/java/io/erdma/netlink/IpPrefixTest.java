package io.erdma.netlink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpPrefixTest {
    @ParameterizedTest
    @CsvSource({
        "10.9.0.3/24, 10.9.0.0/24",
        "10.9.0.3/32, 10.9.0.3/32",
        "10.9.255.3/0, 0.0.0.0/0",
        "10.9.255.3/19, 10.9.224.0/19",
        "fd00:0:0:1:2:3:4:5/60, fd00:0:0:0:0:0:0:0/60",
    })
    void knowsItsNetwork(String text, String network) {
        assertThat(IpPrefix.parse(text).network()).hasToString(network);
    }

    @Test
    void containsTheAddressesOfItsNetworkOnly() {
        IpPrefix prefix = IpPrefix.parse("10.9.0.3/24");

        assertThat(prefix.contains(IpPrefix.address("10.9.0.200"))).isTrue();
        assertThat(prefix.contains(IpPrefix.address("10.9.1.200"))).isFalse();
        assertThat(prefix.contains(IpPrefix.address("fd00::1"))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "10.9.0.3", "10.9.0.3/33", "10.9.0.3/-1", "10.9.0/24", "localhost/8", "fd00::/129", "a/b/c"})
    void refusesWhatIsNoPrefix(String text) {
        assertThatThrownBy(() -> IpPrefix.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
