#!/bin/sh
# Lays out the image's file system under a directory, inside the Dockerfile's Debian stage:
#   SOURCE_DATE_EPOCH=… build/image-root.sh DIRECTORY
#
# It takes the files of the packages named below and of those they depend on, without documents, translations and other
# text that no program here reads. dpkg's status names what is in it, for scanners, and so does the list of components.
set -eu

# What the agent and the command line call, and what a person needs to look around by `kubectl exec`.
packages='base-files dash coreutils grep sed libc-bin
    libibverbs1 ibverbs-providers librdmacm1 kmod util-linux'
# Depended on for their installation alone, which nobody repeats in the image.
left_out='adduser debconf dpkg install-info passwd perl-base'

root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the names that $1 depends on, as they are installed; of alternatives the ones that are there.
needs() {
    # shellcheck disable=SC2016 # dpkg's own variables
    dpkg-query -W -f '${Depends},${Pre-Depends}' "$1" | tr ',|' '\n' | sed 's/(.*//; s/:.*//; s/ //g' | sort -u
}

installed() {
    # shellcheck disable=SC2016 # dpkg's own variable
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = 'ii ' ]
}

# The packages and all they depend on, into the file "taken".
take() {
    queue=$*
    : >"$work/taken"
    while [ -n "$queue" ]; do
        next=''
        for package in $queue; do
            case " $(echo "$left_out" | tr '\n' ' ') " in *" $package "*) continue ;; esac
            installed "$package" || continue
            if ! grep -qx "$package" "$work/taken"; then
                echo "$package" >>"$work/taken"
                next="$next $(needs "$package" | tr '\n' ' ')"
            fi
        done
        queue=$(echo "$next" | tr -s ' \n' '  ' | sed 's/^ *//; s/ *$//')
    done
    sort -o "$work/taken" "$work/taken"
}

for package in $packages; do
    installed "$package" || { echo "image-root: $package is not installed" >&2; exit 1; }
done
# shellcheck disable=SC2086 # names without blanks
take $packages

# As in any Debian, the old top directories are links into /usr; packages name files by either path.
mkdir -p "$root/usr"
for directory in bin sbin lib lib64; do
    mkdir -p "$root/usr/$directory"
    ln -s "usr/$directory" "$root/$directory"
done
while read -r package; do
    dpkg-query -L "$package"
done <"$work/taken" | sort -u | grep -v -e '^/\.$' -e '^diverted by' | while read -r path; do
    case $path in
        /usr/share/doc/*/copyright) ;;
        /usr/share/doc/* | /usr/share/man/* | /usr/share/info/* | /usr/share/locale/* | /usr/share/lintian/* | \
        /usr/share/bash-completion/* | /usr/share/bug/* | /usr/share/menu/* | /usr/share/debianutils/* | \
        /usr/lib/*/gconv/* | /usr/lib/udev/* | /lib/udev/* | /lib/systemd/* | /usr/lib/systemd/* | \
        /etc/init.d/* | /etc/cron* | /etc/logrotate* | /etc/default/* | /usr/share/initramfs-tools/*) continue ;;
    esac
    [ ! -d "$path" ] || [ -L "$path" ] || continue
    [ -e "$path" ] || [ -L "$path" ] || continue
    echo "${path#/}"
done >"$work/files"
tar -C / -c --no-recursion -T "$work/files" | tar -C "$root" -x --keep-directory-symlink

# What installing made and no package holds.
for directory in dev proc sys run tmp etc root var/tmp var/log; do
    mkdir -p "$root/$directory"
done
chmod 1777 "$root/tmp" "$root/var/tmp"
chmod 700 "$root/root"
cp -a /etc/passwd /etc/group "$root/etc/"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
[ -e "$root/bin/sh" ] || ln -s dash "$root/bin/sh"
ldconfig -r "$root"
rm -rf "$root/var/cache/ldconfig"

mkdir -p "$root/var/lib/dpkg"
while read -r package; do
    dpkg-query -s "$package"
    echo
done <"$work/taken" >"$root/var/lib/dpkg/status"

# The same in CycloneDX, beside the list of the jars. Of what a version may hold, only + is written otherwise in a URL.
mkdir -p "$root/opt/erdma/sbom"
{
    echo '{"bomFormat":"CycloneDX","specVersion":"1.6","version":1,"components":['
    while read -r package; do
        # shellcheck disable=SC2016 # dpkg's own variables
        dpkg-query -W -f '{"type":"library","name":"${Package}","version":"${Version}","purl":"pkg:deb/debian/${Package}@${Version}?arch=${Architecture}&distro=debian-12"}\n' "$package"
    done <"$work/taken" | sed -e ':again; s/\("purl":"[^"]*\)+/\1%2B/; t again' -e '$!s/$/,/'
    echo ']}'
} >"$root/opt/erdma/sbom/debian.cdx.json"

find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
