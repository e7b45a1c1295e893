# shellcheck shell=bash
# a port goes down: its shares leave the node, running pods stay, new ones wait; it comes back
# shellcheck source=e2e/k8s/lib.sh
. "${here:?}/lib.sh"
with_agent

pod stays 1
running stays
device=$(device_of stays)
other=erdma_$((1 - ${device#erdma_}))
identity=$(pod_field stays '.metadata.uid + " " + .status.containerStatuses[0].containerID')

# took DEVICE UP-OR-DOWN SHARES: sets the link, and prints how long the Node object took to have so many shares. The kubelet
# writes it every 10 s; what it admits follows the agent at once.
took() {
    local start
    on_node ". e2e/roce.sh; link_$2 $1"
    start=$(date +%s%N)
    await 120 "$resource: $3 is allocatable" allocatable_is "$3"
    say "$1 $2: $resource is $3 in the Node object after $((($(date +%s%N) - start) / 100000000))00 ms"
}

took "$device" down 200
expect "the capacity stays" 400 "$(kubectl get node node1 -o json | jq -r --arg resource "$resource" '.status.capacity[$resource]')"
took "$other" down 0
pod waits 1
waits_for_shares() {
    kubectl get events --field-selector involvedObject.name=waits,reason=FailedScheduling -o json |
        jq -e --arg text "Insufficient $resource" 'any(.items[]; .message | contains($text))' >/dev/null
}
await 60 "the scheduler says why the new pod waits" waits_for_shares
expect "the new pod" Pending "$(pod_field waits .status.phase)"
expect "the running pod" "$identity" "$(pod_field stays '.metadata.uid + " " + .status.containerStatuses[0].containerID')"
expect "the running pod" Running "$(pod_field stays .status.phase)"
say "the running pod goes on, the new one is Pending: Insufficient $resource"

took "$other" up 200
running waits
took "$device" up 400
contains "ibv_devinfo in the pod that stayed" "PORT_ACTIVE (4)" "$(in_pod stays ibv_devinfo)"
remove stays waits
