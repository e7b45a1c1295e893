#!/bin/bash
# e2e.sh [--short] [SCENARIO...]: proves the agent on a real kubelet and a real API server. Scenarios are chosen by number
# (default: all; --short: 1, 2 and a short form of 5); each prints one line. Results in target/e2e/e2e.tap, logs beside it.
#   KUBERNETES_BIN   kubelet, kube-apiserver, kubectl, … to use (default: those that build/kubernetes.sh makes)
#   E2E_KEEP=1       leaves everything running after the last scenario, until Ctrl-C
#
# All of it runs in a network and a process namespace of its own: it meets no port of the machine's, and no process
# outlives it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
cd "$project"
export LAB=${LAB:-$project/.lab}
[ "${1:-}" = --inside ] || "$project/build/kubernetes.sh"
KUBERNETES_BIN=${KUBERNETES_BIN:-$LAB/kubernetes/bin}
out=$project/target/e2e
export KUBERNETES_BIN project here out
export PATH=$KUBERNETES_BIN:$PATH

if [ "${1:-}" != --inside ]; then
    rm -rf "$out"
    mkdir -p "$out"
    work=$(mktemp -d "${TMPDIR:-/tmp}/erdma-e2e.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    export work
    # Whatever the chart's renderer needs from outside is fetched now.
    "$project/build/render-chart.sh" "$here/values.yaml" >/dev/null
    "$here/disk.sh" "$work/node.disk"
    # unshare passes no signal on; with it ends the first process in there, and with that all others. It does so even when
    # this shell is killed outright.
    setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc "${BASH_SOURCE[0]}" --inside "$@" &
    inside=$!
    trap 'kill -KILL "$inside"; wait "$inside" || true; exit 143' INT TERM HUP
    wait "$inside" || exit
    exit 0
fi

shift
# kubectl's cache of what the API server has is this run's.
export HOME=$work
export short=''
if [ "${1:-}" = --short ]; then
    short=yes
    shift
    [ $# -gt 0 ] || set -- 1 2 5
fi
[ $# -gt 0 ] || set -- 1 2 3 4 5 8 7 9 6

# shellcheck source=e2e/k8s/lib.sh
. "$here/lib.sh"
# shellcheck source=e2e/k8s/control-plane.sh
. "$here/control-plane.sh"

result() {
    echo "$*" | tee -a "$out/e2e.tap"
}

ip link set lo up
# The node's address, so that the API server reaches the kubelet by it: QEMU listens there. The machine takes a packet
# from its own address for a stray one, so what goes there comes from loopback's, which QEMU presents as 10.0.2.2.
ip address add 10.0.2.15/32 dev lo
ip route replace local 10.0.2.15 dev lo table local src 127.0.0.1
control_plane_up
echo "# the control plane is ready after $SECONDS s"
# shellcheck disable=SC2119 # options come later
node_up
echo "# the node is Ready after $SECONDS s"

failed=0
for number in "$@"; do
    scenario=$(echo "$here/scenarios/$number"-*.sh)
    [ -r "$scenario" ] || { echo "e2e: there is no scenario $number" >&2; exit 64; }
    title=$(sed -n '2s/^# //p' "$scenario")
    start=$SECONDS
    if bash "$scenario" 2>&1; then
        result "ok $number - $title ($((SECONDS - start)) s)"
    else
        result "not ok $number - $title ($((SECONDS - start)) s)"
        failed=$((failed + 1))
        gather "$out/failed-$number"
        # The next one begins anew.
        { kubectl -n "$namespace" delete daemonsets --all && kubectl delete pods -l by=e2e --wait=false &&
            kubectl delete erdmadevices --all && node cards addressed; } >"$out/failed-$number/reset.log" 2>&1 || true
    fi
done
echo "e2e: $(($# - failed)) passed, $failed failed, in $SECONDS s; logs are in $out"
if [ -n "${E2E_KEEP:-}" ]; then
    echo "e2e: left running; work=$work"
    wait
fi
[ "$failed" -eq 0 ]
