package io.erdma.pods;

import io.erdma.pods.ContainerName.PodName;
import java.util.Optional;

/** Whose process it is. */
public sealed interface Owner {
    record Named(ContainerName name) implements Owner {}

    /** @param pod where at least that is known */
    record Unnamed(ContainerId id, Optional<PodName> pod) implements Owner {}

    /** A process outside pods. */
    record Host() implements Owner {}
}
