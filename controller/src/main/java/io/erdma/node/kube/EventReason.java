package io.erdma.node.kube;

/** Why an Event is written. The names on the wire are what people search and alert by, so they stay. */
public enum EventReason {
    DEVICE_UNHEALTHY("ErdmaDeviceUnhealthy", true),
    /** A device works again, or is offered again. */
    DEVICE_HEALTHY("ErdmaDeviceHealthy", false),
    /** A device was offered and is no longer. */
    DEVICE_WITHDRAWN("ErdmaDeviceWithdrawn", true),
    DRIVER_SWITCH_PENDING("ErdmaDriverSwitchPending", true),
    DRIVER_SWITCHED("ErdmaDriverSwitched", false),
    /** The driver can't be brought into its mode. */
    DRIVER_FAILED("ErdmaDriverFailed", true),
    INTERFACE_NOT_SET_UP("ErdmaInterfaceNotSetUp", true),
    /** A pod asked for eRDMA and does not use it; said once of a pod. */
    NOT_USED("ErdmaNotUsed", true);

    private final String wire;
    private final boolean warning;

    EventReason(String wire, boolean warning) {
        this.wire = wire;
        this.warning = warning;
    }

    /** As the API has it: {@code ErdmaDeviceUnhealthy}. */
    public String wire() {
        return wire;
    }

    /** The API's two types: Warning where somebody has to look, else Normal. */
    String type() {
        return warning ? "Warning" : "Normal";
    }

    /** Whether it is said once of an object, however long it stays so. */
    boolean once() {
        return this == NOT_USED;
    }
}
