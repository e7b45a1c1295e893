# shellcheck shell=bash
# Sourced by e2e.sh and by every scenario: what a scenario is told in.
#   $work   this run's directory      $out   where logs and findings go       $here   e2e/k8s
set -euo pipefail
: "${work:?}" "${out:?}" "${here:?}" "${project:?}"
readonly namespace=ack-erdma-controller
readonly resource=aliyun/erdma
readonly metrics=http://10.0.2.15:9470

say() {
    echo "#   $*"
}

fail() {
    echo "# $*" >&2
    return 1
}

# await SECONDS WHAT COMMAND...: until COMMAND succeeds; fails, telling what did not happen. The machine is emulated and
# ten times slower than a real one, so limits are wide.
await() {
    local limit=$1 what=$2 end
    shift 2
    end=$((SECONDS + limit))
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "still not after $limit s: $what" || return 1
        sleep 0.3
    done
}

# expect WHAT EXPECTED ACTUAL
expect() {
    [ "$2" = "$3" ] || fail "$1: expected [$2], and it is [$3]"
}

# contains WHAT PART TEXT
contains() {
    [[ $3 == *"$2"* ]] || fail "$1: [$2] is not in [$3]"
}

# --- the node -------------------------------------------------------------------------------------------------------

# on_node COMMAND...: runs it as root on the node, from the project's directory; its output and exit code are ours.
on_node() {
    local code answer=$work/on-node.$BASHPID
    # The last line that comes back is the exit code.
    printf '( set -euo pipefail; cd %q; %s ) </dev/null 2>&1; printf "\\n%%d\\n" $?; exit\n' "$project" "$*" |
        socat -t 86400 - TCP:10.0.2.15:2222 >"$answer" || fail "the node does not answer" || return 1
    code=$(tail -n 1 "$answer")
    head -n -1 "$answer" | sed '$ { /^$/ d }'
    rm -f "$answer"
    return "${code:-1}"
}

# node COMMAND...: of node.sh
node() {
    on_node "e2e/k8s/node.sh $*"
}

node_answers() {
    node_runs || { fail "the machine has ended; see $out/node.log"; exit 1; }
    [ "$(on_node 'echo here' 2>/dev/null)" = here ]
}

node_runs() {
    kill -0 "$(<"$work/vm.pid")" 2>/dev/null
}

node_ready() {
    node_runs || { fail "the machine has ended; see $out/node.log"; exit 1; }
    kubectl get node node1 -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null | grep -qx True
}

# node_up [VM-OPTION...]: boots the machine; a former one's disk is found again.
node_up() {
    mkdir -p "$out/node"
    "$project/e2e/vm.sh" -t 7200 -m 5120 -o "$out/node" -d "$work/node.disk" -f 10.0.2.15:10250 -f 10.0.2.15:9470 \
        -f 10.0.2.15:2222 "$@" "$here/node.sh" boot "$work/control-plane/node.conf" "$KUBERNETES_BIN" \
        >>"$out/node.log" 2>&1 &
    echo $! >"$work/vm.pid"
    await 600 "the node answers" node_answers
    await 600 "the node is Ready" node_ready
}

# node_power_cut: without a word to anyone; what the node had told its disk is there.
node_power_cut() {
    local pid
    pid=$(<"$work/vm.pid")
    on_node sync
    kill "$pid"
    await 30 "the machine has ended" vm_ended "$pid"
}

vm_ended() {
    ! kill -0 "$1" 2>/dev/null
}

# --- what the cluster says ------------------------------------------------------------------------------------------

allocatable() {
    kubectl get node node1 -o json | jq -r --arg resource "$resource" '.status.allocatable[$resource] // "none"'
}

allocatable_is() {
    [ "$(allocatable)" = "$1" ]
}

# pod_field POD JQ
pod_field() {
    kubectl get pod "$1" -o json | jq -r "$2"
}

pod_is() {
    [ "$(kubectl get pod "$1" -o jsonpath='{.status.phase}' 2>/dev/null)" = "$2" ]
}

pod_ready() {
    [ "$(kubectl get pod "$1" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null)" = True ]
}

pod_gone() {
    ! kubectl get pod "$1" -o name >/dev/null 2>&1
}

# agent_pods: names of the agent's pods that are not about to end.
agent_pods() {
    kubectl -n "$namespace" get pods -o json |
        jq -r '.items[] | select(.metadata.deletionTimestamp == null)
            | select(any(.metadata.ownerReferences[]?; .kind == "DaemonSet")) | .metadata.name'
}

agent_ready() {
    kubectl -n "$namespace" get daemonset -o json |
        jq -e '.items | length > 0 and all(.metadata.generation == .status.observedGeneration
            and .status.desiredNumberScheduled == 1 and .status.numberReady == 1
            and .status.updatedNumberScheduled == 1)' >/dev/null
}

# in_agent COMMAND...: in the agent's container. Its command line does not read the agent's settings.
in_agent() {
    kubectl -n "$namespace" exec "$(agent_pods)" -- "$@"
}

# in_pod POD COMMAND...
in_pod() {
    local pod=$1
    shift
    kubectl exec "$pod" -- "$@"
}

# device_of POD: the one device that it sees
device_of() {
    in_pod "$1" ibv_devinfo -l | sed -n 's/^\t//p'
}

# metric PATTERN: values of the agent's metrics whose line begins with the (extended regular) PATTERN
metric() {
    curl -fsS -m 30 "$metrics/metrics" | grep -E "^$1" | sed 's/.* //'
}

