package io.erdma.node.log;

/** How log lines are written. */
public enum LogFormat {
    TEXT,
    JSON
}
