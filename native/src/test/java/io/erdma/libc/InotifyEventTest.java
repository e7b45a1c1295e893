package io.erdma.libc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class InotifyEventTest {
    @Property(tries = 300)
    void readsBackWhatTheKernelWouldWrite(
            @ForAll @Size(max = 20) List<@AlphaChars @StringLength(max = 255) String> names, @ForAll int mask) {
        ByteBuffer buffer = ByteBuffer.allocate(names.size() * 272).order(ByteOrder.nativeOrder());
        List<InotifyEvent> written = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            byte[] name = names.get(i).getBytes(StandardCharsets.UTF_8);
            // Names are padded with at least one NUL to a multiple of the header's size.
            int padded = name.length == 0 ? 0 : (name.length / 16 + 1) * 16;
            buffer.putInt(i).putInt(mask).putInt(0).putInt(padded);
            buffer.put(name).put(new byte[padded - name.length]);
            written.add(new InotifyEvent(i, mask, names.get(i)));
        }
        assertThat(InotifyEvent.parse(buffer.array(), buffer.position())).isEqualTo(written);
    }

    @Property(tries = 1000)
    void answersAnyBytesWithEventsOrARefusal(@ForAll @Size(max = 200) byte[] bytes) {
        try {
            assertThat(InotifyEvent.parse(bytes, bytes.length)).hasSizeLessThanOrEqualTo(bytes.length / 16);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("an inotify event");
        }
    }

    @Test
    void refusesANameLongerThanTheBytesThatFollow() {
        byte[] bytes = ByteBuffer.allocate(20)
                .order(ByteOrder.nativeOrder())
                .putInt(1)
                .putInt(0x100)
                .putInt(0)
                .putInt(5)
                .array();
        assertThatThrownBy(() -> InotifyEvent.parse(bytes, bytes.length))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("an inotify event names 5 bytes, but only 4 follow its header of 16");
    }
}
