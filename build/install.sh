#!/bin/bash
# Installs what building, testing and the lab need on Debian 12, and fetches the lab's kernel with its headers. Changes
# nothing that is there already. Needs root for packages that are missing.
#   LAB   the lab's directory (default: .lab beside this project's pom.xml)
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LAB=${LAB:-$project/.lab}

packages=(
    # build
    maven git gcc libc6-dev make shellcheck
    # libibverbs and the tools that the agent is compared with
    rdma-core libibverbs1 libibverbs-dev ibverbs-providers ibverbs-utils librdmacm1 perftest iproute2
    # the image
    docker.io debootstrap
    # the layout of libibverbs' structs on arm64
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    # the virtual machine
    qemu-system-x86 kmod busybox-static cpio
    # the browser that the node's page is tested in
    chromium fonts-dejavu-core
    # checks of metrics and alerts; nothing is left running
    prometheus
    # small tools of the scripts
    util-linux procps
)

fail() {
    echo "install: $*" >&2
    exit 1
}

# Another apt may hold the lock and a mirror may time out for a moment; anything else fails at once, with apt's words.
apt() {
    local attempt log
    log=$(mktemp)
    for attempt in 1 2 3; do
        if apt-get -qq -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 </dev/null; then
            rm -f "$log"
            return 0
        fi
        grep -Eqi 'could not get lock|temporary failure|timed out|connection (failed|reset)|unable to connect' "$log" || break
        echo "install: apt-get $1 failed for a passing reason (attempt $attempt of 3), trying again" >&2
    done
    cat "$log" >&2
    rm -f "$log"
    return 1
}

updated=no
update() {
    if [ "$updated" = no ]; then
        apt update || return 1
        updated=yes
    fi
}

# Runs a command while no package may start a service of its own, as prometheus would do; policy-rc.d is how Debian asks.
without_services() (
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
    "$@"
)

install_packages() {
    local package missing=()
    for package in "${packages[@]}"; do
        # shellcheck disable=SC2016 # dpkg's own variable
        [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" = 'ii ' ] || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        [ "$(id -u)" -eq 0 ] || fail "these packages are missing: ${missing[*]}; run it as root, or install them"
        update || fail "cannot read the package lists; check /etc/apt/sources.list and the network"
        without_services apt install --no-install-recommends "${missing[@]}" || fail "cannot install: ${missing[*]}"
        # Nor at the next boot.
        if [[ " ${missing[*]} " == *" prometheus "* ]] && [ -d /run/systemd/system ]; then
            systemctl --quiet disable prometheus
        fi
        echo "install: ${#missing[@]} packages installed: ${missing[*]}"
    fi
}

# apt's unprivileged user may not write into a directory of ours.
download() {
    (cd "$1" && apt -o APT::Sandbox::User=root download "$2")
}

# The kernel is unpacked into the lab's directory and never installed: the machine's own boot is none of our business.
fetch_kernel() {
    local kernel package staging
    package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -1)
    if [ -z "$package" ] && [ ! -e "$LAB/kernel/ready" ]; then
        update || fail "cannot read the package lists; check /etc/apt/sources.list and the network"
        package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -1)
        [ -n "$package" ] || fail "this Debian offers no linux-image-amd64; the lab needs Debian on amd64"
    fi
    if [ -e "$LAB/kernel/ready" ] && { [ -z "$package" ] || [ "$(cat "$LAB/kernel/ready")" = "$package" ]; }; then
        return 0
    fi

    mkdir -p "$LAB"
    staging=$(mktemp -d "$LAB/kernel.XXXXXX")
    # shellcheck disable=SC2064 # the name as it is now
    trap "rm -rf '$staging'" EXIT
    if ! download "$staging" "$package"; then
        if ! { update && download "$staging" "$package"; }; then
            [ -e "$LAB/kernel/ready" ] || fail "cannot download $package for the lab's virtual machine"
            echo "install: $package cannot be fetched, the lab keeps $(cat "$LAB/kernel/ready")" >&2
            return 0
        fi
    fi
    dpkg-deb -x "$staging"/linux-image-*.deb "$staging/tree"
    kernel=$(ls "$staging/tree/lib/modules")
    depmod -b "$staging/tree" "$kernel"
    echo "$package" >"$staging/tree/ready"
    rm -rf "$LAB/kernel"
    mv "$staging/tree" "$LAB/kernel"
    rm -rf "$staging"
    echo "install: $package unpacked for the lab"
}

# What a module for that kernel is built against, unpacked beside it in the same way. Its makefiles name each other by
# the paths of an installed package.
fetch_headers() {
    local kernel package staging
    kernel=$(ls "$LAB/kernel/lib/modules")
    if [ -e "$LAB/headers/ready" ] && [ "$(cat "$LAB/headers/ready")" = "$kernel" ]; then
        return 0
    fi
    staging=$(mktemp -d "$LAB/headers.XXXXXX")
    # shellcheck disable=SC2064 # the name as it is now
    trap "rm -rf '$staging'" EXIT
    for package in "linux-headers-$kernel" "linux-headers-${kernel%-*}-common" "linux-kbuild-${kernel%%.0-*}"; do
        if ! download "$staging" "$package"; then
            { update && download "$staging" "$package"; } || fail "cannot download $package for the lab's driver"
        fi
    done
    for package in "$staging"/linux-*.deb; do
        dpkg-deb -x "$package" "$staging/tree"
    done
    sed -i "s#/usr/src/linux-headers#$LAB/headers&#g" "$staging/tree/usr/src/linux-headers-$kernel/Makefile"
    echo "$kernel" >"$staging/tree/ready"
    rm -rf "$LAB/headers"
    mv "$staging/tree" "$LAB/headers"
    rm -rf "$staging"
    echo "install: headers of $kernel unpacked for the lab"
}

install_packages
# Several at once may share the lab's directory.
mkdir -p "$LAB"
exec 9>"$LAB/.lock"
flock -w 600 9 || fail "another process holds $LAB/.lock for more than 10 minutes"
fetch_kernel
fetch_headers
