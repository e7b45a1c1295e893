package io.erdma.log;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class PrintableTest {
    @Test
    void leavesOrdinaryNamesAlone() {
        assertThat(Printable.of("erdma_0")).isEqualTo("erdma_0");
        assertThat(Printable.of("carte-éth\u00e9r\u00e9e")).isEqualTo("carte-éth\u00e9r\u00e9e");
    }

    @Test
    void showsWhatWouldMoveTheCursorOrHideText() {
        assertThat(Printable.of("a\u001b[2Jb\r\n\t\u007f\u009b")).isEqualTo("a\\x1b[2Jb\\x0d\\x0a\\x09\\x7f\\x9b");
        assertThat(Printable.of("\u202egnol\u2028\ud800")).isEqualTo("\\u202egnol\\u2028\\ud800");
    }

    @Property
    boolean neverEmitsAControlCharacter(@ForAll String text) {
        return Printable.of(text)
                .codePoints()
                .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT);
    }
}
