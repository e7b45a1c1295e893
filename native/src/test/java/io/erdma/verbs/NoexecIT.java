package io.erdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A hardened node: what is written to the temporary directory can't be executed. Needs root for the mount. */
class NoexecIT {
    @TempDir
    Path directory;

    private Path noexec;

    @BeforeEach
    void mount() throws Exception {
        noexec = Files.createDirectory(directory.resolve("noexec"));
        CCompiler.run(List.of("mount", "-t", "tmpfs", "-o", "noexec,size=8m", "tmpfs", noexec.toString()));
    }

    @AfterEach
    void unmount() throws Exception {
        CCompiler.run(List.of("umount", noexec.toString()));
    }

    @Test
    void withoutTheUnpackedStubOneLineSaysWhatToSet() throws Exception {
        ChildJvm.Result result = discover(List.of());
        assertThat(result.status()).isEqualTo(3);
        assertThat(result.lines())
                .singleElement()
                .asString()
                .contains("JNR's native stub could not be loaded")
                .contains("noexec")
                .contains("-Djffi.boot.library.path");
    }

    @Test
    void withTheUnpackedStubItWorks() throws Exception {
        Path stub = Files.createDirectory(directory.resolve("stub"));
        String architecture = System.getProperty("os.arch").equals("amd64") ? "x86_64" : "aarch64";
        try (InputStream in = NoexecIT.class.getResourceAsStream("/jni/" + architecture + "-Linux/libjffi-1.2.so")) {
            Files.write(stub.resolve("libjffi-1.2.so"), in.readAllBytes());
        }
        ChildJvm.Result result = discover(List.of("-Djffi.boot.library.path=" + stub));
        assertThat(result.lines()).isEmpty();
        assertThat(result.status()).isZero();
    }

    /** The working directory is jffi's second choice, so it is the same one. */
    private ChildJvm.Result discover(List<String> options) throws Exception {
        List<String> all = new java.util.ArrayList<>(options);
        all.add("-Djava.io.tmpdir=" + noexec);
        return ChildJvm.run(
                Discover.class, all, Map.of("SYSFS_PATH", directory.toString()), noexec, Verbs.DEFAULT_LIBRARY);
    }
}
