package io.erdma.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContainerIdTest {
    private static final String UID = "5f3c2a10-9b7e-4c1d-8a2f-0123456789ab";
    private static final String ID = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

    /** Each the line of a process in the pod and container above; U is the UID with underscores, C the container's id. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                // cgroup 2; kubelet and containerd by systemd: the three classes of service
                "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podU.slice/cri-containerd-C.scope",
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podU.slice/cri-containerd-C.scope",
                "0::/kubepods.slice/kubepods-podU.slice/cri-containerd-C.scope",
                // the same with groups of the container's own, as systemd in it makes them
                "0::/kubepods.slice/kubepods-podU.slice/cri-containerd-C.scope/init.scope",
                // the same, asked from a container with a cgroup namespace of its own
                "0::/../../kubepods-burstable-podU.slice/cri-containerd-C.scope",
                "0::/../../../kubepods-podU.slice/cri-containerd-C.scope",
                // cgroup 2; kubelet and runtime by cgroupfs
                "0::/kubepods/burstable/pod$/C",
                "0::/kubepods/pod$/C",
                "0::/../../pod$/C",
                // cgroup 1 by cgroupfs, any runtime
                "11:memory:/kubepods/besteffort/pod$/C",
                "4:cpu,cpuacct:/kubepods/burstable/pod$/C",
                // cgroup 1 by systemd
                "9:devices:/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podU.slice/docker-C.scope",
                "1:name=systemd:/kubepods.slice/kubepods-podU.slice/cri-containerd-C.scope",
                // the kubelet by systemd, containerd not
                "7:pids:/system.slice/containerd.service/kubepods-burstable-podU.slice:cri-containerd:C",
                "0::/system.slice/containerd.service/kubepods-podU.slice:cri-containerd:C",
                // CRI-O, and with a group below
                "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podU.slice/crio-C.scope",
                "0::/kubepods.slice/kubepods-podU.slice/crio-C.scope/container",
                // a node that is a container itself
                "0::/docker/dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd/kubelet.slice"
                        + "/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice"
                        + "/kubelet-kubepods-burstable-podU.slice/cri-containerd-C.scope",
                "0::/kubelet/kubepods/besteffort/pod$/C",
                // docker by cgroupfs behind cri-dockerd
                "3:cpuset:/kubepods/besteffort/pod$/C",
            })
    void knowsTheContainerInEachRuntimesForm(String form) {
        String line = form.replace("U", UID.replace('-', '_')).replace("$", UID).replace("C", ID);
        assertThat(ContainerId.ofCgroup("12:hugetlb:/\n" + line + "\n")).contains(new ContainerId(UID, ID));
    }

    @Test
    void knowsAStaticPodByItsUidWithoutDashes() {
        String uid = "0123456789abcdef0123456789abcdef";
        assertThat(ContainerId.ofCgroup("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uid
                        + ".slice/cri-containerd-" + ID + ".scope"))
                .contains(new ContainerId(uid, ID));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0::/",
                "0::/system.slice/kubelet.service",
                "0::/user.slice/user-0.slice/session-1.scope",
                // a container outside Kubernetes
                "0::/system.slice/docker-C.scope",
                "9:devices:/docker/C",
                // a pod's group itself, and CRI-O's helper beside the container
                "0::/kubepods.slice/kubepods-podU.slice",
                "0::/kubepods.slice/kubepods-podU.slice/crio-conmon-C.scope",
                // not ids
                "0::/kubepods/podnothing/C",
                "0::/kubepods/pod$/short",
                "0::/kubepods/tripod$/C",
                "kubepods/pod$/C",
            })
    void knowsNoContainerOutsidePods(String form) {
        String line = form.replace("U", UID.replace('-', '_')).replace("$", UID).replace("C", ID);
        assertThat(ContainerId.ofCgroup(line)).isEmpty();
    }

    @Property
    void survivesAnyText(@ForAll String text) {
        assertThatCode(() -> ContainerId.ofCgroup(text)).doesNotThrowAnyException();
    }
}
