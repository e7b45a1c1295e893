package io.erdma.netlink;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.sysfs.NodeFixture;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** No datagram leads to anything but records, an empty answer or a {@link NetlinkFormatException}. */
class NetlinkFuzzTest {
    record Recording(String node, String file) {}

    /** Bytes to overwrite, then the length to cut to, as parts of a thousand. */
    record Damage(List<Integer> places, List<Byte> values, int keep) {
        byte[] applyTo(byte[] original) {
            byte[] bytes = Arrays.copyOf(original, (int) ((long) original.length * keep / 1000));
            for (int i = 0; i < places.size() && bytes.length > 0; i++) {
                bytes[places.get(i) % bytes.length] = values.get(i);
            }
            return bytes;
        }
    }

    private static void read(byte[] datagram) {
        try {
            for (NetlinkMessage message : NetlinkMessage.split(datagram)) {
                var seen = new ArrayList<Object>();
                RtMessages.link(message).ifPresent(seen::add);
                RtMessages.change(message).ifPresent(seen::add);
                RtMessages.address(message).ifPresent(seen::add);
                RtMessages.route(message).ifPresent(seen::add);
                RtMessages.routeOfMainTable(message).ifPresent(seen::add);
                seen.add(RtMessages.mayMatter(message, _ -> false));
                RdmaMessages.device(message).ifPresent(seen::add);
                RdmaMessages.port(message).ifPresent(seen::add);
                RdmaMessages.characterDevice(message).ifPresent(seen::add);
                seen.add(RdmaMessages.netnsMode(List.of(message)));
                seen.add(RdmaMessages.resources(message));
                seen.addAll(RdmaMessages.queuePairs(message));
                // A record's text must be writable to a log, whatever it holds.
                assertThat(seen)
                        .allSatisfy(record -> assertThat(record.toString()).isNotNull());
                assertThat(seen.size())
                        .isLessThanOrEqualTo(12 + message.payload().limit());
            }
            for (boolean dump : new boolean[] {true, false}) {
                var answer = NetlinkAnswer.ofMessages(1, dump);
                answer.accept(datagram);
                assertThat(answer.kept().size()).isLessThanOrEqualTo(datagram.length / NetlinkMessage.HEADER);
            }
        } catch (NetlinkFormatException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
    }

    @Property(tries = 2000)
    void readsAnyBytes(@ForAll byte[] datagram) {
        read(datagram);
    }

    @Property(tries = 2000)
    void readsAnyPayloadBehindAValidHeader(@ForAll("types") int type, @ForAll byte[] payload) {
        read(NetlinkMessage.request(type, 0x210, 1, payload));
    }

    @Property(tries = 2000)
    void readsDamagedRecordings(@ForAll("recordings") Recording recording, @ForAll("damages") Damage damage) {
        for (byte[] datagram : NodeFixture.datagrams(recording.node(), recording.file())) {
            read(damage.applyTo(datagram));
        }
    }

    @Provide
    Arbitrary<Integer> types() {
        return Arbitraries.oneOf(
                Arbitraries.integers().between(0, 30),
                Arbitraries.integers().between(RdmaMessages.GET_DEVICES, RdmaMessages.GET_DEVICES + 30));
    }

    @Provide
    Arbitrary<Recording> recordings() {
        return Arbitraries.of(
                new Recording(Recorded.VETH, "links.hex"),
                new Recording(Recorded.VETH, "link-changes.hex"),
                new Recording(Recorded.ROUTED, "addresses.hex"),
                new Recording(Recorded.ROUTED, "routes.hex"),
                new Recording(NodeFixture.SOFT_ROCE, "links.hex"),
                new Recording(NodeFixture.SOFT_ROCE, "rdma-devices.hex"),
                new Recording(NodeFixture.SOFT_ROCE, "rdma-ports-0.hex"),
                new Recording(NodeFixture.SOFT_ROCE, "rdma-chardev-0.hex"),
                new Recording(NodeFixture.SOFT_ROCE, "rdma-resources-1.hex"),
                new Recording(NodeFixture.SOFT_ROCE, "rdma-qps-1.hex"),
                new Recording(NodeFixture.SOFT_ROCE, "rdma-stat-0.hex"),
                new Recording(NodeFixture.SOFT_ROCE, "rdma-system.hex"));
    }

    @Provide
    Arbitrary<Damage> damages() {
        return Combinators.combine(
                        Arbitraries.integers().between(0, 10_000).list().ofSize(8),
                        Arbitraries.bytes().list().ofSize(8),
                        Arbitraries.integers().between(0, 1000).edgeCases(edges -> edges.add(1000)))
                .as(Damage::new);
    }
}
