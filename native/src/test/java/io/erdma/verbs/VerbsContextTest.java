package io.erdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.libc.Poller;
import io.erdma.verbs.FakeVerbs.Call;
import io.erdma.verbs.FakeVerbs.Counter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class VerbsContextTest {
    private static final Gid LINK_LOCAL = new Gid(0xfe80_0000_0000_0000L, 0x0216_3eff_fe00_0001L);
    private static final Gid IPV4 = new Gid(0, 0x0000_ffff_0a00_0004L);

    @TempDir
    Path directory;

    private FakeVerbs fake;
    private FakeVerbs.Device device;
    private Verbs verbs;

    @BeforeEach
    void load() throws Exception {
        fake = FakeVerbs.at(directory);
        device = fake.device("erdma_0");
        verbs = Verbs.load(FakeVerbs.library().toString());
    }

    @AfterEach
    void whatWasOpenedIsClosedAndEachEventAcknowledged() {
        assertThat(fake.count(Counter.CLOSE_DEVICE)).isEqualTo(fake.count(Counter.OPEN_DEVICE));
        assertThat(fake.count(Counter.ACK_ASYNC_EVENT)).isEqualTo(fake.count(Counter.GET_ASYNC_EVENT));
        fake.close();
    }

    @Test
    void readsEachFieldOfTheDevice() throws Exception {
        device.guid("0216:3eff:fe00:0001")
                .attribute("fw_ver", "0.2.0")
                .attribute("vendor_id", 0x1ded)
                .attribute("vendor_part_id", 4223)
                .attribute("max_mr_size", -1)
                .attribute("device_cap_flags", 0x8000_0001L)
                .attribute("max_srq_sge", 17)
                .attribute("max_pkeys", 0x8000)
                .attribute("local_ca_ack_delay", 200)
                .attribute("phys_port_cnt", 2);
        try (VerbsContext context = verbs.open("erdma_0")) {
            DeviceAttributes attributes = context.queryDevice();
            assertThat(attributes.firmwareVersion()).isEqualTo("0.2.0");
            assertThat(attributes.nodeGuid()).isEqualTo(new NodeGuid(0x0216_3eff_fe00_0001L));
            assertThat(attributes.systemImageGuid()).isEqualTo(new NodeGuid(0x0216_3eff_fe00_0001L));
            assertThat(attributes.vendorId()).isEqualTo(0x1ded);
            assertThat(attributes.vendorPartId()).isEqualTo(4223);
            assertThat(attributes.maxMrSize()).isEqualTo(-1);
            assertThat(attributes.deviceCapFlags()).isEqualTo(0x8000_0001L);
            assertThat(attributes.maxSrqSge()).isEqualTo(17);
            assertThat(attributes.maxPkeys()).isEqualTo(0x8000);
            assertThat(attributes.localCaAckDelay()).isEqualTo(200);
            assertThat(attributes.physPortCount()).isEqualTo(2);
        }
    }

    @Test
    void readsEachPortByItself() throws Exception {
        device.attribute("phys_port_cnt", 2)
                .portAttribute(2, "port_state", 1)
                .portAttribute(2, "active_mtu", 3)
                .portAttribute(2, "phys_state", 2);
        try (VerbsContext context = verbs.open("erdma_0")) {
            assertThat(context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
            PortAttributes second = context.queryPort(2);
            assertThat(second.state()).isEqualTo(PortState.DOWN);
            assertThat(second.activeMtu()).isEqualTo(3);
            assertThat(second.physState()).isEqualTo(2);
            assertThat(second.linkLayer()).isEqualTo(2);
            assertThatThrownBy(() -> context.queryPort(3))
                    .hasMessage("ibv_query_port on erdma_0 port 3 failed: EINVAL (22)");
            assertThatThrownBy(() -> context.queryPort(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> context.queryPort(257)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void seesAPortChangeAtTheNextQuery() throws Exception {
        try (VerbsContext context = verbs.open("erdma_0")) {
            device.portState(PortState.INIT);
            assertThat(context.queryPort(1).state()).isEqualTo(PortState.INIT);
            device.portState(PortState.ACTIVE);
            assertThat(context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
        }
    }

    @Test
    void listsTheFilledSlotsOfTheGidTableWithTypeAndInterface() throws Exception {
        fillFourSlots();
        try (VerbsContext context = verbs.open("erdma_0")) {
            assertThat(context.gids()).isEqualTo(fourSlots(7));
        }
    }

    @Test
    void readsTheSameGidsSlotBySlotWhereTheTableCallIsUnsupported() throws Exception {
        fillFourSlots();
        device.failing(Call.QUERY_GID_TABLE, Errno.EOPNOTSUPP);
        try (VerbsContext context = verbs.open("erdma_0")) {
            assertThat(context.gids()).isEqualTo(fourSlots(7));
            device.failing(Call.QUERY_GID_EX, Errno.EOPNOTSUPP);
            assertThat(context.gids()).extracting(GidEntry::gid).containsExactly(LINK_LOCAL, LINK_LOCAL, IPV4, IPV4);
        }
    }

    @Test
    void readsGidsThroughALibraryThatHasNoTableCall(@TempDir Path other) throws Exception {
        Verbs old = Verbs.load(FakeVerbs.library(other, "-DWITHOUT_GID_TABLE").toString());
        // The other build has its own state; it knows no root until it is told one.
        assertThat(old.devices()).isEmpty();
        FakeVerbs.Control control = jnr.ffi.LibraryLoader.create(FakeVerbs.Control.class)
                .load(other.resolve("libfakeverbs-variant.so").toString());
        control.fakeverbs_root(directory.toString());
        fillFourSlots();
        try (VerbsContext context = old.open("erdma_0")) {
            assertThat(context.gids()).extracting(GidEntry::gid).containsExactly(LINK_LOCAL, LINK_LOCAL, IPV4, IPV4);
            assertThat(context.gids()).extracting(GidEntry::index).containsExactly(0, 1, 2, 5);
            assertThat(context.gids())
                    .allSatisfy(gid -> assertThat(gid.ifindex()).isZero());
        }
    }

    @Test
    void aTableTooLongForOneCallIsReadSlotBySlot() throws Exception {
        device.attribute("gid_tbl_len", 2100).gid(2099, "::ffff:10.0.0.4", GidEntry.Type.ROCE_V2, 7);
        try (VerbsContext context = verbs.open("erdma_0")) {
            assertThat(context.gids()).containsExactly(new GidEntry(IPV4, 2099, 1, GidEntry.Type.ROCE_V2, 7));
        }
    }

    @Test
    void gidsOfAllPortsComeInOrder() throws Exception {
        device.attribute("phys_port_cnt", 2)
                .portGid(1, 0, "fe80::216:3eff:fe00:1", GidEntry.Type.ROCE_V2, 7)
                .portGid(2, 0, "::ffff:10.0.0.4", GidEntry.Type.ROCE_V2, 8);
        try (VerbsContext context = verbs.open("erdma_0")) {
            assertThat(context.gids())
                    .containsExactly(
                            new GidEntry(LINK_LOCAL, 0, 1, GidEntry.Type.ROCE_V2, 7),
                            new GidEntry(IPV4, 0, 2, GidEntry.Type.ROCE_V2, 8));
        }
    }

    @Test
    void noGidIsAnEmptyListAndAFailureIsNot() throws Exception {
        try (VerbsContext context = verbs.open("erdma_0")) {
            assertThat(context.gids()).isEmpty();
            device.failing(Call.QUERY_GID_TABLE, Errno.EIO);
            assertThatThrownBy(context::gids).hasMessage("_ibv_query_gid_table on erdma_0 failed: EIO (5)");
        }
    }

    @Test
    void deliversEventsInOrderAndNeverBlocks() throws Exception {
        try (VerbsContext context = verbs.open("erdma_0")) {
            assertThat(context.nextEvent()).isEmpty();
            List<VerbsEvent> events = List.of(
                    new VerbsEvent.PortError(1),
                    new VerbsEvent.PortActive(1),
                    new VerbsEvent.GidChange(2),
                    new VerbsEvent.DeviceFatal(),
                    new VerbsEvent.Other(77));
            for (VerbsEvent event : events) {
                assertThat(device.emit(event)).isOne();
            }
            for (VerbsEvent event : events) {
                assertThat(context.nextEvent()).contains(event);
            }
            assertThat(context.nextEvent()).isEmpty();
        }
    }

    @Test
    void anEventMakesThePollerReturnWithTheDescriptor() throws Exception {
        try (Poller poller = Poller.open();
                VerbsContext context = verbs.open("erdma_0")) {
            device.portDown();
            assertThat(poller.await(List.of(context.asyncDescriptor()), Duration.ofSeconds(30))
                            .readable())
                    .containsExactly(context.asyncDescriptor());
            assertThat(context.nextEvent()).contains(new VerbsEvent.PortError(1));
            assertThat(context.queryPort(1).state()).isEqualTo(PortState.DOWN);
        }
    }

    @Test
    void aDeviceThatIsUnpluggedSaysSoAndThenFailsWithEio() throws Exception {
        try (VerbsContext context = verbs.open("erdma_0")) {
            device.remove();
            assertThat(context.nextEvent()).contains(new VerbsEvent.DeviceFatal());
            assertThatThrownBy(context::nextEvent)
                    .isInstanceOfSatisfying(
                            NativeException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
            assertThatThrownBy(() -> context.queryPort(1))
                    .isInstanceOfSatisfying(
                            NativeException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
            assertThat(verbs.devices()).isEmpty();
        }
    }

    @Test
    void afterCloseEveryCallIsRefused() throws Exception {
        VerbsContext context = verbs.open("erdma_0");
        context.close();
        context.close();
        assertThatThrownBy(context::device).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(context::queryDevice).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> context.queryPort(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("erdma_0 has been closed");
        assertThatThrownBy(context::gids).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(context::nextEvent).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(context::asyncDescriptor).isInstanceOf(IllegalStateException.class);
        assertThat(device.openContexts()).isEmpty();
    }

    @Test
    void closeWaitsForACallUnderWayAndRefusesLaterOnesAtOnce() throws Exception {
        VerbsContext context = verbs.open("erdma_0");
        device.hanging(Call.QUERY_PORT);
        try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
            Future<PortAttributes> query = executor.submit(() -> context.queryPort(1));
            await().until(() -> fake.callsUnderWay() == 1);
            Future<?> close = executor.submit(context::close);
            await().until(() -> refuses(context));
            assertThat(close.isDone()).isFalse();
            assertThat(fake.count(Counter.CLOSE_DEVICE)).isZero();
            device.answering(Call.QUERY_PORT);
            assertThat(query.get(30, TimeUnit.SECONDS).state()).isEqualTo(PortState.ACTIVE);
            close.get(30, TimeUnit.SECONDS);
        }
        assertThat(fake.count(Counter.CLOSE_DEVICE)).isOne();
    }

    @Test
    void queriesFromSeveralThreadsMayRaceWithClose() throws Exception {
        for (int round = 0; round < 20; round++) {
            VerbsContext context = verbs.open("erdma_0");
            try (ExecutorService executor = Executors.newFixedThreadPool(3)) {
                List<Future<?>> readers = List.of(
                        executor.submit(() -> queryUntilRefused(context)),
                        executor.submit(() -> queryUntilRefused(context)));
                executor.submit(context::close).get(30, TimeUnit.SECONDS);
                for (Future<?> reader : readers) {
                    reader.get(30, TimeUnit.SECONDS);
                }
            }
        }
        assertThat(fake.count(Counter.CLOSE_DEVICE)).isEqualTo(20);
    }

    private static Void queryUntilRefused(VerbsContext context) throws NativeException {
        while (!refuses(context)) {
            try {
                context.queryPort(1);
                context.nextEvent();
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("erdma_0 has been closed");
                return null;
            }
        }
        return null;
    }

    private static boolean refuses(VerbsContext context) {
        try {
            context.asyncDescriptor();
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private void fillFourSlots() {
        device.attribute("gid_tbl_len", 16)
                .gid(5, "::ffff:10.0.0.4", GidEntry.Type.ROCE_V2, 7)
                .gid(0, "fe80::216:3eff:fe00:1", GidEntry.Type.ROCE_V1, 7)
                .gid(1, "fe80::216:3eff:fe00:1", GidEntry.Type.ROCE_V2, 7)
                .gid(2, "::ffff:10.0.0.4", GidEntry.Type.ROCE_V1, 7);
    }

    private static List<GidEntry> fourSlots(int ifindex) {
        return List.of(
                new GidEntry(LINK_LOCAL, 0, 1, GidEntry.Type.ROCE_V1, ifindex),
                new GidEntry(LINK_LOCAL, 1, 1, GidEntry.Type.ROCE_V2, ifindex),
                new GidEntry(IPV4, 2, 1, GidEntry.Type.ROCE_V1, ifindex),
                new GidEntry(IPV4, 5, 1, GidEntry.Type.ROCE_V2, ifindex));
    }
}
