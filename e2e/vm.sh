#!/bin/bash
# vm.sh [-n NICS] [-m MEGABYTES] [-t SECONDS] [-o DIRECTORY] [-d IMAGE] [-f FORWARD]... [-N] SCRIPT [ARGUMENT...]
#
# Boots Debian's kernel in QEMU by software emulation and runs SCRIPT in it as root. Its output streams to stdout, its
# exit code becomes ours; 124 means that the time was up, 125 that the machine itself failed (did not boot, panicked).
#
# Underneath is the host's own file system, read-only, below an overlay in memory: the project, ~/.m2 and the JDK are
# where they are on the host, and what SCRIPT changes is gone afterwards. Files that change on the host meanwhile may
# look stale inside. What SCRIPT writes to $VM_OUT (inside) arrives in DIRECTORY, with the kernel's console log.
#
# eth0 reaches the host (10.0.2.2); eth1 to ethNICS are cards of their own for RDMA devices, all still down.
#
#   -d IMAGE     a raw disk image of the host, /dev/vda inside; what is written to it stays
#   -f FORWARD   ADDRESS:PORT of the host that leads to the same PORT of 10.0.2.15 inside
#   -N           four processors on two NUMA nodes, eth1 at the first and eth2 at the second, instead of two on none
set -euo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LAB=${LAB:-$project/.lab}
nics=2 memory=3072 seconds=600 out='' disk='' forwards='' numa=''

fault() {
    echo "vm: $*" >&2
    exit 125
}

while getopts n:m:t:o:d:f:N option; do
    case $option in
        n) nics=$OPTARG ;;
        m) memory=$OPTARG ;;
        t) seconds=$OPTARG ;;
        o) out=$OPTARG ;;
        d) disk=$OPTARG ;;
        f) forwards+=",hostfwd=tcp:$OPTARG-10.0.2.15:${OPTARG##*:}" ;;
        N) numa=yes ;;
        *) fault "usage: vm.sh [-n NICS] [-m MEGABYTES] [-t SECONDS] [-o DIRECTORY] [-d IMAGE] [-f FORWARD]... [-N] SCRIPT [ARGUMENT...]" ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || fault "no script given"
script=$(readlink -e "$1") || fault "no such script: $1"
shift
[ -e "$LAB/kernel/ready" ] || fault "no kernel in $LAB/kernel; run build/install.sh first"
kernel=$(ls "$LAB/kernel/lib/modules")

work=$(mktemp -d "${TMPDIR:-/tmp}/erdma-vm.XXXXXX")
qemu='' timer=''
# shellcheck disable=SC2317 # called by the trap
cleanup() {
    local pid
    for pid in $qemu $timer; do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ -z "$out" ]; then
    out=$work/out
fi
mkdir -p "$out"
out=$(readlink -e "$out")
console=$out/console.log
rm -f "$out/.exit" "$out/.booted"

# The initial file system: busybox, the modules that reach the host's files, and the step into them.
root=$work/initrd
mkdir -p "$root/bin" "$root/modules"
cp "$(command -v busybox)" "$root/bin/busybox"
for module in virtio_pci virtio_net 9pnet_virtio 9p overlay; do
    modprobe -d "$LAB/kernel" -S "$kernel" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
    cp "$file" "$root/modules/"
    echo "/modules/${file##*/}" >>"$root/modules/list"
done
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /host /memory /newroot
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
export PATH=/bin
/bin/busybox --install -s /bin
while read -r module; do insmod "$module"; done </modules/list
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,ro,cache=loose host /host
mount -t tmpfs -o size=75% memory /memory
mkdir -p /memory/upper /memory/work
mount -t overlay overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work /newroot
mount --move /proc /newroot/proc
mount --move /sys /newroot/sys
mount --move /dev /newroot/dev
exec switch_root /newroot /bin/bash @STAGE2@
INIT
sed -i "s#@STAGE2@#$work/stage2.sh#" "$root/init"
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd.gz"

