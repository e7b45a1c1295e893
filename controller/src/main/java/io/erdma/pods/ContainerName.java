package io.erdma.pods;

import static java.util.Objects.requireNonNull;

/** A container as Kubernetes names it. */
public record ContainerName(String namespace, String pod, String container) {
    public ContainerName {
        requireNonNull(namespace, "namespace is null");
        requireNonNull(pod, "pod is null");
        requireNonNull(container, "container is null");
    }

    public PodName podName() {
        return new PodName(namespace, pod);
    }

    @Override
    public String toString() {
        return namespace + "/" + pod + "/" + container;
    }

    /** A pod as Kubernetes names it. */
    public record PodName(String namespace, String pod) {
        public PodName {
            requireNonNull(namespace, "namespace is null");
            requireNonNull(pod, "pod is null");
        }

        @Override
        public String toString() {
            return namespace + "/" + pod;
        }
    }
}
