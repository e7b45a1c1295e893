package io.erdma.pods;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Of {@code /proc/PID/status}.
 *
 * @param process whose thread it is; its own number for that of a process
 * @param name of the program, at most 15 characters
 * @param stopped by a signal or a debugger
 * @param mayLockMemory has CAP_IPC_LOCK, before which no limit of locked memory holds
 */
public record ProcessStatus(long process, String name, boolean stopped, boolean mayLockMemory) {
    private static final Pattern NAME = Pattern.compile("(?m)^Name:\\s*(.*)$");
    private static final Pattern PROCESS = Pattern.compile("(?m)^Tgid:\\s*([1-9][0-9]{0,9})$");
    private static final Pattern STATE = Pattern.compile("(?m)^State:\\s*([A-Za-z])");
    private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s*([0-9a-fA-F]{1,16})$");
    private static final int CAP_IPC_LOCK = 14;

    /** @param pid of the process or thread whose file it is */
    static ProcessStatus parse(long pid, String text) {
        Matcher process = PROCESS.matcher(text);
        Matcher name = NAME.matcher(text);
        Matcher state = STATE.matcher(text);
        Matcher capabilities = CAPABILITIES.matcher(text);
        return new ProcessStatus(
                process.find() ? Long.parseLong(process.group(1)) : pid,
                name.find() ? name.group(1) : "",
                state.find() && (state.group(1).equals("T") || state.group(1).equals("t")),
                capabilities.find() && ((Long.parseUnsignedLong(capabilities.group(1), 16) >>> CAP_IPC_LOCK) & 1) == 1);
    }

    /** The program that every Kubernetes distribution keeps a pod's namespaces open with. */
    boolean isPause() {
        return name.equals("pause");
    }
}
