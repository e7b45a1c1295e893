package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

/** Whether the host has a module erdma for its running kernel. */
public sealed interface ModuleFile {
    /** @param choosesMode whether it has the parameter compat_mode, which the kernel's own erdma lacks */
    record Found(boolean choosesMode) implements ModuleFile {}

    /** There is none. */
    record Missing() implements ModuleFile {}

    /** The host could not be asked. */
    record Unknown(String reason) implements ModuleFile {
        public Unknown {
            requireNonNull(reason, "reason is null");
        }
    }
}
