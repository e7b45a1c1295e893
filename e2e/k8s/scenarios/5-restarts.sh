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

agent_serves() {
    curl -fsS -m 5 -o /dev/null "$metrics/readyz" 2>/dev/null
}

# Each keeper can really open its device.
keepers_have_devices() {
    local name
    for name in "${keepers[@]}"; do
        contains "ibv_devinfo in $name" "PORT_ACTIVE (4)" "$(in_pod "$name" ibv_devinfo)"
    done
}

# --- pods come and go while the kubelet restarts --------------------------------------------------------------------

# Between a kubelet's start and the plugin's registration it refuses new pods with devices, whatever a plugin does; the
# pod's owner makes another. Such a refusal is counted; any other, or one later, is a failure.
windows=$work/windows
: >"$windows"
churn() {
    local number=0 name phase now
    while [ ! -e "$work/churn.stop" ]; do
        number=$((number + 1))
        name=churn-$number
        pod "$name" 1 || { echo "failed $name cannot be created"; return; }
        phase=Pending
        until [ "$phase" = Running ] || [ "$phase" = Failed ]; do
            sleep 0.3
            phase=$(kubectl get pod "$name" -o jsonpath='{.status.phase}') || phase=Pending
        done
        now=$(date +%s)
        if [ "$phase" = Running ]; then
            echo "ran $name"
        elif [ "$(pod_field "$name" .status.reason)" = UnexpectedAdmissionError ] && awk -v now="$now" '
            { last = $0 } END { split(last, at, " "); exit !(at[1] && (!at[2] || now <= at[2] + 3)) }' "$windows"; then
            echo "refused $name"
        else
            echo "failed $name: $(pod_field "$name" '.status.reason + ": " + .status.message')"
        fi
        kubectl delete pod "$name" --wait=false >/dev/null
    done
}
rm -f "$work/churn.stop"
churn >"$out/churn.txt" &
churning=$!

before=$(containers)
start=$SECONDS
for _ in $(seq "$restarts"); do
    since=$(date +%s)
    echo "$since" >>"$windows"
    on_node "e2e/k8s/node.sh kubelet restart"
    await 120 "the agent is registered with the new kubelet" agent_serves
    sed -i "\$ s/.*/$since $(date +%s)/" "$windows"
done
touch "$work/churn.stop"
wait "$churning"
await 120 "$resource: 400 is allocatable" allocatable_is 400
expect "the long-running pods" "$before" "$(containers)"
await 60 "the long-running pods are Ready" keepers_run
! grep ^failed "$out/churn.txt" || fail "pods failed, though the agent was registered"
ran=$(grep -c ^ran "$out/churn.txt") || fail "no pod ran during the restarts"
say "$restarts kubelet restarts in $((SECONDS - start)) s: $ran pods ran, $(grep -c ^refused "$out/churn.txt" || true) were refused before the agent could register; 3 long-running pods are as they were"

# --- the agent ------------------------------------------------------------------------------------------------------

agent=$(agent_pods)
agent_restarted() {
    [ "$(kubectl -n "$namespace" get pod "$agent" -o jsonpath='{.status.containerStatuses[0].restartCount}')" -gt "$1" ] && agent_ready
}
count=$(kubectl -n "$namespace" get pod "$agent" -o jsonpath='{.status.containerStatuses[0].restartCount}')
start=$SECONDS
# shellcheck disable=SC2016 # the node's own
on_node 'kill -KILL "$(docker inspect -f "{{.State.Pid}}" "$(docker ps -q --filter label=io.kubernetes.container.name=agent)")"'
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
on_node "e2e/k8s/node.sh runtime restart"
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
