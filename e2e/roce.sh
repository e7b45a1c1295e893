# shellcheck shell=bash
# Sourced inside the machine of vm.sh: soft-RoCE devices erdma_0 on eth1, erdma_1 on eth2, and ways to disturb them.
# Every wait is on a condition. The machine is emulated and about ten times slower than the host, so limits are wide.

# wait_for SECONDS WHAT COMMAND...: until COMMAND succeeds; tells what did not happen otherwise.
wait_for() {
    local limit=$1 what=$2 end
    shift 2
    end=$((SECONDS + limit))
    until "$@"; do
        if [ $SECONDS -ge $end ]; then
            echo "# still not after $limit s: $what" >&2
            return 1
        fi
        read -rt 0.05 <> <(:) || true
    done
}

# netdev_of DEVICE: the card of erdma_N is eth(N+1).
netdev_of() {
    echo "eth$((${1##*_} + 1))"
}

port_is() {
    local state
    state=$(cat "/sys/class/infiniband/$1/ports/1/state" 2>/dev/null) && [ "${state#*: }" = "$2" ]
}

uverbs_of() {
    local entry
    for entry in /sys/class/infiniband_verbs/uverbs*/ibdev; do
        if [ "$(cat "$entry" 2>/dev/null)" = "$1" ]; then
            entry=${entry%/ibdev}
            echo "/dev/infiniband/${entry##*/}"
            return 0
        fi
    done
    return 1
}

has_uverbs() {
    local node
    node=$(uverbs_of "$1") && [ -c "$node" ]
}

device_add() {
    rdma link add "$1" type rxe netdev "$(netdev_of "$1")"
    wait_for 30 "$1 has its uverbs node" has_uverbs "$1"
}

device_delete() {
    rdma link delete "$1"
}

device_rename() {
    rdma dev set "$1" name "$2"
}

link_down() {
    ip link set "$(netdev_of "$1")" down
    wait_for 10 "$1 is DOWN" port_is "$1" DOWN
}

link_up() {
    ip link set "$(netdev_of "$1")" up
    wait_for 10 "$1 is ACTIVE" port_is "$1" ACTIVE
}

roce_up() {
    local device netdev
    modprobe rdma_rxe
    modprobe rdma_ucm
    for device in erdma_0 erdma_1; do
        netdev=$(netdev_of "$device")
        # The machine's user network answers router solicitations, which would give the device another GID at any time.
        echo 0 > "/proc/sys/net/ipv6/conf/$netdev/accept_ra"
        ip addr add "192.168.7${netdev#eth}.2/24" dev "$netdev"
        ip link set "$netdev" up
        device_add "$device"
        wait_for 30 "$device is ACTIVE" port_is "$device" ACTIVE
    done
    wait_for 10 "rdma_cm exists" test -c /dev/infiniband/rdma_cm
}
