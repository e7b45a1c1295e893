#!/bin/bash
# pair.sh up | down: RDMA devices erdma_2 and erdma_3 whose traffic really goes over a wire between them. They sit on the
# ends of a veth pair, named so that roce.sh's rule finds them. Both ends are in one network namespace, where a packet to
# the other end's address would never leave the machine: a rule that comes before the table of local addresses sends it
# out, and the receiving end is told to accept packets from an address of its own machine.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=e2e/roce.sh
. "$project/e2e/roce.sh"

first=192.168.79.1 second=192.168.79.2

mac_of() {
    cat "/sys/class/net/$1/address"
}

up() {
    local netdev
    modprobe veth
    ip link add eth3 type veth peer name eth4
    for netdev in eth3 eth4; do
        echo 0 > "/proc/sys/net/ipv6/conf/$netdev/accept_ra"
        echo 1 > "/proc/sys/net/ipv4/conf/$netdev/accept_local"
        echo 0 > "/proc/sys/net/ipv4/conf/$netdev/rp_filter"
        ip link set "$netdev" up
    done
    ip addr add "$first/24" dev eth3
    ip addr add "$second/24" dev eth4
    ip neigh replace "$second" lladdr "$(mac_of eth4)" dev eth3 nud permanent
    ip neigh replace "$first" lladdr "$(mac_of eth3)" dev eth4 nud permanent
    ip route add "$second" dev eth3 table 103
    ip route add "$first" dev eth4 table 104
    ip rule add pref 3 lookup local
    ip rule add pref 1 iif lo from "$first" to "$second" lookup 103
    ip rule add pref 2 iif lo from "$second" to "$first" lookup 104
    ip rule del pref 0
    device_add erdma_2
    device_add erdma_3
    wait_for 30 "erdma_2 is ACTIVE" port_is erdma_2 ACTIVE
    wait_for 30 "erdma_3 is ACTIVE" port_is erdma_3 ACTIVE
}

down() {
    local pref
    for device in erdma_2 erdma_3; do
        device_delete "$device" 2>/dev/null || true
    done
    ip rule add pref 0 lookup local 2>/dev/null || true
    for pref in 1 2 3; do
        ip rule del pref "$pref" 2>/dev/null || true
    done
    ip link delete eth3 2>/dev/null || true
}

case ${1:-} in
    up | down) "$1" ;;
    *)
        echo "usage: pair.sh up | down" >&2
        exit 64
        ;;
esac
