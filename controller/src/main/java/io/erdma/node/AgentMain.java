package io.erdma.node;

import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.node.log.Logging;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The program {@code erdma agent}. It ends with 0 after SIGTERM or SIGINT, 64 when its configuration has problems, 69
 * when the node does not let it start, 70 after a fault of its own, 1 when it could not stop in time.
 */
public final class AgentMain {
    static final int STOPPED = 0;
    static final int STOPPED_TOO_LATE = 1;
    static final int CONFIGURATION = 64;
    static final int CANNOT_START = 69;
    static final int FAULT = 70;

    /** The pod's grace period is longer; an agent that hangs must not use it up. */
    private static final Duration STOP_WITHIN = Duration.ofMillis(4_500);

    private final OutputStream out;
    private final OutputStream err;
    private final CountDownLatch stopAsked = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicInteger exitCode = new AtomicInteger(STOPPED);

    private AgentMain(OutputStream out, OutputStream err) {
        this.out = out;
        this.err = err;
    }

    public static void main(String[] args) {
        run(List.of(args));
    }

    /**
     * Ends the process.
     *
     * @param args the command line after the word {@code agent}
     */
    public static void run(List<String> args) {
        Logging.lastUntilTheEnd();
        var program = new AgentMain(new FileOutputStream(FileDescriptor.out), new FileOutputStream(FileDescriptor.err));
        System.exit(program.serve(args, System.getenv()));
    }

    private int serve(List<String> args, Map<String, String> environment) {
        if (args.stream().anyMatch(arg -> arg.matches("--?h(elp)?"))) {
            print(
                    out,
                    "Usage: erdma agent [SETTING…]\n\nOffers this node's eRDMA devices to the kubelet.\n\n"
                            + Settings.help()
                            + "Exit codes: 0 stopped by SIGTERM or SIGINT, 1 could not stop in time, 64 wrong settings, 69"
                            + " the node does not\nlet it start, 70 a fault of its own.\n");
            return STOPPED;
        }
        AgentConfig config;
        try {
            config = AgentConfigReader.read(args, environment);
        } catch (ConfigurationException e) {
            print(err, e.getMessage() + "\n");
            return CONFIGURATION;
        }
        Logging logging = Logging.start(err, config.logFormat(), config.logLevel());
        Log log = Log.of(AgentMain.class);
        Thread.setDefaultUncaughtExceptionHandler((thread, fault) -> {
            log.error("a thread ended by a fault; the agent stops", fault, Field.of("thread", thread.getName()));
            stop(FAULT);
        });
        // The hook keeps the JVM until everything is closed, and sets the exit code, which is 143 otherwise.
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().name("erdma-stop").unstarted(() -> {
                    stopAsked.countDown();
                    Runtime.getRuntime().halt(closedInTime() ? exitCode.get() : STOPPED_TOO_LATE);
                }));

        BuildInfo build = BuildInfo.read();
        log.info(
                "eRDMA agent starts",
                Field.of("version", build.version()),
                Field.of("commit", build.commit()),
                Field.of("java", Runtime.version()));
        config.describe().forEach(line -> log.info(line));
        try (Agent _ = Agent.start(config, logging, build.version())) {
            stopAsked.await();
            log.info("stopping");
        } catch (IOException e) {
            log.error("cannot start: " + e.getMessage());
            stop(CANNOT_START);
        } catch (InterruptedException e) {
            stop(FAULT);
        } catch (RuntimeException | Error e) {
            log.error("the agent failed", e);
            stop(FAULT);
        }
        closed.countDown();
        return exitCode.get();
    }

    private void stop(int code) {
        exitCode.compareAndSet(STOPPED, code);
        stopAsked.countDown();
    }

    private boolean closedInTime() {
        try {
            return closed.await(STOP_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }

    private static void print(OutputStream stream, String text) {
        try {
            stream.write(text.getBytes(StandardCharsets.UTF_8));
            stream.flush();
        } catch (IOException closedByReader) {
            // There is nobody left to tell.
            return;
        }
    }
}
