#!/bin/bash
# disk.sh FILE [IMAGE-TAR]: makes FILE the disk of a fresh node: an ext4 file system with an empty /kubelet and, in
# /docker, the images that the scenarios use. A dockerd of its own fills it, in namespaces of its own, since loading
# images inside the emulated machine would take minutes.
#   erdma-controller   from IMAGE-TAR (default: target/image/erdma-controller.tar)
#   pause:local        what holds a pod's namespaces
#   job:local          a job's image: erdma-controller and the tools ibv_devinfo, ib_write_bw and busybox's
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

if [ "${1:-}" != --inside ]; then
    image=$(realpath "$1")
    archive=$(readlink -e "${2:-$project/target/image/erdma-controller.tar}") ||
        { echo "disk: no ${2:-target/image/erdma-controller.tar}; run make image first" >&2; exit 1; }
    work=$(mktemp -d "${TMPDIR:-/tmp}/erdma-disk.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    code=0
    unshare --net --mount --pid --fork --kill-child --mount-proc \
        "${BASH_SOURCE[0]}" --inside "$work" "$archive" >"$work/log" 2>&1 || code=$?
    if [ "$code" -ne 0 ]; then
        cat "$work/log" "$work/dockerd.log" >&2
        echo "disk: the node's images could not be prepared" >&2
        exit 1
    fi
    rm -f "$image"
    truncate -s 8G "$image"
    mkdir -p "$work/disk/kubelet"
    mke2fs -q -t ext4 -d "$work/disk" "$image"
    exit
fi

work=$2 archive=$3
export DOCKER_HOST=unix://$work/docker.sock
mkdir -p "$work/disk"
dockerd --host "$DOCKER_HOST" --data-root "$work/disk/docker" --exec-root "$work/exec" --pidfile "$work/dockerd.pid" \
    --storage-driver overlay2 --iptables=false --bridge=none >"$work/dockerd.log" 2>&1 &
dockerd=$!
until docker version >/dev/null 2>&1; do
    kill -0 "$dockerd" || exit 1
    read -rt 0.2 <> <(:) || true
done

docker load -q <"$archive"
tagged=$(docker images --format '{{.Repository}}:{{.Tag}}' | head -n 1)

root=$work/pause
mkdir -p "$root/bin"
cp /bin/busybox "$root/bin/"
tar -C "$root" -c . | docker import --change 'ENTRYPOINT ["/bin/busybox", "sleep", "1000000"]' - pause:local

# The tools with those of their libraries that are more than libc and libibverbs, which the agent's image has.
root=$work/job/tree
mkdir -p "$root/usr/bin" "$root/usr/lib/x86_64-linux-gnu" "$root/usr/local/busybox"
for tool in ibv_devinfo ib_write_bw; do
    cp "$(command -v "$tool")" "$root/usr/bin/"
    ldd "$(command -v "$tool")" | awk '$3 ~ /^\// { print $3 }' | grep -vE '/(libc|libm|libpthread|libdl|libibverbs)\.so' |
        while read -r library; do cp -L "$library" "$root/usr/lib/x86_64-linux-gnu/"; done
done
cp /bin/busybox "$root/usr/local/busybox/"
for tool in sh sleep cat ls id env head tail grep mknod stat nc wget; do
    ln -s busybox "$root/usr/local/busybox/$tool"
done
cat >"$work/job/Dockerfile" <<DOCKERFILE
FROM $tagged
USER 0
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/erdma/bin:/usr/local/busybox
COPY tree/ /
ENTRYPOINT []
CMD ["sh"]
DOCKERFILE
docker build -q -t job:local "$work/job"
docker images
kill "$dockerd"
wait "$dockerd" || true
