package io.erdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our layouts against those that the compiler makes of this machine's verbs.h. */
class LayoutTest {
    private record Place(int offset, int size) {}

    private static final Map<String, Place> OF_THE_HEADER = new HashMap<>();

    @BeforeAll
    static void askTheCompiler(@TempDir Path directory) throws Exception {
        Path program = CCompiler.compile("layouts.c", directory, "layouts");
        for (String line : CCompiler.run(List.of(program.toString())).lines().toList()) {
            String[] words = line.split(" ", 4);
            OF_THE_HEADER.put(
                    words[0] + " " + words[1], new Place(Integer.parseInt(words[2]), Integer.parseInt(words[3])));
        }
    }

    @Test
    void eachFieldLiesWhereTheHeaderPutsIt() {
        compare("ibv_device", DeviceStruct.values());
        compare("ibv_context", ContextStruct.values());
        compare("ibv_device_attr", DeviceAttr.values());
        compare("ibv_port_attr", PortAttr.values());
        compare("ibv_gid_entry", GidEntryField.values());
        compare("ibv_async_event", AsyncEvent.values());
    }

    @Test
    void eachBufferHoldsWhatTheLibraryWrites() {
        assertThat(DeviceAttr.BUFFER)
                .isEqualTo(OF_THE_HEADER.get("ibv_device_attr sizeof").size());
        assertThat(GidEntryField.BUFFER)
                .isEqualTo(OF_THE_HEADER.get("ibv_gid_entry sizeof").size());
        assertThat(AsyncEvent.BUFFER)
                .isEqualTo(OF_THE_HEADER.get("ibv_async_event sizeof").size());
        assertThat(DeviceStruct.DEV_NAME.offset() + DeviceStruct.DEV_NAME.size())
                .isLessThanOrEqualTo(DeviceStruct.READ);
    }

    @Test
    void nothingIsReadBehindTheFortyEightBytesOfTheExportedQueryPort() {
        assertThat(PortAttr.values())
                .allSatisfy(field -> assertThat(field.offset() + field.size()).isLessThanOrEqualTo(48));
        assertThat(PortAttr.BUFFER).isGreaterThanOrEqualTo(64);
    }

    @Test
    void unsignedNumbersKeepTheirHighestBit() {
        byte[] struct = ByteBuffer.allocate(PortAttr.BUFFER)
                .order(ByteOrder.nativeOrder())
                .putInt(PortAttr.MAX_MSG_SZ.offset(), 0xffff_fff0)
                .putShort(PortAttr.LID.offset(), (short) 0xfff1)
                .put(PortAttr.ACTIVE_SPEED.offset(), (byte) 0x80)
                .array();
        PortAttributes port = PortAttr.read(struct);
        assertThat(port.maxMessageSize()).isEqualTo(0xffff_fff0L);
        assertThat(port.lid()).isEqualTo(0xfff1);
        assertThat(port.activeSpeed()).isEqualTo(128);
    }

    /** Of the same header, by a compiler for arm64 on this machine; nothing of it is run. */
    @Test
    void arm64PutsEachFieldWhereItIsHere(@TempDir Path directory) throws Exception {
        StringBuilder source = new StringBuilder("#include <infiniband/verbs.h>\n#include <stddef.h>\n");
        expect(source, "ibv_device", DeviceStruct.values());
        expect(source, "ibv_context", ContextStruct.values());
        expect(source, "ibv_device_attr", DeviceAttr.values());
        expect(source, "ibv_port_attr", PortAttr.values());
        expect(source, "ibv_gid_entry", GidEntryField.values());
        expect(source, "ibv_async_event", AsyncEvent.values());
        expect(source, "sizeof(struct ibv_device_attr)", DeviceAttr.BUFFER);
        expect(source, "sizeof(struct ibv_gid_entry)", GidEntryField.BUFFER);
        expect(source, "sizeof(struct ibv_async_event)", AsyncEvent.BUFFER);
        Path file = Files.writeString(directory.resolve("arm64.c"), source);

        // This machine's own headers last: of them only those of libibverbs are for any architecture.
        assertThat(CCompiler.run(List.of(
                        "aarch64-linux-gnu-gcc",
                        "-std=gnu11",
                        "-Wall",
                        "-Werror",
                        "-fsyntax-only",
                        "-idirafter",
                        "/usr/include",
                        file.toString())))
                .isEmpty();
    }

    private static void expect(StringBuilder source, String struct, StructField[] fields) {
        for (StructField field : fields) {
            String name = field.toString().toLowerCase(Locale.ROOT).replace("element_port_num", "element.port_num");
            expect(source, "offsetof(struct " + struct + ", " + name + ")", field.offset());
            expect(source, "sizeof(((struct " + struct + " *)0)->" + name + ")", field.size());
        }
    }

    private static void expect(StringBuilder source, String expression, int value) {
        source.append("_Static_assert(%s == %d, \"%s\");\n".formatted(expression, value, expression));
    }

    private static void compare(String struct, StructField[] fields) {
        for (StructField field : fields) {
            assertThat(new Place(field.offset(), field.size()))
                    .as(struct + "." + field)
                    .isEqualTo(OF_THE_HEADER.get(struct + " " + field.toString().toLowerCase(Locale.ROOT)));
        }
    }
}
