package io.erdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said, in one line, when there is no usable library. */
class VerbsLoadingTest {
    @TempDir
    Path directory;

    @Test
    void aMissingLibraryNamesThePackagesAndTheSetting() {
        assertThatThrownBy(() -> Verbs.load("libnosuchverbs.so.1"))
                .isInstanceOf(VerbsUnavailableException.class)
                .hasMessageStartingWith("cannot use the verbs library libnosuchverbs.so.1: ")
                .hasMessageContaining("cannot open shared object file")
                .hasMessageContaining("libibverbs1 and ibverbs-providers")
                .hasMessageContaining("--verbs-library")
                .satisfies(VerbsLoadingTest::isOneLine);
    }

    @Test
    void aFileThatIsNoLibraryIsRefused() throws Exception {
        Path text = Files.writeString(directory.resolve("libibverbs.so.1"), "not an ELF file");
        assertThatThrownBy(() -> Verbs.load(text.toString()))
                .isInstanceOf(VerbsUnavailableException.class)
                .hasMessageContaining(text.toString())
                .satisfies(VerbsLoadingTest::isOneLine);
    }

    @Test
    void aLibraryThatLacksASymbolIsRefusedAtLoadWithTheSymbolsName() {
        assertThatThrownBy(() -> Verbs.load("libc.so.6"))
                .isInstanceOf(VerbsUnavailableException.class)
                .hasMessageContaining("libc.so.6 has no symbol ibv_")
                .satisfies(VerbsLoadingTest::isOneLine);
    }

    @Test
    void aTemporaryDirectoryThatCannotHoldTheStubIsOneLineThatSaysWhatToSet() throws Exception {
        // Neither the temporary directory nor the working directory can take the stub.
        Path unwritable = Path.of("/proc");
        ChildJvm.Result result = ChildJvm.run(
                Discover.class,
                List.of("-Djava.io.tmpdir=" + directory.resolve("missing")),
                Map.of(),
                unwritable,
                Verbs.DEFAULT_LIBRARY);
        assertThat(result.status()).isEqualTo(3);
        assertThat(result.lines())
                .filteredOn(line -> !line.startsWith("WARNING: java.io.tmpdir"))
                .singleElement()
                .asString()
                .contains("JNR's native stub could not be loaded")
                .contains("-Djffi.boot.library.path")
                .doesNotContain("Install the packages");
    }

    private static void isOneLine(Throwable e) {
        assertThat(e.getMessage().lines()).hasSize(1);
    }
}
