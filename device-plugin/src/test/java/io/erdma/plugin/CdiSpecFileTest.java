package io.erdma.plugin;

import static io.erdma.plugin.Offers.device;
import static io.erdma.plugin.Offers.down;
import static io.erdma.plugin.Offers.healthy;
import static io.erdma.plugin.Offers.offer;
import static io.erdma.plugin.Offers.offerOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.DeviceHealth;
import io.erdma.device.RdmaCmUse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class CdiSpecFileTest {
    private static final String ERDMA_0 = "aliyun.com/erdma=erdma_0";

    @TempDir
    Path root;

    private final List<AdvertisedDevices> passedOn = new ArrayList<>();
    private final List<CdiSpecFile> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(CdiSpecFile::close);
    }

    @Test
    void writesTheSpecBeforeItPassesTheOfferOn() throws IOException {
        List<Boolean> there = new ArrayList<>();
        CdiSpecFile cdi = new CdiSpecFile(
                Offers.cdi(CdiMode.ONLY, directory()),
                (devices, observed) -> there.add(Files.exists(file())),
                InstantSource.fixed(Instant.EPOCH));
        opened.add(cdi);
        cdi.advertise(offerOf(2), 1);
        assertThat(there).containsExactly(true);
        assertThat(Files.readString(file()))
                .isEqualTo(CdiSpec.of(offerOf(2)).orElseThrow().json());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
                .isEqualTo("rw-r--r--");
        assertThat(cdi.resolvable(ERDMA_0)).isTrue();
        assertThat(cdi.resolvable("aliyun.com/erdma=erdma_2")).isFalse();
        assertThat(filesThere()).containsExactly("aliyun.com-erdma.json");
    }

    @Test
    void writesOnlyWhenTheDevicesChange() throws IOException {
        CdiSpecFile cdi = open(CdiMode.ALSO);
        cdi.advertise(offerOf(1), 1);
        Object first = key();
        cdi.advertise(offer(down(device(0))), 2);
        cdi.advertise(offerOf(1), 3);
        cdi.check();
        assertThat(key()).isEqualTo(first);
        cdi.advertise(offerOf(2), 4);
        assertThat(Files.readString(file())).contains("erdma_1");
        assertThat(passedOn).hasSize(4);
    }

    @Test
    void removesTheSpecWithTheLastDeviceAndBringsItBack() {
        CdiSpecFile cdi = open(CdiMode.ALSO);
        cdi.advertise(offerOf(1), 1);
        cdi.advertise(AdvertisedDevices.NONE, 2);
        assertThat(file()).doesNotExist();
        assertThat(cdi.resolvable(ERDMA_0)).isFalse();
        cdi.advertise(offerOf(1), 3);
        assertThat(file()).exists();
    }

    @Test
    void touchesNothingWhenItIsOff() throws IOException {
        CdiSpecFile cdi = open(CdiMode.OFF);
        Files.createDirectories(directory());
        Files.writeString(file(), "somebody's");
        cdi.advertise(offerOf(1), 1);
        cdi.check();
        cdi.close();
        assertThat(Files.readString(file())).isEqualTo("somebody's");
        assertThat(passedOn).containsExactly(offerOf(1));
        assertThat(cdi.resolvable(ERDMA_0)).isFalse();
    }

    @Test
    void removesItsSpecWhenItCloses() {
        CdiSpecFile cdi = open(CdiMode.ALSO);
        cdi.advertise(offerOf(1), 1);
        cdi.close();
        assertThat(file()).doesNotExist();
        assertThat(cdi.resolvable(ERDMA_0)).isFalse();
    }

    @Test
    void leavesTheSpecOfTheAgentThatFollowedIt() {
        CdiSpecFile old = open(CdiMode.ALSO);
        old.advertise(offerOf(1), 1);
        CdiSpecFile young = open(CdiMode.ALSO);
        young.advertise(offerOf(1), 1);
        old.check();
        old.close();
        assertThat(file()).exists();
        young.close();
        assertThat(file()).doesNotExist();
    }

    @Test
    void takesOverOrRemovesWhatAnAgentLeftThatCouldNotCleanUp() throws IOException {
        Files.createDirectories(directory());
        Files.writeString(file(), "stale");
        open(CdiMode.ALSO).advertise(AdvertisedDevices.NONE, 1);
        assertThat(file()).doesNotExist();
        Files.writeString(file(), "stale");
        open(CdiMode.ALSO).advertise(offerOf(1), 1);
        assertThat(Files.readString(file())).contains("erdma_0");
    }

    @Test
    void bringsBackASpecThatSomebodyRemovedOrChanged() throws IOException {
        CdiSpecFile cdi = open(CdiMode.ALSO);
        cdi.advertise(offerOf(1), 1);
        Files.delete(file());
        cdi.check();
        assertThat(file()).exists();
        Files.writeString(file(), "{}");
        cdi.check();
        assertThat(Files.readString(file())).contains("erdma_0");
        assertThat(passedOn).hasSize(1);
    }

    @Test
    void removesWhatAnAgentLeftThatWasKilledWhileItWrote() throws IOException {
        Files.createDirectories(directory());
        Path old = Files.writeString(directory().resolve(".aliyun.com-erdma.json123.tmp"), "{");
        Path young = Files.writeString(directory().resolve(".aliyun.com-erdma.json456.tmp"), "{");
        Path others = Files.writeString(directory().resolve(".nvidia.com-gpu.json1.tmp"), "{");
        for (Path file : List.of(old, others)) {
            Files.setLastModifiedTime(file, FileTime.from(Instant.EPOCH.minusSeconds(61)));
        }
        Files.setLastModifiedTime(young, FileTime.from(Instant.EPOCH.minusSeconds(59)));
        open(CdiMode.ALSO).advertise(offerOf(1), 1);
        assertThat(filesThere())
                .containsExactlyInAnyOrder(
                        "aliyun.com-erdma.json",
                        young.getFileName().toString(),
                        others.getFileName().toString());
    }

    /** To read it as a file would wait for ever, and the devices' health with it. */
    @Test
    @Timeout(20)
    void replacesAPipeThatSomebodyPutInTheSpecsPlace() throws Exception {
        CdiSpecFile cdi = open(CdiMode.ALSO);
        cdi.advertise(offerOf(1), 1);
        Files.delete(file());
        assertThat(new ProcessBuilder("mkfifo", file().toString()).start().waitFor())
                .isZero();
        cdi.check();
        assertThat(file()).isRegularFile();
        assertThat(Files.readString(file())).contains("erdma_0");
    }

    @Test
    void replacesAHugeFileWithoutReadingIt() throws IOException {
        CdiSpecFile cdi = open(CdiMode.ALSO);
        cdi.advertise(offerOf(1), 1);
        try (var channel = Files.newByteChannel(file(), StandardOpenOption.WRITE)) {
            // Sparse: it takes no room.
            channel.position(1L << 40).write(ByteBuffer.wrap(new byte[1]));
        }
        cdi.check();
        assertThat(Files.size(file())).isLessThan(10_000);
    }

    @Test
    void replacesALinkAndNotWhatItLeadsTo() throws IOException {
        Files.createDirectories(directory());
        Path victim = Files.writeString(root.resolve("victim"), "kept");
        Files.createSymbolicLink(file(), victim);
        CdiSpecFile cdi = open(CdiMode.ALSO);
        cdi.advertise(offerOf(1), 1);
        assertThat(victim).hasContent("kept");
        assertThat(Files.isSymbolicLink(file())).isFalse();

        Files.delete(file());
        Files.createSymbolicLink(file(), victim);
        cdi.check();
        cdi.close();
        assertThat(victim).hasContent("kept");
        assertThat(Files.isSymbolicLink(file())).isFalse();
    }

    /** Nothing in it can be replaced, so CDI is off for that long and no more. */
    @Test
    void getsOverADirectoryInTheSpecsPlace() throws IOException {
        Files.createDirectories(file().resolve("full"));
        CdiSpecFile cdi = open(CdiMode.ALSO);
        cdi.advertise(offerOf(1), 1);
        assertThat(cdi.resolvable(ERDMA_0)).isFalse();
        assertThat(filesThere()).as("no temporary file").containsExactly("aliyun.com-erdma.json");
        Files.delete(file().resolve("full"));
        Files.delete(file());
        cdi.check();
        assertThat(cdi.resolvable(ERDMA_0)).isTrue();
    }

    @Test
    void devicesAreServedWithoutCdiWhileTheSpecCannotBeWritten() throws IOException {
        Files.writeString(directory(), "a file where the directory belongs");
        CdiSpecFile cdi = open(CdiMode.ALSO);
        cdi.advertise(offerOf(1), 1);
        assertThat(passedOn).containsExactly(offerOf(1));
        assertThat(cdi.resolvable(ERDMA_0)).isFalse();
        Files.delete(directory());
        cdi.check();
        assertThat(cdi.resolvable(ERDMA_0)).isTrue();
    }

    @Test
    void devicesAreUnhealthyWithTheReasonWhileCdiIsTheOnlyWayAndTheSpecCannotBeWritten() throws IOException {
        Files.writeString(directory(), "a file where the directory belongs");
        CdiSpecFile cdi = open(CdiMode.ONLY);
        cdi.advertise(offer(healthy(device(0)), down(device(1))), 1);
        assertThat(passedOn.getLast().devices())
                .extracting(AdvertisedDevices.Entry::health)
                .satisfiesExactly(
                        first -> assertThat(first).isInstanceOfSatisfying(DeviceHealth.Unhealthy.class, unhealthy -> {
                            assertThat(unhealthy.reason()).contains(file().toString());
                            assertThat(unhealthy.since()).isEqualTo(Instant.EPOCH);
                        }),
                        second -> assertThat(second).isEqualTo(Offers.DOWN));
        Files.delete(directory());
        cdi.check();
        assertThat(passedOn.getLast()).isEqualTo(offer(healthy(device(0)), down(device(1))));
        assertThat(passedOn).hasSize(2);
    }

    @Test
    void aDeviceThatCdiCannotNameIsUnhealthyWhereCdiIsTheOnlyWay() {
        CdiSpecFile cdi = open(CdiMode.ONLY);
        cdi.advertise(offer(device(0), device("odd name", 1, OptionalInt.empty(), RdmaCmUse.UNUSED)), 1);
        assertThat(passedOn.getLast().devices())
                .extracting(entry -> entry.health().isHealthy())
                .containsExactly(true, false);
    }

    private CdiSpecFile open(CdiMode mode) {
        CdiSpecFile cdi = new CdiSpecFile(
                Offers.cdi(mode, directory()),
                (devices, observed) -> passedOn.add(devices),
                InstantSource.fixed(Instant.EPOCH));
        opened.add(cdi);
        return cdi;
    }

    private Path directory() {
        return root.resolve("cdi");
    }

    private Path file() {
        return directory().resolve("aliyun.com-erdma.json");
    }

    private Object key() throws IOException {
        return Files.getAttribute(file(), "unix:ino");
    }

    private List<String> filesThere() throws IOException {
        try (Stream<Path> files = Files.list(directory())) {
            return files.map(path -> path.getFileName().toString()).toList();
        }
    }
}
