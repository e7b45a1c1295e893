#!/bin/bash
# Inside the machine of vm.sh: a Kubernetes node with dockerd and a kubelet, and the devices of roce.sh.
#   node.sh boot NODE_CONF BINARIES [POLICY]   becomes that node; serves on_node of lib.sh until the machine ends
#   node.sh kubelet start | stop | restart     its process
#   node.sh kubelet topology POLICY            restarts it with another policy of its Topology Manager
#   node.sh runtime restart                    dockerd, and with it all containers
#   node.sh cards bare | addressed             eth1 and eth2 as nobody has set them up yet, or as roce.sh leaves them
#   node.sh modules unload | load              those of soft-RoCE and of libibverbs, with the devices
#   node.sh agent kill | memory                SIGKILL; its largest resident and cgroup sizes, in KiB
# /var/lib/docker and /var/lib/kubelet are on the disk, and survive the machine. Logs go to $VM_OUT.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=e2e/roce.sh
. "$project/e2e/roce.sh"

out=${VM_OUT:-/run/vm-out}
run=/run/node

mount_cgroups() {
    local controller
    mount -t tmpfs cgroup /sys/fs/cgroup
    for controller in cpu,cpuacct cpuset memory devices freezer blkio pids; do
        mkdir -p "/sys/fs/cgroup/$controller"
        mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller"
    done
    ln -s cpu,cpuacct /sys/fs/cgroup/cpu
    ln -s cpu,cpuacct /sys/fs/cgroup/cpuacct
    mkdir -p /sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
}

mount_disk() {
    local name
    mkdir -p /mnt/disk
    mount -t ext4 /dev/vda /mnt/disk
    for name in docker kubelet; do
        mkdir -p "/mnt/disk/$name" "/var/lib/$name"
        mount --bind "/mnt/disk/$name" "/var/lib/$name"
    done
    # A pod's mounts are to be seen by the host, and the host's by pods.
    mount --make-rshared /
}

primary_up() {
    ip address add 10.0.2.15/24 dev eth0
    ip link set eth0 up
    ip route add default via 10.0.2.2 dev eth0 proto dhcp src 10.0.2.15 metric 100
    # What kube-proxy does for the one service that an agent needs.
    local chain
    for chain in PREROUTING OUTPUT; do
        iptables -t nat -A "$chain" -d 10.96.0.1 -p tcp --dport 443 -j DNAT --to-destination 10.0.2.2:6443
    done
    iptables -t nat -A POSTROUTING -s 172.17.0.0/16 ! -d 172.17.0.0/16 -j MASQUERADE
    echo 1 >/proc/sys/net/ipv4/ip_forward
}

# running NAME: its process is alive.
running() {
    [ -r "$run/$1.pid" ] && kill -0 "$(<"$run/$1.pid")" 2>/dev/null
}

not_running() {
    ! running "$1"
}

stop() {
    if running "$1"; then
        kill "$(<"$run/$1.pid")"
        wait_for 60 "$1 has ended" not_running "$1"
    fi
    rm -f "$run/$1.pid"
}

# start NAME COMMAND...: a daemon of its own, apart from the connection that asked for it.
start() {
    local name=$1
    shift
    setsid "$@" >>"$out/$name.log" 2>&1 </dev/null &
    echo $! >"$run/$name.pid"
}

runtime_up() {
    docker version >/dev/null 2>&1
}

runtime_start() {
    rm -f /var/run/docker.pid
    start dockerd dockerd --storage-driver=overlay2 --iptables=false --exec-opt native.cgroupdriver=cgroupfs
    wait_for 180 "dockerd answers" runtime_up
}

kubelet_config() {
    cat >"$run/kubelet.yaml" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
failSwapOn: false
cpuManagerPolicy: static
topologyManagerPolicy: $1
kubeReserved: {cpu: 200m}
evictionHard: {memory.available: "50Mi"}
maxPods: 250
CONFIG
}

kubelet_healthy() {
    curl -fsS -m 5 -o /dev/null http://127.0.0.1:10248/healthz 2>/dev/null
}

