# shellcheck shell=bash
# several containers, init containers, several shares, a full node: every share is counted, and freed
# shellcheck source=e2e/k8s/lib.sh
. "${here:?}/lib.sh"
with_agent

# shares_of POD: what the kubelet has written down as given to its containers, "container device: number" a line
shares_of() {
    on_node "cat /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint" |
        jq -r --arg uid "$(pod_field "$1" .metadata.uid)" --arg resource "$resource" '
            .Data.PodDeviceEntries[] | select(.PodUID == $uid and .ResourceName == $resource)
            | .ContainerName as $container | [.DeviceIDs | if type == "object" then .[] else . end | .[]]
            | group_by(split("/")[0])[] | "\($container) \(.[0] | split("/")[0]): \(length)"' | sort
}

# scheduled: how many shares the scheduler counts as taken
scheduled() {
    kubectl get pods -o json | jq --arg resource "$resource" '
        [.items[] | select(.status.phase == "Running") | .spec
            | ([.containers[].resources.limits[$resource] // "0" | tonumber] | add) as $main
            | ([.initContainers[]?.resources.limits[$resource] // "0" | tonumber] | max // 0) as $init
            | [$main, $init] | max] | add // 0'
}

# --- containers -----------------------------------------------------------------------------------------------------

kubectl apply -f - >/dev/null <<POD
apiVersion: v1
kind: Pod
metadata: {name: several, labels: {by: e2e}}
spec:
  terminationGracePeriodSeconds: 1
  automountServiceAccountToken: false
  initContainers:
    - {name: init, image: "job:local", command: [ibv_devinfo, -l], resources: {limits: {$resource: 2}}}
  containers:
    - {name: first, image: "job:local", command: [sleep, "1000000"], resources: {limits: {$resource: 1}}}
    - {name: second, image: "job:local", command: [sleep, "1000000"], resources: {limits: {$resource: 3}}}
    - {name: aside, image: "job:local", command: [sleep, "1000000"]}
POD
running several
contains "the init container" "HCA" "$(kubectl logs several -c init)"
shares=$(shares_of several)
# sums CONTAINER: its shares
sums() {
    awk -v name="$1" '$1 == name { sum += $3 } END { print sum + 0 }' <<<"$shares"
}
expect "shares of the init container" 2 "$(sums init)"
expect "shares of the first container" 1 "$(sums first)"
expect "shares of the second container" 3 "$(sums second)"
for container in first second; do
    granted=$(awk -v name=$container '$1 == name { sub(":", "", $2); print $2 }' <<<"$shares")
    expect "devices of $container" "$granted" "$(kubectl exec several -c $container -- ibv_devinfo -l | sed -n 's/^\t//p' | sort)"
done
expect "devices of a container that asks for none" "" "$(kubectl exec several -c aside -- ls /dev/infiniband 2>/dev/null || true)"
say "containers with 1 and 3 shares, an init container with 2: $(paste -sd ',' <<<"$shares" | sed 's/,/, /g')"

pod two 2
running two
expect "devices of a pod with two shares" "$(shares_of two | awk '{ sub(":", "", $2); print $2 }')" \
    "$(in_pod two ibv_devinfo -l | sed -n 's/^\t//p' | sort)"
say "two shares: $(shares_of two | paste -sd ',')"
remove several two

# --- a full node ----------------------------------------------------------------------------------------------------

pod half 200
pod most 199
pod last 1
running half most last
expect "shares taken" 400 "$(scheduled)"
pod too-much 1
waits_for_shares() {
    kubectl get events --field-selector involvedObject.name=too-much,reason=FailedScheduling -o json |
        jq -e --arg text "Insufficient $resource" 'any(.items[]; .message | contains($text))' >/dev/null
}
await 60 "the scheduler says why the 401st share has to wait" waits_for_shares
expect "the 401st" Pending "$(pod_field too-much .status.phase)"
expect "distinct shares" 400 "$({ shares_of half; shares_of most; shares_of last; } | awk '{ sum += $3 } END { print sum }')"
say "400 shares are taken, the 401st is Pending: $(kubectl get events --field-selector involvedObject.name=too-much,reason=FailedScheduling -o jsonpath='{.items[0].message}')"
remove last
running too-much
say "one is deleted, and the waiting one runs"
remove half most too-much
expect "shares taken in the end" 0 "$(scheduled)"

# --- all devices for each container ---------------------------------------------------------------------------------

cat >"$work/all-devices.yaml" <<VALUES
agent: {allocateAllDevices: true}
VALUES
install_agent "$work/all-devices.yaml"
await 120 "$resource: 400 is allocatable" allocatable_is 400
pod all 1
running all
expect "devices in all-devices mode" "erdma_0 erdma_1" "$(in_pod all ibv_devinfo -l | sed -n 's/^\t//p' | sort | paste -sd ' ')"
say "all-devices mode: one share, both devices"
remove all
install_agent
await 120 "$resource: 400 is allocatable" allocatable_is 400
