package io.erdma.verbs;

import io.erdma.libc.NativeException;
import java.io.PrintStream;

/**
 * A program for tests that need a process of its own: loads the library named by its first argument, prints each device
 * and what opening it answers, one line each, or the one line of why there is no library (status 3).
 */
final class Discover {
    private Discover() {}

    public static void main(String[] arguments) throws NativeException {
        PrintStream out = System.out;
        try {
            Verbs verbs = Verbs.load(arguments[0]);
            for (VerbsDevice device : verbs.devices()) {
                out.println(device);
                try (VerbsContext context = verbs.open(device.name())) {
                    out.println(context.queryPort(1).state());
                } catch (NativeException e) {
                    out.println(e.getMessage());
                }
            }
        } catch (VerbsUnavailableException e) {
            out.println(e.getMessage());
            System.exit(3);
        }
    }
}