printf -v command '%q ' /bin/bash "$script" "$@"
cat >"$work/stage2.sh" <<STAGE2
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=$(printf %q "$HOME") TMPDIR=/tmp
export LAB=$(printf %q "$LAB") VM_OUT=/run/vm-out ${JAVA_HOME:+JAVA_HOME=$(printf %q "$JAVA_HOME")}
mount -t tmpfs run /run
mkdir -p /run/lock /run/vm-out /lib/modules /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
ln -sf /proc/self/fd /dev/fd
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 out /run/vm-out
# rdma_rxe asks for the kernel's crc32 by name, which modprobe looks up here.
mount --bind $(printf %q "$LAB/kernel/lib/modules") /lib/modules
stty -F /dev/ttyS1 raw -echo
hostname lab
ip link set lo up
touch /run/vm-out/.booted
cd $(printf %q "$PWD")
$command >/dev/ttyS1 2>&1 </dev/null
echo \$? >/run/vm-out/.exit
sync
# Setting it waits until the serial line has sent what it still holds.
stty -F /dev/ttyS1 raw -echo
umount /run/vm-out
echo o >/proc/sysrq-trigger
exec sleep 60
STAGE2

machine=(-smp 2 -m "$memory")
devices=(-netdev "user,id=n0$forwards" -device "virtio-net-pci,netdev=n0,mac=52:54:00:00:00:01")
if [ -n "$numa" ]; then
    [ "$nics" -eq 2 ] || fault "-N has two cards, one at each NUMA node"
    half=$((memory / 2))
    machine=(
        -machine q35 -smp "4,sockets=2,cores=2" -m "$((half * 2))"
        -object "memory-backend-ram,id=ram0,size=${half}M" -numa "node,nodeid=0,cpus=0-1,memdev=ram0"
        -object "memory-backend-ram,id=ram1,size=${half}M" -numa "node,nodeid=1,cpus=2-3,memdev=ram1"
    )
    # A PCI bus of its own at each NUMA node. The kernel reads a device's node from the bus that it hangs below, and finds
    # the last of these buses first.
    for i in 2 1; do
        devices+=(
            -device "pxb-pcie,id=bus$i,bus=pcie.0,numa_node=$((i - 1)),bus_nr=$((i * 64))"
            -device "pcie-root-port,id=port$i,bus=bus$i,chassis=$i,slot=$i"
        )
    done
fi
for i in $(seq 1 "$nics"); do
    devices+=(-netdev "user,id=n$i,restrict=on")
    devices+=(-device "$(printf 'virtio-net-pci,netdev=n%d,mac=52:54:00:00:01:%02x' "$i" "$i")${numa:+,bus=port$i}")
done
if [ -n "$disk" ]; then
    [ -w "$disk" ] || fault "no such disk image, or not writable: $disk"
    # shellcheck disable=SC2054 # commas of QEMU's
    devices+=(-drive "file=$disk,if=none,id=disk,format=raw,cache=unsafe" -device "virtio-blk-pci,drive=disk${numa:+,bus=pcie.0}")
fi

# Console and script have a serial line each, so that the kernel's words never mix with the script's.
# The kernel ends QEMU even when this shell is killed outright.
setpriv --pdeathsig KILL qemu-system-x86_64 \
    -accel tcg,thread=multi -cpu max "${machine[@]}" \
    -nodefaults -display none -monitor none -no-reboot \
    -serial "file:$console" -chardev stdio,id=script,signal=off -serial chardev:script \
    -kernel "$LAB/kernel/boot/vmlinuz-$kernel" -initrd "$work/initrd.gz" \
    -append "console=ttyS0 quiet panic=-1 oops=panic net.ifnames=0 mitigations=off" \
    -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=host,mount_tag=host \
    -fsdev "local,id=out,path=$out,security_model=none" \
    -device virtio-9p-pci,fsdev=out,mount_tag=out \
    "${devices[@]}" </dev/null 2>"$work/qemu.log" &
qemu=$!
sleep "$seconds" &
timer=$!
ended='' code=0
wait -n -p ended "$qemu" "$timer" || code=$?
[ "$ended" != "$timer" ] || code=124
if [ "$ended" = "$qemu" ]; then
    qemu=''
else
    timer=''
fi

if [ -e "$out/.exit" ]; then
    exit "$(cat "$out/.exit")"
fi
{
    if [ "$code" -eq 124 ]; then
        if [ -e "$out/.booted" ]; then
            echo "vm: $script did not end within $seconds s"
        else
            echo "vm: the machine did not boot within $seconds s"
        fi
    elif grep -qs 'Kernel panic' "$console"; then
        echo "vm: the kernel panicked"
    else
        echo "vm: the machine ended without an exit code of $script (qemu: $code)"
        cat "$work/qemu.log"
    fi
    echo "vm: end of $console:"
    tail -n 30 "$console" 2>/dev/null || true
} >&2
[ "$code" -ne 124 ] || exit 124
exit 125
