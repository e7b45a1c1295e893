package io.erdma.project;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code build/jdk.sh}, with which each make target finds its JDK. */
class JdkScriptTest {
    private record Answer(int exitCode, String output) {}

    @TempDir
    private Path directory;

    private static Answer run(Map<String, String> environment) throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(Path.of("../build/jdk.sh").toAbsolutePath().toString()).redirectErrorStream(true);
        builder.environment().remove("JAVA_HOME");
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Answer(process.waitFor(), output);
    }

    private Path jdk(String name, String version) throws IOException {
        Path home = directory.resolve(name);
        Path javac = Files.createDirectories(home.resolve("bin")).resolve("javac");
        Files.writeString(javac, "");
        assertThat(javac.toFile().setExecutable(true)).isTrue();
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    @Test
    void saysInOneLineWhatToDoWithoutAnyJdk() throws Exception {
        Answer answer = run(Map.of("JAVA_HOME", "/no/such/jdk", "JVM_DIR", "/no/such/directory"));

        assertThat(answer.exitCode()).isEqualTo(1);
        assertThat(answer.output().lines())
                .singleElement()
                .asString()
                .contains("no JDK 25 found", "install one", "JAVA_HOME");
    }

    @Test
    void takesJavaHomeFirstWhenItIsTheVersionThatTheBuildAsksFor() throws Exception {
        jdk("a", "25.0.1");
        Path mine = jdk("z", "25");

        assertThat(run(Map.of("JAVA_HOME", mine.toString(), "JVM_DIR", directory.toString())))
                .isEqualTo(new Answer(0, mine + "\n"));
    }

    @Test
    void passesOverOtherVersionsAndRuntimesWithoutACompiler() throws Exception {
        Path old = jdk("a", "17.0.12");
        jdk("b", "26");
        Files.delete(jdk("c", "25").resolve("bin/javac"));
        Path wanted = jdk("d", "25.0.2");

        for (Map<String, String> environment : List.of(
                Map.of("JVM_DIR", directory.toString()),
                Map.of("JVM_DIR", directory.toString(), "JAVA_HOME", old.toString()))) {
            assertThat(run(environment)).isEqualTo(new Answer(0, wanted + "\n"));
        }
    }

    /** What the script finds must be what the toolchain takes. */
    @Test
    void asksForTheVersionOfTheToolchain() throws IOException {
        assertThat(Files.readString(Path.of("../pom.xml"))).contains("<version>[25,26)</version>");
        assertThat(Files.readString(Path.of("../build/jdk.sh"))).contains("\nwanted=25\n");
    }
}
