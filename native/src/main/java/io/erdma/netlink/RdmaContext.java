package io.erdma.netlink;

import java.util.OptionalLong;

/**
 * One open verbs context: a process that opened a device and got its context from the driver.
 *
 * @param thread that opened it, as this process's pid namespace knows it; that of a process with one thread is its pid.
 *     Absent where the namespace does not contain it, and when that thread has ended, though the process lives on
 */
public record RdmaContext(int deviceIndex, long number, OptionalLong thread) {}
