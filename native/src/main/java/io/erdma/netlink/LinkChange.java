package io.erdma.netlink;

/** One notification about links. */
public sealed interface LinkChange {
    record Changed(Link link) implements LinkChange {}

    record Removed(int index, String name) implements LinkChange {}

    /** The kernel dropped notifications (ENOBUFS): read all links anew. */
    record Lost() implements LinkChange {}
}
