#!/bin/bash
# devinfo-agrees.sh ERDMA: fails, with a diff, where "ERDMA devinfo" prints anything else than the installed
# ibv_devinfo: plain, -l and -v for all devices, and -d for each. Of -v those rows are left out that come from
# ibv_query_device_ex ("ERDMA devinfo --help" lists them); they stand between two rows that are always there.
# Error streams differ on purpose: ours name the device and the reason.
#
# A node may change while it is asked (a GID appears), so ibv_devinfo is asked before and after ours, and only an answer
# that was the same both times is compared.
set -euo pipefail

erdma=${1:?usage: devinfo-agrees.sh ERDMA}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
attempts=5

without_extended_rows() {
    awk '
        /^\tnum_comp_vectors:/ { extended = 0 }
        /^\t\t\tlink_layer:/ { infiniband = /InfiniBand$/ }
        extended || (infiniband && /^\t\t\tport_cap_flags2:/) { next }
        { print }
        /^\tlocal_ca_ack_delay:/ { extended = 1 }'
}

# The forms stand in files, an option a line: names of devices may hold anything but a line's end.
list_forms() {
    rm -rf "$work/form"
    mkdir -p "$work/form"
    devices=0
    true > "$work/form/all"
    echo -l > "$work/form/list"
    echo -v > "$work/form/verbose"
    while IFS= read -r device; do
        printf '%s\n' -d "$device" > "$work/form/device-$devices"
        devices=$((devices + 1))
    done < <(ibv_devinfo -l | sed -n 's/^\t//p')
}

# stock DIRECTORY: what ibv_devinfo prints now. It fails as soon as one device does, so its exit code says nothing here.
stock() {
    local form options filter
    rm -rf "${work:?}/$1"
    mkdir -p "$work/$1"
    for form in "$work"/form/*; do
        mapfile -t options < "$form"
        filter='cat'
        [ "${form##*/}" != verbose ] || filter=without_extended_rows
        { ibv_devinfo "${options[@]}" 2> "$work/stock.err" || true; } | "$filter" > "$work/$1/${form##*/}"
    done
}

ask_ours() {
    local name=$1 code=0 options
    mapfile -t options < "$work/form/$name"
    "$erdma" devinfo "${options[@]}" > "$work/ours/$name" 2> "$work/ours.err/$name" || code=$?
    echo "$code" > "$work/ours.code/$name"
}

# Two at a time: each is a JVM that starts, and a lab has two processors.
ours() {
    local form running=0
    rm -rf "$work"/ours*
    mkdir -p "$work"/{ours,ours.err,ours.code}
    for form in "$work"/form/*; do
        if [ "$running" -eq 2 ]; then
            wait -n
            running=1
        fi
        ask_ours "${form##*/}" &
        running=$((running + 1))
    done
    wait
}

attempt=1
while true; do
    list_forms
    stock before
    ours
    stock stock
    if diff -r "$work/before" "$work/stock" > "$work/changes"; then
        break
    fi
    if [ "$attempt" -eq "$attempts" ]; then
        cat "$work/changes"
        echo "ibv_devinfo's own answer changed in each of $attempts attempts; nothing could be compared"
        exit 1
    fi
    attempt=$((attempt + 1))
done

differences=0
for form in "$work"/form/*; do
    name=${form##*/}
    words=$(tr '\n' ' ' < "$form")
    code=$(cat "$work/ours.code/$name")
    # 1 is an answer (no device could be opened); anything above is a failure to answer.
    if [ "$code" -gt 1 ] || ! diff -u --label "ibv_devinfo $words" --label "erdma devinfo $words" \
        "$work/stock/$name" "$work/ours/$name"; then
        echo "erdma devinfo $words ended with $code"
        cat "$work/stock.err" "$work/ours.err/$name"
        differences=$((differences + 1))
    fi
done
if [ "$differences" -gt 0 ]; then
    echo "erdma devinfo differs from ibv_devinfo in $differences of its forms"
    exit 1
fi
echo "erdma devinfo agrees with ibv_devinfo on $devices devices: plain, -l, -v, each -d"
