# shellcheck shell=bash
# Sourced by e2e.sh: etcd and Kubernetes' control plane on loopback, in the network namespace of this run. Everything
# lies below $work/control-plane; the processes end with the namespace of processes that they were started in.

# Where the machine reaches the host's loopback, and where the node sends packets for the service "kubernetes".
: "${work:?}" "${out:?}"
readonly api_from_node=https://10.0.2.2:6443

make_certificates() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=e2e-ca -keyout ca.key -out ca.crt
    openssl req -newkey rsa:2048 -nodes -subj /CN=kube-apiserver -keyout apiserver.key -out apiserver.csr
    openssl x509 -req -in apiserver.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -out apiserver.crt \
        -extfile <(echo subjectAltName=DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.0.2.2,IP:10.96.0.1)
    openssl genrsa -out service-account.key 2048
    openssl rsa -in service-account.key -pubout -out service-account.pub
}

# kubeconfig FILE SERVER TOKEN
kubeconfig() {
    cat >"$1" <<CONFIG
apiVersion: v1
kind: Config
clusters: [{name: e2e, cluster: {server: "$2", certificate-authority: "$pki/ca.crt"}}]
users: [{name: me, user: {token: "$3"}}]
contexts: [{name: e2e, context: {cluster: e2e, user: me}}]
current-context: e2e
CONFIG
}

api_ready() {
    kubectl get --raw /readyz >/dev/null 2>&1
}

default_account() {
    kubectl get serviceaccount default >/dev/null 2>&1
}

control_plane_up() {
    local home=$work/control-plane logs=$out/control-plane
    pki=$home/pki
    mkdir -p "$home/etcd" "$pki" "$logs"
    (cd "$pki" && make_certificates) >"$logs/certificates.log" 2>&1

    # The node is what a real one is to the API server: a member of system:nodes, restricted to its own objects.
    cat >"$pki/tokens.csv" <<TOKENS
admin-token,admin,1,"system:masters"
node1-token,system:node:node1,2,"system:nodes"
TOKENS
    kubeconfig "$home/admin.conf" https://127.0.0.1:6443 admin-token
    kubeconfig "$home/node.conf" "$api_from_node" node1-token
    export KUBECONFIG=$home/admin.conf

    etcd --data-dir "$home/etcd" --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
        --listen-peer-urls http://127.0.0.1:2380 >"$logs/etcd.log" 2>&1 &
    kube-apiserver --etcd-servers=http://127.0.0.1:2379 --service-cluster-ip-range=10.96.0.0/16 --secure-port=6443 \
        --bind-address=127.0.0.1 --advertise-address=10.0.2.2 --kubelet-preferred-address-types=InternalIP \
        --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" \
        --token-auth-file="$pki/tokens.csv" --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
        --service-account-key-file="$pki/service-account.pub" \
        --service-account-signing-key-file="$pki/service-account.key" \
        --service-account-issuer=https://kubernetes.default --allow-privileged=true >"$logs/apiserver.log" 2>&1 &
    await 120 "the API server is ready" api_ready
    kube-controller-manager --kubeconfig="$home/admin.conf" --root-ca-file="$pki/ca.crt" \
        --service-account-private-key-file="$pki/service-account.key" --cert-dir="$home" --bind-address=127.0.0.1 \
        --use-service-account-credentials --leader-elect=false >"$logs/controller-manager.log" 2>&1 &
    kube-scheduler --kubeconfig="$home/admin.conf" --cert-dir="$home" --bind-address=127.0.0.1 --leader-elect=false \
        >"$logs/scheduler.log" 2>&1 &
    await 60 "the default service account exists" default_account
}
