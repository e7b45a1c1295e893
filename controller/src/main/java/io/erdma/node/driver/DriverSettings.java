package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.util.Optional;

/**
 * What the operator wants of the driver.
 *
 * @param preference absent: the node decides
 * @param manage whether modules may be loaded and unloaded
 * @param installer absent: a missing driver is not installed
 */
public record DriverSettings(Optional<DriverMode> preference, boolean manage, Optional<InstallerSettings> installer) {
    public DriverSettings {
        requireNonNull(preference, "preference is null");
        requireNonNull(installer, "installer is null");
    }
}
