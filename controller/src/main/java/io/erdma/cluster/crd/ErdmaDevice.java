package io.erdma.cluster.crd;

import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/**
 * The eRDMA interfaces that a node is to have, as a controller or a person writes them down: one object for each node,
 * of the node's name, without a namespace. Its class follows our spelling, its kind the Go controller's.
 */
@Group(ErdmaNames.GROUP)
@Version(ErdmaNames.VERSION)
@Kind(ErdmaNames.KIND)
@Plural(ErdmaNames.PLURAL)
public class ErdmaDevice extends CustomResource<ErdmaDeviceSpec, ErdmaDeviceStatus> {
    private static final long serialVersionUID = 1L;
}
