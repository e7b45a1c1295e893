package io.erdma.plugin;

/** How a container's devices are told to the container runtime. */
public enum CdiMode {
    /** As device nodes in the answer to Allocate; works with every kubelet. */
    OFF,
    /** As device nodes and, where the spec file could be written, as names of CDI devices too. */
    ALSO,
    /** As names of CDI devices alone; needs a kubelet from 1.29 and a runtime that reads the spec directory. */
    ONLY
}
