# shellcheck shell=bash
# the chart is installed: its pod is Ready, aliyun/erdma is 200 for each device, and `erdma doctor` agrees
# shellcheck source=e2e/k8s/lib.sh
. "${here:?}/lib.sh"

before=$(kubectl get node node1 -o json | jq -S --arg resource "$resource" '.status.allocatable | del(.[$resource])')
install_agent
say "the agent's pod is Ready: $(agent_pods)"
expect "what its service account may do is what the chart grants, and no more" no \
    "$(kubectl auth can-i delete nodes --as="system:serviceaccount:$namespace:$(kubectl -n "$namespace" get pod "$(agent_pods)" -o jsonpath='{.spec.serviceAccountName}')" || true)"

await 120 "$resource: 400 is allocatable" allocatable_is 400
after=$(kubectl get node node1 -o json | jq -S --arg resource "$resource" '.status.allocatable | del(.[$resource])')
expect "the node's other resources" "$before" "$after"
expect "the node's capacity" 400 "$(kubectl get node node1 -o json | jq -r --arg resource "$resource" '.status.capacity[$resource]')"
say "$resource: 400 beside $(jq -c '{cpu, memory, pods}' <<<"$after")"

# Warnings are the machine's: its limits of locked memory, and no metadata service. This kubelet does not tell what it can
# allocate (since 1.23 it does), so that may be unseen.
report=$(in_agent erdma doctor --json || true)
printf '%s\n' "$report" >"${out:?}/doctor.json"
expect "what the doctor finds wrong" '[]' "$(jq -c '[.findings[] | select(.verdict == "fail") | .title]' <<<"$report")"
for check in rdma-devices kubelet-socket agent; do
    expect "the doctor's check $check" '"pass"' "$(jq -c --arg check "$check" '[.findings[] | select(.check == $check) | .verdict] | unique[]' <<<"$report")"
done
say "erdma doctor: $(jq -r '.summary | "\(.failed) failed, \(.warnings) warnings, \(.passed) passed, \(.notSeen) not looked at"' <<<"$report")"
