package io.erdma.node.kube;

/**
 * What became of what there was to tell, since the start.
 *
 * @param written requests that wrote an Event
 * @param heldBack occurrences that had to wait for their turn, or were counted in an Event that waited
 * @param dropped occurrences that nobody will read of
 */
public record EventCounts(long written, long heldBack, long dropped) {}
