package io.erdma.cli;

import io.erdma.doctor.Facts.Vantage;
import io.erdma.doctor.Side;
import java.util.List;

/** Decides whether the doctor looks at a node or stands in a pod. Pure. */
final class VantageRule {
    private VantageRule() {}

    /**
     * @param asked whether --inside-pod was given
     * @param kubeletDirectory whether the kubelet's directory is here
     * @param uverbs names of the uverbs nodes that the kernel made
     * @param present those of them that are in /dev/infiniband
     * @param inCluster whether the kubelet's variables are in the environment
     */
    static Vantage decide(
            boolean asked, boolean kubeletDirectory, List<String> uverbs, List<String> present, boolean inCluster) {
        if (asked) {
            return new Vantage(Side.POD, "asked for by --inside-pod");
        }
        if (kubeletDirectory) {
            return new Vantage(Side.NODE, "the kubelet's directory is here");
        }
        if (!present.isEmpty() && present.size() < uverbs.size()) {
            return new Vantage(
                    Side.POD,
                    "/dev/infiniband has " + String.join(", ", present) + " of the node's "
                            + String.join(", ", uverbs));
        }
        if (inCluster) {
            return new Vantage(Side.POD, "KUBERNETES_SERVICE_HOST is set, and the kubelet's directory is not here");
        }
        return new Vantage(Side.NODE, "nothing here looks like a pod");
    }
}
