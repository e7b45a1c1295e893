# shellcheck shell=bash
# the RDMA modules are unloaded and loaded under the running agent; an uninstalled agent leaves nothing behind
# shellcheck source=e2e/k8s/lib.sh
. "${here:?}/lib.sh"
with_agent

agent=$(agent_pods)
restarts=$(kubectl -n "$namespace" get pod "$agent" -o jsonpath='{.status.containerStatuses[0].restartCount}')
start=$SECONDS
node modules unload
await 120 "$resource: 0 is allocatable" allocatable_is 0
say "rdma_rxe, rdma_ucm and ib_uverbs are unloaded: $resource is 0 after $((SECONDS - start)) s; still loaded: $(on_node 'grep -oE "^(ib|rdma)_[a-z]+" /proc/modules | paste -sd " "')"
start=$SECONDS
node modules load
await 120 "$resource: 400 is allocatable" allocatable_is 400
expect "the agent's pod" "$agent" "$(agent_pods)"
expect "restarts of the agent" "$restarts" "$(kubectl -n "$namespace" get pod "$agent" -o jsonpath='{.status.containerStatuses[0].restartCount}')"
pod after 1
running after
contains "ibv_devinfo" "PORT_ACTIVE (4)" "$(in_pod after ibv_devinfo)"
remove after
say "loaded again: $resource is 400 after $((SECONDS - start)) s, by the same process"

# --- uninstalled, as Helm does it: everything is deleted, then the hooks of post-delete run -------------------------

start=$SECONDS
kubectl -n "$namespace" delete -f "$work/agent.yaml" --wait=false >/dev/null 2>&1
agent_gone() {
    [ -z "$(kubectl -n "$namespace" get pods -o name)" ]
}
await 120 "the agent's pod is gone" agent_gone
render --hooks >"$work/hooks.yaml"
kubectl -n "$namespace" apply -f "$work/hooks.yaml" >>"$out/apply.log"
job_done() {
    [ "$(kubectl -n "$namespace" get jobs -o jsonpath='{.items[0].status.succeeded}')" = 1 ]
}
await 400 "the hook that waits for clean nodes succeeds" job_done
kubectl -n "$namespace" delete -f "$work/hooks.yaml" --wait=false >/dev/null 2>&1
await 120 "the hooks' pods are gone" agent_gone
say "uninstalled and cleaned up in $((SECONDS - start)) s"

expect "sockets in the kubelet's directory" kubelet.sock \
    "$(on_node 'find /var/lib/kubelet/device-plugins -type s -printf "%f\n"')"
expect "CDI specifications" "" "$(on_node 'find /var/run/cdi /etc/cdi -type f 2>/dev/null || true')"
expect "routes of the agent" "" "$(on_node 'ip route show proto 217 table all; ip -6 route show proto 217 table all')"
expect "labels, annotations, taints and finalizers of ours" '' "$(kubectl get node node1 -o json | jq -r '
    .metadata | [(.labels // {} | keys[]), (.annotations // {} | keys[]), (.finalizers // [])[]] | map(select(test("erdma|aliyun|alibaba")))[]')"
expect "conditions of ours" '' "$(kubectl get node node1 -o json | jq -r '.status.conditions[].type | select(test("rdma"; "i"))')"
expect "objects in the namespace" '' "$(kubectl -n "$namespace" get daemonsets,pods,jobs -o name)"
expect "what can be allocated" 0 "$(allocatable)"
say "no socket, CDI specification, route, label, condition or finalizer is left; the kubelet itself drops the resource some minutes later"
