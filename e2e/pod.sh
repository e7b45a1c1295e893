#!/bin/bash
# pod.sh DEVICE COMMAND [ARGUMENT...]: runs COMMAND as in a pod that was granted DEVICE alone. In a mount namespace of its
# own, /dev/infiniband holds that device's node and rdma_cm; sysfs shows all devices, as it does in a pod.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=e2e/roce.sh
. "$project/e2e/roce.sh"

if [ "${1:-}" = --inside ]; then
    shift
    mount -t tmpfs -o mode=755 pod /dev/infiniband
    # Each node is PATH:MAJOR:MINOR.
    for node in $1; do
        IFS=: read -r path major minor <<< "$node"
        mknod -m 666 "$path" c "$major" "$minor"
    done
    shift
    exec "$@"
fi

[ $# -ge 2 ] || { echo "usage: pod.sh DEVICE COMMAND [ARGUMENT...]" >&2; exit 64; }
granted=''
for node in "$(uverbs_of "$1")" /dev/infiniband/rdma_cm; do
    # stat gives both numbers in hexadecimal.
    granted+="$node:$(stat -c '0x%t:0x%T' "$node") "
done
shift
exec unshare --mount --propagation private "${BASH_SOURCE[0]}" --inside "$granted" "$@"
