/**
 * The command line {@code erdma}. Each command gathers records in one class (a reader), turns them into text in pure
 * ones (formats), and writes that text once.
 */
package io.erdma.cli;
