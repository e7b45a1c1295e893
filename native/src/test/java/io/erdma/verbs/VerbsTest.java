package io.erdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.erdma.libc.Errno;
import io.erdma.libc.NativeException;
import io.erdma.verbs.FakeVerbs.Call;
import io.erdma.verbs.FakeVerbs.Counter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerbsTest {
    @TempDir
    Path directory;

    private FakeVerbs fake;
    private Path nodes;
    private Verbs verbs;

    @BeforeEach
    void load() throws Exception {
        fake = FakeVerbs.at(directory);
        nodes = Files.createDirectory(directory.resolve(".nodes"));
        verbs = Verbs.load(FakeVerbs.library().toString(), nodes.toString());
    }

    @AfterEach
    void everyListIsFreedAndEveryDeviceClosed() {
        assertThat(fake.count(Counter.FREE_DEVICE_LIST)).isEqualTo(fake.count(Counter.GET_DEVICE_LIST));
        assertThat(fake.count(Counter.CLOSE_DEVICE)).isEqualTo(fake.count(Counter.OPEN_DEVICE));
        assertThat(fake.count(Counter.ACK_ASYNC_EVENT)).isEqualTo(fake.count(Counter.GET_ASYNC_EVENT));
        fake.close();
    }

    @Test
    void copiesEachDeviceOutOfTheList() throws Exception {
        fake.device("erdma_0").guid("0216:3eff:fe00:0001").uverbs("uverbs3");
        fake.device("mlx5_0").guid("b859:9f03:00a1:b2c4").uverbs("uverbs0").nodeType(NodeType.CA);
        assertThat(verbs.devices())
                .containsExactly(
                        new VerbsDevice("erdma_0", "uverbs3", new NodeGuid(0x02163efffe000001L), NodeType.RNIC, 1),
                        new VerbsDevice("mlx5_0", "uverbs0", new NodeGuid(0xb8599f0300a1b2c4L), NodeType.CA, 0));
    }

    @Test
    void noDeviceIsAnEmptyListWhateverErrnoSays() throws Exception {
        assertThat(verbs.devices()).isEmpty();
        assertThat(fake.count(Counter.GET_DEVICE_LIST)).isOne();
    }

    @Test
    void aKernelWithoutVerbsHasNoDevices() throws Exception {
        fake.failingToList(Errno.ENOSYS);
        assertThat(verbs.devices()).isEmpty();
        assertThatThrownBy(() -> verbs.open("erdma_0"))
                .isInstanceOfSatisfying(
                        NativeException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }

    @Test
    void aListThatFailsOtherwiseIsAnError() {
        fake.failingToList(Errno.EPERM);
        assertThatThrownBy(verbs::devices)
                .isInstanceOf(NativeException.class)
                .hasMessage("ibv_get_device_list on this machine failed: EPERM (1)");
    }

    @Test
    void anUnknownDeviceIsEnodevByName() {
        fake.device("erdma_0");
        assertThatThrownBy(() -> verbs.open("erdma_1"))
                .isInstanceOf(NativeException.class)
                .hasMessage("ibv_open_device on erdma_1 failed: ENODEV (19)");
    }

    @Test
    void aNodeThatTheKernelRefusesToOpenIsToldWithTheKernelsErrno() throws Exception {
        fake.device("erdma_0").uverbs("uverbs3").failing(Call.OPEN_DEVICE, Errno.ENOENT);
        // Root may open any file, but nobody follows a link to itself: ELOOP.
        Files.createSymbolicLink(nodes.resolve("uverbs3"), nodes.resolve("uverbs3"));
        assertThatThrownBy(() -> verbs.open("erdma_0"))
                .isInstanceOf(NativeException.class)
                .hasMessage("open on " + nodes + "/uverbs3 failed: errno 40");
    }

    @Test
    void keepsTheErrnoOfLibibverbsWhereTheNodeCanBeOpenedOrIsMissing() throws Exception {
        fake.device("erdma_0").uverbs("uverbs3").failing(Call.OPEN_DEVICE, Errno.EIO);
        assertThatThrownBy(() -> verbs.open("erdma_0")).hasMessage("ibv_open_device on erdma_0 failed: EIO (5)");
        Files.createFile(nodes.resolve("uverbs3"));
        long descriptors = descriptors();
        for (int i = 0; i < 20; i++) {
            assertThatThrownBy(() -> verbs.open("erdma_0")).hasMessage("ibv_open_device on erdma_0 failed: EIO (5)");
        }
        assertThat(descriptors()).isLessThan(descriptors + 20);
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
            return entries.count();
        }
    }

    @Test
    void aDeviceThatCannotBeOpenedDoesNotTouchTheOthersInWhateverOrder() throws Exception {
        FakeVerbs.Device foreign = fake.device("mlx5_0").nodeType(NodeType.CA).failing(Call.OPEN_DEVICE, Errno.EPERM);
        FakeVerbs.Device good = fake.device("erdma_0");
        FakeVerbs.Device sick = fake.device("erdma_1").failing(Call.QUERY_PORT, Errno.EIO);
        for (List<FakeVerbs.Device> order : List.of(
                List.of(foreign, good, sick),
                List.of(foreign, sick, good),
                List.of(good, foreign, sick),
                List.of(good, sick, foreign),
                List.of(sick, foreign, good),
                List.of(sick, good, foreign))) {
            for (int i = 0; i < order.size(); i++) {
                order.get(i).index(i);
            }
            assertThat(verbs.devices())
                    .extracting(VerbsDevice::name)
                    .isEqualTo(order.stream().map(FakeVerbs.Device::name).toList());
            assertThatThrownBy(() -> verbs.open("mlx5_0")).hasMessage("ibv_open_device on mlx5_0 failed: EPERM (1)");
            try (VerbsContext context = verbs.open("erdma_0")) {
                assertThat(context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
            }
            try (VerbsContext context = verbs.open("erdma_1")) {
                assertThatThrownBy(() -> context.queryPort(1))
                        .hasMessage("ibv_query_port on erdma_1 port 1 failed: EIO (5)");
            }
        }
    }

    @Test
    void aDeviceWithoutItsCharacterDeviceIsNotListed() throws Exception {
        FakeVerbs.Device device = fake.device("erdma_0").hidden(true);
        assertThat(verbs.devices()).isEmpty();
        device.hidden(false);
        assertThat(verbs.devices()).hasSize(1);
    }

    @Test
    void numbersThatNobodyKnowsYetAreAnswersToo() throws Exception {
        fake.device("erdma_0").attribute("node_type", 42).attribute("port_state", 9);
        assertThat(verbs.devices()).extracting(VerbsDevice::nodeType).containsExactly(NodeType.UNKNOWN);
        try (VerbsContext context = verbs.open("erdma_0")) {
            PortAttributes port = context.queryPort(1);
            assertThat(port.state()).isEqualTo(PortState.UNKNOWN);
            assertThat(port.stateNumber()).isEqualTo(9);
        }
    }

    @Test
    void tenThousandDiscoveriesFreeAndCloseWhatTheyTook() throws Exception {
        fake.device("erdma_0");
        fake.device("mlx5_0").failing(Call.OPEN_DEVICE, Errno.EPERM);
        int found = 0;
        for (int cycle = 0; cycle < 10_000; cycle++) {
            if (cycle == 4_000) {
                fake.device("erdma_0").remove();
            } else if (cycle == 6_000) {
                fake.device("erdma_0");
            }
            for (VerbsDevice device : verbs.devices()) {
                if (device.name().startsWith("erdma")) {
                    try (VerbsContext context = verbs.open(device.name())) {
                        found += context.queryPort(1).state() == PortState.ACTIVE ? 1 : 0;
                    }
                }
            }
        }
        assertThat(found).isEqualTo(8_000);
        assertThat(fake.count(Counter.OPEN_DEVICE)).isEqualTo(8_000);
        assertThat(fake.count(Counter.GET_DEVICE_LIST)).isEqualTo(18_000);
    }

    @Test
    void opensAndListsFromSeveralThreads() throws Exception {
        fake.device("erdma_0");
        fake.device("erdma_1");
        Set<String> names = Set.of("erdma_0", "erdma_1");
        InParallel.run(4, () -> {
            for (int i = 0; i < 100; i++) {
                assertThat(verbs.devices()).extracting(VerbsDevice::name).containsExactlyInAnyOrderElementsOf(names);
                try (VerbsContext context = verbs.open("erdma_" + i % 2)) {
                    assertThat(context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
                }
            }
        });
    }
}
