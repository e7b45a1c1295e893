package io.erdma.cli;

import io.erdma.libc.Terminal;
import io.erdma.node.AgentMain;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.util.List;

/** The program {@code erdma}. */
public final class ErdmaMain {
    private ErdmaMain() {}

    public static void main(String[] args) {
        List<String> arguments = List.of(args);
        if (!arguments.isEmpty() && arguments.getFirst().equals("agent")) {
            // Its arguments untouched, and without the classes of the command line, which it would carry all its life.
            AgentMain.run(arguments.subList(1, arguments.size()));
            return;
        }
        System.exit(run(
                arguments,
                new Console(
                        new FileOutputStream(FileDescriptor.out),
                        new FileOutputStream(FileDescriptor.err),
                        () -> Terminal.isTerminal(Terminal.STANDARD_OUTPUT))));
    }

    /** @return what the process should end with */
    static int run(List<String> arguments, Console console) {
        try {
            return ErdmaCommand.commandLine(console).execute(arguments.toArray(String[]::new));
        } catch (Error e) {
            // picocli passes on exceptions alone; a class or native stub that can't be loaded is an Error.
            return ErdmaCommand.internalError(e, console);
        }
    }
}
