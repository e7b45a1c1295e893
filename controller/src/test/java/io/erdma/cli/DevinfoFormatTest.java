package io.erdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.verbs.VerbsDevice;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DevinfoFormatTest {
    private static final String HOSTILE = "hostile-name";

    static List<String> situations() {
        return Recording.standIns().stream()
                .filter(name -> !name.equals(HOSTILE))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("situations")
    void printsWhatIbvDevinfoPrints(String situation) {
        assertThat(DevinfoFormat.devices(standIn(situation), false))
                .isEqualTo(Recording.text("stand-in/" + situation + "/plain.stdout"));
    }

    @ParameterizedTest
    @MethodSource("situations")
    void printsWhatIbvDevinfoPrintsVerboselyButForTheExtendedRows(String situation) {
        assertThat(DevinfoFormat.devices(standIn(situation), true))
                .isEqualTo(Recording.withoutExtendedRows(Recording.text("stand-in/" + situation + "/verbose.stdout")));
    }

    @ParameterizedTest
    @MethodSource("situations")
    void listsWhatIbvDevinfoLists(String situation) {
        assertThat(DevinfoFormat.list(devices(standIn(situation))))
                .isEqualTo(Recording.text("stand-in/" + situation + "/list.stdout"));
    }

    @Test
    void printsTwoSoftRoceDevicesAsARealKernelAndLibraryLetThemBePrinted() {
        List<DeviceReading> both = softRoce();
        assertThat(DevinfoFormat.devices(both, false)).isEqualTo(Recording.text("soft-roce/two/stdout"));
        assertThat(DevinfoFormat.devices(both, true))
                .isEqualTo(Recording.withoutExtendedRows(Recording.text("soft-roce/two-v/stdout")));
        assertThat(DevinfoFormat.list(devices(both))).isEqualTo(Recording.text("soft-roce/two-l/stdout"));
    }

    @Test
    void printsTheOneDeviceAskedFor() {
        List<DeviceReading> second = softRoce().subList(1, 2);
        assertThat(DevinfoFormat.devices(second, false)).isEqualTo(Recording.text("soft-roce/two-d-erdma_1/stdout"));
        assertThat(DevinfoFormat.devices(second, true))
                .isEqualTo(Recording.withoutExtendedRows(Recording.text("soft-roce/two-d-erdma_1-v/stdout")));
    }

    @Test
    void printsAPortThatIsDown() {
        List<DeviceReading> down = StandInDevices.parse(Recording.text("soft-roce/devices.txt")
                .replaceFirst("port\\.1\\.state 4", "port.1.state 1")
                .replaceFirst("port\\.1\\.phys_state 5", "port.1.phys_state 3")
                .replaceFirst("gid\\.1\\.2 .*\n", "\n"));
        assertThat(DevinfoFormat.devices(down, false)).isEqualTo(Recording.text("soft-roce/down/stdout"));
        assertThat(DevinfoFormat.devices(down, true))
                .isEqualTo(Recording.withoutExtendedRows(Recording.text("soft-roce/down-v/stdout")));
    }

    @Test
    void leavesOutTheDeviceThatDidNotOpenAndPrintsTheOther() {
        String text = Recording.text("soft-roce/devices.txt").replaceFirst("uverbs uverbs0", "open_errno 13");
        assertThat(DevinfoFormat.devices(StandInDevices.parse(text), false))
                .isEqualTo(Recording.text("soft-roce/unopenable-one/stdout"));
    }

    @Test
    void takesTheTerminalFromNoDeviceName() {
        List<DeviceReading> readings = standIn(HOSTILE);
        String plain = DevinfoFormat.devices(readings, false);
        String list = DevinfoFormat.list(devices(readings));
        assertThat(plain).startsWith("hca_id:\te\\x1b[31mrdma\\x07_0\n");
        assertThat(list).contains("\te\\x1b[31mrdma\\x07_0\n");
        assertThat((plain + list).chars()).allMatch(c -> (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t');
    }

    private static List<DeviceReading> softRoce() {
        return StandInDevices.parse(Recording.text("soft-roce/devices.txt"));
    }

    private static List<DeviceReading> standIn(String situation) {
        return StandInDevices.parse(Recording.text("stand-in/" + situation + "/devices.txt"));
    }

    private static List<VerbsDevice> devices(List<DeviceReading> readings) {
        return readings.stream().map(DeviceReading::device).toList();
    }
}
