# shellcheck shell=bash
# an ERdmaDevice object written by hand: bad ones are refused, the agent sets up what it names and follows its changes
# shellcheck source=e2e/k8s/lib.sh
. "${here:?}/lib.sh"
agent_ready || install_agent

# erdmadevice DEVICE...: the object that names the cards of these devices
erdmadevice() {
    local device devices=()
    for device in "$@"; do
        devices+=("{instanceID: i-e2e, mac: \"52:54:00:00:01:0$((${device#erdma_} + 1))\", id: eni-${device//_/}, queuePair: 100}")
    done
    cat <<OBJECT
apiVersion: network.alibabacloud.com/v1
kind: ERdmaDevice
metadata: {name: node1}
spec:
  devices: [$(IFS=,; echo "${devices[*]}")]
OBJECT
}

# --- bad objects ----------------------------------------------------------------------------------------------------

# refused PART SED: the object that SED makes of a good one is refused, and the answer names PART
refused() {
    local answer
    if answer=$(erdmadevice erdma_0 | sed "$2" | kubectl apply -f - 2>&1); then
        fail "the API server took an object with a wrong $1"
    fi
    contains "the API server's answer" "$1" "$answer"
}
refused 'spec.devices.mac' 's/mac: "[^"]*"/mac: "52:54:00"/'
refused 'spec.devices.id' 's/id: eni-/id: eri-/'
refused 'spec.devices.queuePair' 's/queuePair: 100/queuePair: -1/'
refused 'spec' '/spec:/,$ d'
say "the API server refuses objects with a wrong mac, id or queuePair, and without spec"

# --- the node as an instance with two ERIs that nobody has set up ---------------------------------------------------

coproc METADATA { exec "$project/build/test-main.sh" io.erdma.lab.MetadataService 10.0.2.2 \
    52:54:00:00:00:01=10.0.2.15 52:54:00:00:01:01=10.0.2.21 52:54:00:00:01:02=10.0.2.22; }
read -r port <&"${METADATA[0]}"
node cards bare
primary() {
    on_node 'ip -4 address show dev eth0; ip route show dev eth0 | grep -v "proto 217"; ip route get 10.0.2.99; ip route get 198.51.100.7' |
        grep -v valid_lft
}
before=$(primary)
cat >"$work/object.yaml" <<VALUES
config: {localERIDiscovery: false, externalController: true}
agent: {metadataAddress: "http://10.0.2.2:$port"}
VALUES
install_agent "$work/object.yaml"
offers_nothing() {
    case $(allocatable) in 0 | none) true ;; *) false ;; esac
}
await 120 "nothing is offered without an object" offers_nothing
say "no object: $resource is $(allocatable)"

# set_up DEVICE...: the agent has set up these devices' cards. One that is named no longer stays as it is, for the pods that
# run; `erdma cleanup` takes it back.
set_up() {
    local device with_routes
    with_routes=$(on_node 'ip -4 route show proto 217')
    for device in "$@"; do
        [[ $with_routes == *"dev eth$((${device#erdma_} + 1)) "* ]] || return 1
    done
}
# follows SHARES DEVICE...: the object names these devices, and the node follows
follows() {
    local start=$SECONDS shares=$1
    shift
    erdmadevice "$@" | kubectl apply -f - >/dev/null
    await 120 "the cards of $* are set up" set_up "$@"
    await 120 "$resource: $shares is allocatable" allocatable_is "$shares"
    expect "the primary interface" "$before" "$(primary)"
    say "the object names $*: $resource is $shares after $((SECONDS - start)) s"
}
follows 200 erdma_0
expect "the routes of eth1" "default via 10.0.2.2 dev eth1 src 10.0.2.21 metric 200
10.0.2.0/24 dev eth1 scope link src 10.0.2.21 metric 200" "$(on_node 'ip -4 route show proto 217 | sed "s/ *$//" | LC_ALL=C sort -r')"
say "$(on_node 'ip -4 route show proto 217' | paste -sd ';'); the primary is as it was"
follows 400 erdma_0 erdma_1
pod named 1
running named
remove named
follows 200 erdma_1
kubectl delete erdmadevice node1 >/dev/null
await 120 "nothing is offered any more" offers_nothing
expect "the primary interface" "$before" "$(primary)"
say "the object is deleted: $resource is $(allocatable), the primary is as it was"

# --- back to what it was --------------------------------------------------------------------------------------------

kubectl -n "$namespace" delete -f "$work/agent.yaml" --ignore-not-found >/dev/null 2>&1
on_node 'ip route flush proto 217'
node cards addressed
kill "$METADATA_PID"
