package io.erdma.verbs;

import java.util.Optional;

/**
 * One filled slot of a port's GID table.
 *
 * @param index slot number
 * @param ifindex interface that the GID belongs to; 0 when unknown
 */
public record GidEntry(Gid gid, int index, int port, Type type, int ifindex) {
    /** The numbers are those of {@code enum ibv_gid_type}. */
    public enum Type {
        IB,
        ROCE_V1,
        ROCE_V2;

        /** Empty for a number that this release doesn't know. */
        static Optional<Type> of(int number) {
            return switch (number) {
                case 0 -> Optional.of(IB);
                case 1 -> Optional.of(ROCE_V1);
                case 2 -> Optional.of(ROCE_V2);
                default -> Optional.empty();
            };
        }
    }
}
