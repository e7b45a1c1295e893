#!/bin/bash
# Builds the stand-in for the erdma driver against the lab kernel's headers, and lays out what /lib/modules is to be in
# the lab's machine:
#   target/erdma-module/modules        the kernel's modules and this one, which has modes
#   target/erdma-module/plain/erdma.ko the same without the parameter compat_mode
# Does nothing where they are newer than their source.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LAB=${LAB:-$project/.lab}
source=$project/e2e/erdma-module
out=$project/target/erdma-module
kernel=$(ls "$LAB/kernel/lib/modules")
headers=$LAB/headers/usr/src/linux-headers-$kernel

if [ -e "$out/ready" ] && [ "$(cat "$out/ready")" = "$kernel" ] && [ -z "$(find "$source" -newer "$out/ready")" ]; then
    exit 0
fi
[ -e "$headers/Makefile" ] || { echo "no headers of $kernel in $LAB; run build/install.sh first" >&2; exit 1; }
rm -rf "$out"

# build NAME MAKE-ARGUMENT...: in a directory of its own, since the kernel's makefiles build beside the source.
build() {
    local name=$1 log
    shift
    mkdir -p "$out/$name"
    cp "$source/erdma.c" "$source/Kbuild" "$out/$name/"
    log=$out/$name/build.log
    if ! make -C "$headers" M="$out/$name" "$@" modules >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
}
build modes
build plain WITHOUT_MODES=1

tree=$out/base/lib/modules/$kernel
mkdir -p "$tree/updates"
ln -s "$LAB/kernel/lib/modules/$kernel/kernel" "$tree/kernel"
cp "$LAB/kernel/lib/modules/$kernel"/modules.{builtin,order} "$tree/"
cp "$LAB/kernel/lib/modules/$kernel"/modules.builtin.modinfo "$tree/"
cp "$out/modes/erdma.ko" "$tree/updates/"
depmod -b "$out/base" "$kernel"
ln -s base/lib/modules "$out/modules"
echo "$kernel" >"$out/ready"
