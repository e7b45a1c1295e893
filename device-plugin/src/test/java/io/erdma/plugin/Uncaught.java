package io.erdma.plugin;

import java.lang.Thread.UncaughtExceptionHandler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** What threads died of while it is open, whichever threads; not to be used where tests run side by side. */
final class Uncaught implements UncaughtExceptionHandler, AutoCloseable {
    private final UncaughtExceptionHandler former = Thread.getDefaultUncaughtExceptionHandler();
    private final List<Throwable> deaths = new CopyOnWriteArrayList<>();

    private Uncaught() {
        Thread.setDefaultUncaughtExceptionHandler(this);
    }

    static Uncaught record() {
        return new Uncaught();
    }

    List<Throwable> deaths() {
        return List.copyOf(deaths);
    }

    @Override
    public void uncaughtException(Thread thread, Throwable death) {
        deaths.add(death);
    }

    @Override
    public void close() {
        Thread.setDefaultUncaughtExceptionHandler(former);
    }
}
