package io.erdma.node.driver;

import java.util.Locale;

/** In which mode the driver runs, as far as the kernel tells. */
public enum ModeInForce {
    NOT_LOADED,
    /** Loaded, and without the parameter that would tell, as the kernel's own erdma. */
    UNKNOWN,
    DEFAULT,
    COMPAT,
    OFED;

    /** Compat and ofed look the same to the kernel: it is then the one that is preferred, and compat otherwise. */
    static ModeInForce of(DriverModule module, DriverMode preferred) {
        return switch (module) {
            case DriverModule.Absent _, DriverModule.Changing _ -> NOT_LOADED;
            case DriverModule.Loaded loaded when loaded.compatMode().isEmpty() -> UNKNOWN;
            case DriverModule.Loaded loaded when !loaded.compatMode().get() -> DEFAULT;
            case DriverModule.Loaded _ -> preferred == DriverMode.OFED ? OFED : COMPAT;
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
