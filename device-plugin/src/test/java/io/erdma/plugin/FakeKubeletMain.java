package io.erdma.plugin;

import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * The stand-in kubelet as a program, for demos and benches: {@code FakeKubeletMain <kubelet root>}. It prints a line for
 * each thing that happens, with the machine's monotonic clock in nanoseconds before it, and reads commands from standard
 * input; each is answered by one line that starts with {@code ok} or {@code error}. It ends with its input.
 */
public final class FakeKubeletMain {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String HELP =
            "allocate ID... | prefer SIZE ID... | prestart ID... | restart [MS] | kill | stop"
                    + " | listen | cancel | drop | unlink | refuse N | hang on|off | wait healthy=N|registrations=N [SECONDS]"
                    + " | status | quit";

    private final FakeKubelet kubelet;
    private final PrintStream out;

    private FakeKubeletMain(FakeKubelet kubelet, PrintStream out) {
        this.kubelet = kubelet;
        this.out = out;
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: FakeKubeletMain <kubelet root>");
            System.exit(64);
        }
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (FakeKubelet kubelet = FakeKubelet.prepare(Path.of(args[0]));
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            FakeKubeletMain program = new FakeKubeletMain(kubelet, out);
            kubelet.log(program::print);
            kubelet.listen(FakeKubelet.Wipe.SOCKETS);
            for (String line = in.readLine(); line != null && !line.strip().equals("quit"); line = in.readLine()) {
                if (!line.isBlank()) {
                    program.print(program.answer(line.strip().split("\\s+")));
                }
            }
        }
    }

    private void print(String line) {
        out.println(System.nanoTime() + " " + line);
    }

    private String answer(String[] words) {
        List<String> rest = Arrays.asList(words).subList(1, words.length);
        try {
            return run(words[0], rest);
        } catch (IOException | RuntimeException | AssertionError e) {
            return "error " + words[0] + ": " + e.getMessage();
        }
    }

    private String run(String command, List<String> rest) throws IOException {
        switch (command) {
            case "allocate" -> {
                long start = System.nanoTime();
                ContainerAllocateResponse answer = kubelet.allocate(FakeKubelet.RESOURCE, rest);
                return "ok allocated in %.3f ms: %s".formatted((System.nanoTime() - start) / 1e6, describe(answer));
            }
            case "prefer" -> {
                return "ok preferred "
                        + kubelet.preferredAllocation(
                                FakeKubelet.RESOURCE,
                                rest.subList(1, rest.size()),
                                List.of(),
                                Integer.parseInt(rest.getFirst()));
            }
            case "prestart" -> kubelet.preStart(rest.toArray(String[]::new));
            case "restart" ->
                kubelet.restart(
                        FakeKubelet.Wipe.SOCKETS,
                        Duration.ofMillis(rest.isEmpty() ? 0 : Long.parseLong(rest.getFirst())));
            case "kill" -> kubelet.kill();
            case "stop" -> kubelet.stop();
            case "listen" -> kubelet.listen(FakeKubelet.Wipe.SOCKETS);
            case "cancel" -> kubelet.cancelStream(FakeKubelet.RESOURCE);
            case "drop" -> kubelet.dropConnection(FakeKubelet.RESOURCE);
            case "unlink" -> kubelet.removePluginSocket(FakeKubelet.RESOURCE);
            case "refuse" -> kubelet.refuse(Integer.parseInt(rest.getFirst()));
            case "hang" -> kubelet.hangInRegister(rest.getFirst().equals("on"));
            case "wait" -> {
                return await(rest);
            }
            case "status" -> {
                return "ok registrations=" + kubelet.registrations().size() + " healthy="
                        + kubelet.allocatable(FakeKubelet.RESOURCE) + " capacity="
                        + kubelet.capacity(FakeKubelet.RESOURCE) + " messages="
                        + kubelet.messages().size();
            }
            default -> throw new IllegalArgumentException("unknown command; known: " + HELP);
        }
        return "ok " + command;
    }

    private String await(List<String> rest) {
        String[] condition = rest.getFirst().split("=", 2);
        Duration patience = rest.size() > 1 ? Duration.ofSeconds(Long.parseLong(rest.get(1))) : PATIENCE;
        long count = Long.parseLong(condition[1]);
        switch (condition[0]) {
            case "healthy" -> kubelet.awaitAllocatable(FakeKubelet.RESOURCE, count, patience);
            case "registrations" -> kubelet.awaitRegistration(Math.toIntExact(count), patience);
            default -> throw new IllegalArgumentException("wait for healthy=N or registrations=N");
        }
        return "ok " + rest.getFirst();
    }

    private static String describe(ContainerAllocateResponse answer) {
        StringBuilder text = new StringBuilder();
        answer.getDevicesList()
                .forEach(device -> text.append(" device=")
                        .append(device.getHostPath())
                        .append(':')
                        .append(device.getPermissions()));
        answer.getMountsList().forEach(mount -> text.append(" mount=").append(mount.getHostPath()));
        answer.getEnvsMap()
                .forEach((name, value) ->
                        text.append(" env=").append(name).append('=').append(value));
        answer.getCdiDevicesList().forEach(device -> text.append(" cdi=").append(device.getName()));
        return text.toString().strip();
    }
}
