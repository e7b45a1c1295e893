# shellcheck shell=bash
# kubelet, agent, container runtime and node restart while pods come and go: no pod is lost
# shellcheck source=e2e/k8s/lib.sh
. "${here:?}/lib.sh"
with_agent

restarts=20
[ -z "${short:-}" ] || restarts=10

keepers=(keeper-1 keeper-2 keeper-3)
pod keeper-1 1
pod keeper-2 2
pod keeper-3 100
running "${keepers[@]}"

# containers: name, uid and container of each keeper; a container that was started anew is another
containers() {
    kubectl get pods "${keepers[@]}" -o json |
        jq -r '.items[] | .metadata.name + " " + .metadata.uid + " " + .status.containerStatuses[0].containerID'
}

uids() {
    containers | cut -d ' ' -f 1,2
}

keepers_run() {
    local name
    for name in "${keepers[@]}"; do
        pod_ready "$name" || return 1
    done
}

# Each keeper can really open its device.
keepers_have_devices() {
    local name
    for name in "${keepers[@]}"; do
        contains "ibv_devinfo in $name" "PORT_ACTIVE (4)" "$(in_pod "$name" ibv_devinfo)"
    done
}

# --- pods come and go while the kubelet restarts --------------------------------------------------------------------

churn_start
before=$(containers)
start=$SECONDS
for _ in $(seq "$restarts"); do
    kubelet_restart
done
churn_stop
await 120 "$resource: 400 is allocatable" allocatable_is 400
expect "the long-running pods" "$before" "$(containers)"
await 60 "the long-running pods are Ready" keepers_run
say "$restarts kubelet restarts in $((SECONDS - start)) s: $(churn_ran) pods ran, $(churn_refused) were refused before the agent could register; 3 long-running pods are as they were"

# --- the agent ------------------------------------------------------------------------------------------------------

agent=$(agent_pods)
agent_restarted() {
    [ "$(kubectl -n "$namespace" get pod "$agent" -o jsonpath='{.status.containerStatuses[0].restartCount}')" -gt "$1" ] && agent_ready
}
count=$(kubectl -n "$namespace" get pod "$agent" -o jsonpath='{.status.containerStatuses[0].restartCount}')
start=$SECONDS
node agent kill
await 300 "the killed agent is back" agent_restarted "$count"
await 120 "$resource: 400 is allocatable" allocatable_is 400
expect "the long-running pods" "$before" "$(containers)"
say "agent killed: back after $((SECONDS - start)) s, the long-running pods did not notice"

start=$SECONDS
kubectl -n "$namespace" patch daemonset "$(kubectl -n "$namespace" get daemonset -o jsonpath='{.items[0].metadata.name}')" \
    -p '{"spec": {"template": {"metadata": {"annotations": {"e2e": "updated"}}}}}' >/dev/null
agent_updated() {
    agent_ready && [ -n "$(agent_pods)" ] && [ "$(agent_pods)" != "$agent" ]
}
await 300 "the agent's new pod is ready" agent_updated
await 120 "$resource: 400 is allocatable" allocatable_is 400
expect "the long-running pods" "$before" "$(containers)"
say "agent updated by its DaemonSet: ready after $((SECONDS - start)) s"

# --- the container runtime ------------------------------------------------------------------------------------------

# All containers end with it; the kubelet starts them again, in the same pods.
all_restarted() {
    keepers_run && agent_ready && ! containers | grep -qxFf <(echo "$before")
}
pods=$(uids)
start=$SECONDS
node runtime restart
await 400 "all pods run again" all_restarted
await 120 "$resource: 400 is allocatable" allocatable_is 400
expect "the long-running pods" "$pods" "$(uids)"
keepers_have_devices
say "container runtime restarted: all pods run again after $((SECONDS - start)) s, with their devices"

# --- the node -------------------------------------------------------------------------------------------------------

if [ -z "${short:-}" ]; then
    before=$(containers)
    start=$SECONDS
    node_power_cut
    # shellcheck disable=SC2119 # as before
    node_up
    await 600 "all pods run again" all_restarted
    await 120 "$resource: 400 is allocatable" allocatable_is 400
    expect "the long-running pods" "$pods" "$(uids)"
    keepers_have_devices
    pod new 1
    running new
    remove new
    say "node lost power and booted: all pods run again after $((SECONDS - start)) s, admitted from the kubelet's checkpoint (a kubelet 1.20)"
fi

expect "pods that failed" "" "$(kubectl get pods -l by=e2e -o json | jq -r '.items[] | select(.status.phase == "Failed") | .metadata.name')"
remove "${keepers[@]}"
kubectl delete pods -l by=e2e --wait=false >/dev/null
