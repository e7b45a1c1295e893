package io.erdma.cluster.crd;

/** Names on the wire, which the Go controller has given. */
public final class ErdmaNames {
    public static final String GROUP = "network.alibabacloud.com";
    public static final String VERSION = "v1";
    public static final String KIND = "ERdmaDevice";
    public static final String PLURAL = "erdmadevices";

    private ErdmaNames() {}
}
