package io.erdma.node.driver;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** How the erdma driver presents its devices, in the words of the setting {@code preferDriver}. */
public enum DriverMode {
    /** iWARP: connections are made by RDMA_CM. */
    DEFAULT(false),
    /** Like RoCE: peers tell each other their queue pairs themselves. */
    COMPAT(true),
    /** As compat, on OFED's RDMA core, whose modules smc does not go with. */
    OFED(true);

    private final boolean compatMode;

    DriverMode(boolean compatMode) {
        this.compatMode = compatMode;
    }

    /** What the module's parameter compat_mode has to be. */
    public boolean compatMode() {
        return compatMode;
    }

    /** Modules that are good to have beside the driver; eRDMA works without them. */
    public List<String> companions() {
        return switch (this) {
            case DEFAULT -> List.of("ib_uverbs", "rdma_ucm", "smc");
            case COMPAT -> List.of("ib_uverbs", "smc", "nvidia_peermem");
            case OFED -> List.of("ib_uverbs", "nvidia_peermem");
        };
    }

    /** Without a preference, the node decides: what trains on GPUs needs OFED's way of registering their memory. */
    public static DriverMode of(Optional<DriverMode> preference, boolean gpuDriver) {
        return preference.orElse(gpuDriver ? OFED : DEFAULT);
    }

    /** As it is written in settings and messages. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
