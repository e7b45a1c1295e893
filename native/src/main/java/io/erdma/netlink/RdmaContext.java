package io.erdma.netlink;

import java.util.OptionalLong;

/**
 * One open verbs context: a process that opened a device and got its context from the driver.
 *
 * @param pid as this process's pid namespace knows it; absent where that does not contain the process
 */
public record RdmaContext(int deviceIndex, long number, OptionalLong pid) {}
