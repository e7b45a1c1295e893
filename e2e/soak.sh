#!/bin/bash
# Restarts the kubelet and enumerates devices until a leak would show.   soak.sh [--short]
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$project"
out=target/soak
rm -rf "$out"
mkdir -p "$out"
# The long form makes 11,000 cycles, ten a second at most, which are nineteen minutes; half an hour in all.
limit=7200
[ "${1:-}" != --short ] || limit=600

fail() {
    echo "soak: $*; logs are in $out" >&2
    exit 1
}

# Beside the cycles, since they need no more than a fifth of a core: kubelets that stay away for seconds, then starts on a
# tenth of a core, eight seconds each, then ten minutes of an agent that has nothing to do.
by_the_way() {
    build/test-main.sh io.erdma.plugin.RestartSoak 100 2>"$out/restarts.log" &&
        build/test-main.sh io.erdma.plugin.ColdStarts 100 2>"$out/cold-starts.log" &&
        build/test-main.sh io.erdma.bench.IdleWatch 10 controller/target/erdma "$out" 2>"$out/idle.log"
}

aside=''
if [ $# -eq 0 ]; then
    # A process group of its own, so that it can be ended with all that it started.
    set -m
    by_the_way >"$out/aside.tap" &
    aside=$!
    set +m
fi
code=0
timeout --kill-after=10 "$limit" build/test-main.sh io.erdma.bench.Soak "$@" controller/target/erdma "$out" | tee "$out/soak.tap" || code=$?
if [ "$code" -ne 0 ] || ! grep -q '^ok ' "$out/soak.tap"; then
    [ -z "$aside" ] || kill -- "-$aside" 2>/dev/null || :
    fail "failed (exit code $code)"
fi
if [ -n "$aside" ]; then
    wait "$aside" || fail "restarts, cold starts or the idle agent failed (exit code $?)"
    tee -a "$out/soak.tap" <"$out/aside.tap"
fi