kubelet_start() {
    start kubelet "$run/bin/kubelet" --kubeconfig="$run/node.conf" --config="$run/kubelet.yaml" --root-dir=/var/lib/kubelet \
        --cert-dir="$run/pki" --hostname-override=node1 --node-ip=10.0.2.15 --pod-infra-container-image=pause:local --v=2
    wait_for 120 "the kubelet is healthy" kubelet_healthy
}

# kubelet_topology POLICY: another policy of the Topology Manager, which the kubelet refuses to change over its state.
kubelet_topology() {
    stop kubelet
    rm -f /var/lib/kubelet/cpu_manager_state
    kubelet_config "$1"
    kubelet_start
}

boot() {
    local module
    mkdir -p "$run/pki"
    ln -s "$1" "$run/node.conf"
    ln -s "$2" "$run/bin"
    hostname node1
    printf '127.0.0.1 localhost\n10.0.2.15 node1\n' >/etc/hosts
    for module in virtio_blk ext4 bridge br_netfilter veth overlay ip_tables iptable_nat xt_conntrack xt_MASQUERADE; do
        modprobe "$module"
    done
    mount_cgroups
    mount_disk
    primary_up
    roce_up
    runtime_start
    # The kubelet does not start over CPUs that it placed pods on while there were fewer or more.
    if [ "$(cat /mnt/disk/processors 2>/dev/null)" != "$(nproc)" ]; then
        rm -f /var/lib/kubelet/cpu_manager_state
        nproc >/mnt/disk/processors
    fi
    kubelet_config "${3:-best-effort}"
    kubelet_start
    echo "node: kubelet and dockerd run, $SECONDS s after the kernel gave over"
    exec socat -t 86400 TCP-LISTEN:2222,bind=10.0.2.15,reuseaddr,fork EXEC:/bin/bash
}

cards() {
    local device netdev
    for device in erdma_0 erdma_1; do
        netdev=$(netdev_of "$device")
        ip address flush dev "$netdev"
        if [ "$1" = bare ]; then
            link_down "$device"
        else
            ip address add "192.168.7${netdev#eth}.2/24" dev "$netdev"
            link_up "$device"
        fi
    done
}

# A module goes when its last user has let go of it.
modules_unloaded() {
    modprobe -r rdma_rxe rdma_ucm ib_uverbs 2>/dev/null || true
    ! grep -qE '^(rdma_rxe|rdma_ucm|ib_uverbs) ' /proc/modules
}

modules_unload() {
    local device
    for device in erdma_0 erdma_1; do
        device_delete "$device"
    done
    wait_for 60 "the modules are unloaded" modules_unloaded
}

modules_load() {
    local device
    modprobe rdma_rxe
    modprobe rdma_ucm
    for device in erdma_0 erdma_1; do
        device_add "$device"
    done
}

agent_pid() {
    docker inspect -f '{{.State.Pid}}' "$(docker ps -q --filter label=io.kubernetes.container.name=agent)"
}

agent_memory() {
    local pid group
    pid=$(agent_pid)
    group=$(sed -n 's/^[0-9]*:memory://p' "/proc/$pid/cgroup")
    echo "$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status")" \
        "$(($(<"/sys/fs/cgroup/memory$group/memory.max_usage_in_bytes") / 1024))"
}

command=$1
shift
case $command in
    boot) boot "$@" ;;
    kubelet)
        case $1 in
            start) kubelet_start ;;
            stop) stop kubelet ;;
            restart)
                stop kubelet
                kubelet_start
                ;;
            topology) kubelet_topology "$2" ;;
        esac
        ;;
    runtime)
        stop dockerd
        runtime_start
        ;;
    cards) cards "$1" ;;
    modules) "modules_$1" ;;
    agent)
        case $1 in
            kill) kill -KILL "$(agent_pid)" ;;
            memory) agent_memory ;;
        esac
        ;;
    *)
        echo "node.sh: unknown: $command" >&2
        exit 64
        ;;
esac
