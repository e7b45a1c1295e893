# shellcheck shell=bash
# five minutes of pods that come and go, a flapping link and kubelet restarts: no leak, no wrong count
# shellcheck source=e2e/k8s/lib.sh
. "${here:?}/lib.sh"
with_agent

agent=$(agent_pods)
restarts=$(kubectl -n "$namespace" get pod "$agent" -o jsonpath='{.status.containerStatuses[0].restartCount}')
# resources: open files and threads of the agent; its sockets and threads differ by a few from moment to moment
resources() {
    curl -fsS -m 30 "$metrics/metrics" | awk '
        /^process_files_open_files / { files = $2 } /^process_open_fds / { files = $2 } /^jvm_threads_live_threads / { threads = $2 }
        END { printf "%d %d\n", files, threads }'
}
read -r files threads < <(resources)

churn_start
end=$((SECONDS + ${E2E_CHURN_SECONDS:-300}))
flaps=0 kubelets=0
while [ $SECONDS -lt $end ]; do
    # Only one device's link, so that there is always a healthy share for a new pod.
    for _ in 1 2 3; do
        on_node '. e2e/roce.sh; link_down erdma_1; link_up erdma_1'
        flaps=$((flaps + 1))
    done
    kubelet_restart
    kubelets=$((kubelets + 1))
done
churn_stop
await 120 "$resource: 400 is allocatable" allocatable_is 400
expect "the agent's pod" "$agent $restarts" "$(agent_pods) $(kubectl -n "$namespace" get pod "$agent" -o jsonpath='{.status.containerStatuses[0].restartCount}')"
pod whole 400
running whole
remove whole
read -r files_after threads_after < <(resources)
[ "$files_after" -le $((files + 8)) ] || fail "the agent had $files open files and has $files_after"
[ "$threads_after" -le $((threads + 4)) ] || fail "the agent had $threads threads and has $threads_after"
read -r resident peak < <(node agent memory)
say "$flaps link flaps, $kubelets kubelet restarts; open files $files, then $files_after; threads $threads, then $threads_after"
say "$(churn_ran) pods ran, 0 failures, $(churn_refused) refused before the agent could register; peak memory of the agent: $((resident / 1024)) MiB resident, $((peak / 1024)) MiB in its cgroup"
