#!/bin/bash
# Makes the images that the Dockerfile starts from, where no registry is to be asked: a Debian 12 of the packages that this
# machine's own apt sources offer, and the same with this machine's JDK. Prints their names, Debian's first.
#   build/image-bases.sh [--fresh]
#
# debootstrap and apt check the signatures of all they fetch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C.UTF-8

suite=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
jdk=$(build/jdk.sh)
version=$(sed -n 's/^JAVA_RUNTIME_VERSION="\(.*\)"/\1/p' "$jdk/release")
debian_image=erdma-base-debian:$suite
jdk_image=erdma-base-jdk:${version//+/_}

fail() {
    echo "image-bases: $*" >&2
    exit 1
}

exists() {
    docker image inspect "$1" >/dev/null 2>&1
}

if [ "${1:-}" != --fresh ] && exists "$debian_image" && exists "$jdk_image"; then
    echo "$debian_image $jdk_image"
    exit 0
fi
[ "$(id -u)" -eq 0 ] || fail "debootstrap needs root; or give JDK_BASE and DEBIAN_BASE to build/image.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

# Lines for sources.list, from whichever format this machine's sources have.
# shellcheck disable=SC2016 # apt's own variables
apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$suite" '$2 ~ "^" suite "(-security|-updates)?$" && $3 == "main" { print "deb", $1, $2, $3 }' >"$work/sources"
mirror=$(awk -v suite="$suite" '$3 == suite { print $2; exit }' "$work/sources")
[ -n "$mirror" ] || fail "this machine's apt sources name no Debian $suite; give JDK_BASE and DEBIAN_BASE to build/image.sh"

if ! debootstrap --variant=minbase --keyring="$keyring" --force-check-gpg --include=ca-certificates \
    "$suite" "$root" "$mirror" >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    fail "cannot make a Debian $suite from $mirror"
fi
cp "$work/sources" "$root/etc/apt/sources.list"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root/etc/hostname" "$root/etc/resolv.conf"
# What a registry's Debian images have: no services started, no package files kept.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
echo 'APT::Keep-Downloaded-Packages "false";' >"$root/etc/apt/apt.conf.d/image"
tar -C "$root" --numeric-owner -c . | docker import --change 'CMD ["/bin/sh"]' - "$debian_image" >/dev/null

home=/opt/java/openjdk
mkdir -p "$root$home"
cp -a "$jdk/." "$root$home/"
# A packaged JDK's trust store is a link to this machine's, which may trust more than Debian does.
rm "$root$home/lib/security/cacerts"
"$jdk/bin/java" build/TrustStore.java "$root/etc/ssl/certs/ca-certificates.crt" "$root$home/lib/security/cacerts"
tar -C "$root" --numeric-owner -c . |
    docker import --change "ENV JAVA_HOME=$home" --change 'CMD ["/bin/sh"]' - "$jdk_image" >/dev/null
echo "$debian_image $jdk_image"