# --- what a scenario does -------------------------------------------------------------------------------------------

# pod NAME SHARES [COMMAND [FIELD]]: creates a pod that asks for so many shares (0: none) and runs COMMAND in a shell;
# without, it just stays. FIELD is one more field of its container. Its image has the RDMA tools and `erdma`.
pod() {
    local limits='{}'
    [ "$2" -eq 0 ] || limits="{$resource: $2}"
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
      command: [/bin/sh, -c, $(jq -n --arg command "${3:-exec sleep 1000000}" '$command')]
      resources: {limits: $limits}
      ${4:-}
POD
}

# running POD...: waits until they are
running() {
    local pod
    for pod in "$@"; do
        await 300 "pod $pod is Running" pod_is "$pod" Running
    done
}

# remove POD...: deletes them, and waits until they are gone
remove() {
    local pod
    kubectl delete pod --wait=false "$@" >/dev/null
    for pod in "$@"; do
        await 120 "pod $pod is gone" pod_gone "$pod"
    done
}

# install_agent [VALUES.yaml...]: as `helm template … | kubectl apply` does; waits until the DaemonSet is ready.
# shellcheck disable=SC2120
install_agent() {
    render "$@" >"$work/agent.yaml"
    kubectl create namespace "$namespace" --dry-run=client -o yaml | kubectl apply -f - >/dev/null
    kubectl apply -n "$namespace" -f "$work/agent.yaml" >"$out/apply.log"
    await 600 "the agent's DaemonSet is ready" agent_ready
}

render() {
    "$project/build/render-chart.sh" --kube-version="${KUBE_VERSION:-$(kubelet --version | sed 's/.* v//')}" \
        "$here/values.yaml" "$@"
}

# with_agent: the agent serves both devices, installed by a former scenario or now.
with_agent() {
    # shellcheck disable=SC2119 # the values of every scenario
    agent_ready || install_agent
    await 120 "$resource: 400 is allocatable" allocatable_is 400
}

# --- pods that come and go ------------------------------------------------------------------------------------------

agent_serves() {
    curl -fsS -m 5 -o /dev/null "$metrics/readyz" 2>/dev/null
}

# kubelet_restart: until the agent is registered again, and one more pod of the churn has come and gone.
kubelet_restart() {
    local since
    since=$(date +%s)
    echo "$since" >>"$work/unregistered"
    node kubelet restart
    await 120 "the agent is registered with the new kubelet" agent_serves
    sed -i "\$ s/.*/$since $(date +%s)/" "$work/unregistered"
    await 180 "one more pod has run" churn_goes_on "$(wc -l <"$out/churn.txt")"
}

churn_goes_on() {
    [ "$(wc -l <"$out/churn.txt")" -gt "$1" ]
}

# churn_start: from now on a pod with one share is made and deleted, again and again, until churn_stop, which fails if one
# of them did. Between a kubelet's start and the plugin's registration it refuses new pods, whatever a plugin does, and
# the pod's owner makes another: that is counted as refused.
churn_start() {
    rm -f "$work/churn.stop"
    : >"$work/unregistered"
    churn >"$out/churn.txt" &
    echo $! >"$work/churn.pid"
}

churn() {
    local number=0 name phase
    while [ ! -e "$work/churn.stop" ]; do
        number=$((number + 1))
        name=churn-$number
        phase=Pending
        pod "$name" 1 || phase=none
        until [ "$phase" != Pending ]; do
            sleep 0.3
            phase=$(kubectl get pod "$name" -o jsonpath='{.status.phase}') || phase=Pending
        done
        if [ "$phase" = Running ]; then
            echo "ran $name"
        elif [ "$(pod_field "$name" .status.reason)" = UnexpectedAdmissionError ] && was_unregistered; then
            echo "refused $name"
        else
            echo "failed $name: $(pod_field "$name" '.status.reason + ": " + .status.message')"
        fi
        kubectl delete pod "$name" --wait=false >/dev/null
    done
}

# was_unregistered: the agent is not registered with the kubelet, or was not up to three seconds ago
was_unregistered() {
    tail -n 1 "$work/unregistered" | awk -v now="$(date +%s)" '{ known = 1; good = NF == 1 || now <= $2 + 3 } END { exit !(known && good) }'
}

churn_stop() {
    touch "$work/churn.stop"
    wait "$(<"$work/churn.pid")"
    ! grep ^failed "$out/churn.txt" || fail "pods failed, though the agent was registered"
    grep -q ^ran "$out/churn.txt" || fail "no pod ran"
}

churn_ran() {
    grep -c ^ran "$out/churn.txt"
}

churn_refused() {
    grep -c ^refused "$out/churn.txt" || true
}

# gather DIRECTORY: everything that tells why something failed.
gather() {
    local name
    mkdir -p "$1"
    kubectl get nodes,pods,daemonsets,events -A -o yaml >"$1/cluster.yaml" 2>&1 || true
    kubectl describe nodes,pods -A >"$1/describe.txt" 2>&1 || true
    for name in $(agent_pods); do
        kubectl -n "$namespace" logs "$name" >"$1/$name.log" 2>&1 || true
        kubectl -n "$namespace" logs -p "$name" >"$1/$name.previous.log" 2>&1 || true
    done
    curl -fsS -m 20 "$metrics/metrics" >"$1/metrics.txt" 2>&1 || true
    { on_node 'dmesg; docker ps -a; rdma link; ip address; ip route' || true; } >"$1/node.txt" 2>&1
}
