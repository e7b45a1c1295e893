#!/bin/sh
# Makes the agent's start-up cache:
#   build/aot-cache.sh DIST [agent settings…]
#   build/aot-cache.sh --stand-ins DIST
#
# Runs the agent of DIST once and stops it; the JVM then writes DIST/lib/agent.aot. Run it where the image is built, after
# the jars have got their place: the cache belongs to these jars, this Java and this architecture, and the launcher refuses
# it for any other. The more the run does, the more the cache holds. By itself the agent only starts, with the settings
# given. With --stand-ins, after build/build.sh, a kubelet and two devices that are none lead it through registration,
# allocations, a port's down and up, a kubelet restart and scrapes, so that each first call is a quick one, too.
set -eu

usage() {
    echo "usage: $0 [--stand-ins] DIST [agent settings...]" >&2
    exit 64
}

here=$(dirname "$(readlink -f -- "$0")")
stand_ins=''
if [ "${1:-}" = --stand-ins ]; then
    stand_ins=yes
    shift
fi
[ $# -ge 1 ] || usage
[ -z "$stand_ins" ] || [ $# -eq 1 ] || usage
dist=$(readlink -f -- "$1")
shift
lib=$dist/lib
work=$(mktemp -d)
pid=''
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || :; rm -rf "$work"' EXIT INT TERM
rm -f "$lib/agent.aot" "$lib/agent.aot.made-of"

fail() {
    cat "$work/log" >&2
    echo "$0: $*; no cache was made" >&2
    exit 1
}

# Starts the agent, waits for the last thing that a start does, which is to look for the kubelet, and stops it.
start_and_stop() {
    ERDMA_AOT=$work/agent.aot "$dist/bin/erdma" agent \
        --kubelet-root-dir="$work/kubelet" --probe-address=127.0.0.1:0 "$@" > "$work/log" 2>&1 &
    pid=$!
    tries=0
    until grep -q -e 'waiting for it' -e 'registered ' "$work/log"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 300 ] || ! kill -0 "$pid" 2>/dev/null; then
            fail "the agent did not start"
        fi
        sleep 0.1
    done
    kill -TERM "$pid"
    wait "$pid" || fail "the agent did not stop cleanly"
    pid=''
}

: > "$work/log"
if [ -n "$stand_ins" ]; then
    "$here/test-main.sh" io.erdma.bench.AotTraining "$dist" "$work" || fail "the training failed"
else
    start_and_stop "$@"
fi
[ -s "$work/agent.aot" ] || fail "the JVM wrote none"
mv "$work/agent.aot" "$lib/agent.aot"
ERDMA_AOT=fingerprint "$dist/bin/erdma" agent > "$lib/agent.aot.made-of"
echo "$lib/agent.aot: $(($(stat -c %s "$lib/agent.aot") / 1024)) KiB"
