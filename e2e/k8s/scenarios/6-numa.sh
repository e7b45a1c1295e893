# shellcheck shell=bash
# two NUMA nodes: the Topology Manager puts a pod's CPUs and its device on the same one
# shellcheck source=e2e/k8s/lib.sh
. "${here:?}/lib.sh"

node_power_cut
node_up -N
node kubelet topology single-numa-node
with_agent
expect "NUMA nodes of the cards" "0 1" "$(on_node 'cat /sys/class/net/eth1/device/../numa_node /sys/class/net/eth2/device/../numa_node' | paste -sd ' ')"

# guaranteed NAME CPUS: a pod with CPUs of its own and one share
guaranteed() {
    kubectl apply -f - >/dev/null <<POD
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {by: e2e}}
spec:
  terminationGracePeriodSeconds: 1
  automountServiceAccountToken: false
  containers:
    - name: main
      image: job:local
      command: [sleep, "1000000"]
      resources: {limits: {cpu: "$2", memory: 64Mi, $resource: 1}}
POD
}

# place POD: the NUMA node of its device, then those of its CPUs; 0 and 1 are on the first node, 2 and 3 on the second
place() {
    local device cpus
    device=$(device_of "$1")
    cpus=$(in_pod "$1" sed -n 's/^Cpus_allowed_list:\t//p' /proc/1/status)
    echo "device ${device#erdma_}, cpus $(on_node "for cpu in \$(echo $cpus | tr ',-' '  '); do cat /sys/devices/system/cpu/cpu\$cpu/topology/physical_package_id; done" | sort -u | paste -sd '+')"
}

# One CPU is the system's, so that two free ones are left on only one of the NUMA nodes.
both_aligned() {
    local two one
    guaranteed two-cpus 2
    running two-cpus
    guaranteed one-cpu 1
    running one-cpu
    two=$(place two-cpus) one=$(place one-cpu)
    say "$1: two CPUs: $two; one CPU: $one"
    expect "place of the pod with two CPUs" "device ${two: -1}, cpus ${two: -1}" "$two"
    expect "place of the pod with one CPU" "device ${one: -1}, cpus ${one: -1}" "$one"
    [ "$one" != "$two" ] || fail "both are on the same NUMA node"
    remove two-cpus one-cpu
}
both_aligned single-numa-node

guaranteed three-cpus 3
await 120 "three CPUs on one NUMA node are refused" pod_is three-cpus Failed
expect "why" TopologyAffinityError "$(pod_field three-cpus .status.reason)"
say "single-numa-node: three CPUs are on no single node: $(pod_field three-cpus .status.reason)"
remove three-cpus

node kubelet topology best-effort
await 120 "the node is Ready" node_ready
await 120 "$resource: 400 is allocatable" allocatable_is 400
both_aligned best-effort
guaranteed three-cpus 3
running three-cpus
say "best-effort: three CPUs run anyway: $(place three-cpus)"
remove three-cpus
