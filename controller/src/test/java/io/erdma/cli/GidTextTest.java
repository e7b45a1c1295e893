package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.verbs.Gid;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GidTextTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0, ::",
        "0, 1, ::1",
        "fe80000000000000, 02163efffe000001, fe80::216:3eff:fe00:1",
        "0, ffff0a000004, ::ffff:10.0.0.4",
        "20010db800000000, 0001000000000001, 2001:db8::1:0:0:1",
        "0001000200030004, 0005000600070000, 1:2:3:4:5:6:7:0",
    })
    void writesAnAddressAsTheCLibraryDoes(String high, String low, String expected) {
        assertThat(GidText.address(gid(high, low))).isEqualTo(expected);
    }

    @Property
    boolean writesAnAddressThatReadsBackTheSame(@ForAll @Size(8) short[] groups, @ForAll byte zeroed)
            throws UnknownHostException {
        ByteBuffer bytes = ByteBuffer.allocate(16);
        for (int i = 0; i < 8; i++) {
            bytes.putShort((zeroed >> i & 1) == 0 ? groups[i] : 0);
        }
        InetAddress read = InetAddress.getByName(GidText.address(new Gid(bytes.getLong(0), bytes.getLong(8))));
        byte[] address = read.getAddress();
        // Java reads an address that maps IPv4 as IPv4.
        return Arrays.equals(address, bytes.array())
                || Arrays.equals(address, Arrays.copyOfRange(bytes.array(), 12, 16));
    }

    @Property
    boolean writesGroupsThatReadBackTheSame(@ForAll long high, @ForAll long low) {
        String digits = GidText.groups(new Gid(high, low)).replace(":", "");
        return digits.length() == 32
                && gid(digits.substring(0, 16), digits.substring(16)).equals(new Gid(high, low));
    }

    @ParameterizedTest
    @CsvSource({
        "fe80000000000000, 1, true",
        "febf000000000000, 1, true",
        "fec0000000000000, 1, false",
        "0, ffffa9fe0001, false",
        "20010db800000000, 1, false",
    })
    void knowsLinkLocalOnes(String high, String low, boolean linkLocal) {
        assertThat(GidText.isLinkLocal(gid(high, low))).isEqualTo(linkLocal);
    }

    private static Gid gid(String high, String low) {
        return new Gid(Long.parseUnsignedLong(high, 16), Long.parseUnsignedLong(low, 16));
    }
}
