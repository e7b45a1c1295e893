package io.erdma.plugin;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.StreamSupport;

/** What this process holds: Java threads, descriptors, and the Java heap in use after a collection. */
record ProcessUse(long threads, long descriptors, long heapBytes) {
    static ProcessUse now() throws IOException {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return new ProcessUse(
                threadsOfOurs(), count(Path.of("/proc/self/fd")), runtime.totalMemory() - runtime.freeMemory());
    }

    boolean holdsNoMoreThan(ProcessUse before, long heapSlackBytes) {
        return threads <= before.threads
                && descriptors <= before.descriptors
                && heapBytes <= before.heapBytes + heapSlackBytes;
    }

    /** Without the JVM's own: compiler threads and the carriers of the stand-in's virtual threads come and go. */
    private static long threadsOfOurs() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getName().startsWith("ForkJoinPool"))
                .filter(thread -> !thread.getName().startsWith("VirtualThread"))
                .count();
    }

    private static long count(Path directory) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            return StreamSupport.stream(entries.spliterator(), false).count();
        } catch (NoSuchFileException e) {
            throw new IOException("no /proc here", e);
        }
    }
}
