# shellcheck shell=bash
# a pod with aliyun/erdma: 1 gets one working device and nothing else; two pods move data, and the agent knows which
# shellcheck source=e2e/k8s/lib.sh
. "${here:?}/lib.sh"
with_agent

# Of three pods at least two share one of the two devices.
pod one 1 '' 'env: [{name: SMCR_PNET, value: of-the-pod}]'
pod two 1
pod three 1
pod without 0
running one two three without

device=$(device_of one)
uverbs=$(on_node ". e2e/roce.sh; uverbs_of $device")
seen=$(in_pod one ibv_devinfo)
contains "ibv_devinfo in the pod" "hca_id:	$device" "$seen"
contains "ibv_devinfo in the pod" "PORT_ACTIVE (4)" "$seen"
expect "erdma devinfo in the pod" "$seen" "$(in_pod one erdma devinfo)"
expect "files in /dev/infiniband" "rdma_cm ${uverbs##*/}" "$(in_pod one ls /dev/infiniband | paste -sd ' ')"
say "$device is ACTIVE in the pod; /dev/infiniband has rdma_cm and ${uverbs##*/}"

# Of the device cgroup, what concerns InfiniBand (major 231): by the kernel's word, and by trying the other device.
minor=$(on_node "stat -c %T $uverbs" | { read -r hex; echo $((16#$hex)); })
expect "uverbs nodes that the device cgroup allows" "c 231:$minor rw" \
    "$(in_pod one grep -E '^[ac] (231|\*):(.*) rw' /sys/fs/cgroup/devices/devices.list)"
other=$((minor == 192 ? 193 : 192))
in_pod one mknod /tmp/other c 231 "$other"
expect "a node of the other device that the pod made itself" 'Operation not permitted' \
    "$(in_pod one sh -c 'exec 3<>/tmp/other' 2>&1 | grep -o 'Operation not permitted' || true)"
say "the device cgroup allows 231:$minor, and refuses 231:$other to a node that the pod makes for it"

say "SMCR_PNET is set by the pod and by the agent: the container has $(in_pod one env | grep ^SMCR_PNET)"
expect "the pod's own value wins" of-the-pod "$(in_pod one env | sed -n 's/^SMCR_PNET=//p')"
expect "without the resource" "" "$(in_pod without ls /dev/infiniband 2>/dev/null || true)"
contains "ibv_devinfo without the resource" "No IB devices found" "$(in_pod without ibv_devinfo 2>&1 || true)"
say "a pod without the resource sees no device"

# --- two pods exchange data -----------------------------------------------------------------------------------------

server=one client=two
[ "$(device_of two)" = "$device" ] || client=three
if [ "$(device_of $client)" != "$device" ]; then
    server=two
    device=$(device_of two)
fi
transfer="ib_write_bw -d $device -x 1 -s 4096 -D 600"
packets_before=$(on_node "cat /sys/class/infiniband/$device/ports/1/hw_counters/sent_pkts")
in_pod $server sh -c "$transfer >/tmp/transfer.log 2>&1 & echo \$! >/tmp/transfer.pid"
# On port 18515, which the kernel's table has in hexadecimal.
server_listens() {
    in_pod $server grep -q ':4853 00000000:0000 0A' /proc/net/tcp 2>/dev/null
}
await 60 "$server waits for its client" server_listens
in_pod $client sh -c "$transfer $(pod_field $server .status.podIP) >/tmp/transfer.log 2>&1 & echo \$! >/tmp/transfer.pid"

# The agent looks every 30 s.
pod_has_queue_pair() {
    [ "$(metric "erdma_pod_queue_pairs\{.*device=\"$device\".*pod=\"$1\"" | paste -sd ' ')" = 1.0 ]
}
await 150 "the metrics show $server's queue pair" pod_has_queue_pair $server
await 150 "the metrics show $client's queue pair" pod_has_queue_pair $client
expect "queue pairs of pods, all but theirs" "" \
    "$(curl -fsS -m 30 "$metrics/metrics" | grep '^erdma_pod_queue_pairs' | grep -v ' 0.0$' | grep -vE "pod=\"($server|$client)\"" || true)"
say "the metrics have a queue pair of $server and one of $client on $device, and no other"
table=$(in_agent erdma stat --pods -d "$device")
for pod in $server $client; do
    contains "erdma stat --pods" "default/$pod/main" "$table"
done
rate=$(in_agent erdma stat -l --count 3 -d "$device" | tail -n 1)
[[ ! $rate =~ ' 0 p/s' ]] || fail "erdma stat -l shows no packets while two pods exchange some: $rate"
say "erdma stat names both pods, and shows $rate"
for pod in $server $client; do
    # shellcheck disable=SC2016 # the pod's own
    in_pod "$pod" sh -c 'kill -INT $(cat /tmp/transfer.pid)'
done
packets=$(($(on_node "cat /sys/class/infiniband/$device/ports/1/hw_counters/sent_pkts") - packets_before))
[ "$packets" -gt 1000 ] || fail "the kernel counted only $packets packets"
say "the kernel counted $packets packets"

remove one two three without
