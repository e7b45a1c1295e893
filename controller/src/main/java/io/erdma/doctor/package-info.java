/**
 * What {@code erdma doctor} decides: facts of a node or a pod, gathered once, are judged by checks in the order of the
 * operator's path. All of it is pure; who gathers the facts and prints the report is {@code io.erdma.cli}.
 */
package io.erdma.doctor;
