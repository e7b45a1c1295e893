#!/bin/bash
# Restarts the kubelet and enumerates devices until a leak would show.   soak.sh [--short]
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$project"
out=target/soak
rm -rf "$out"
mkdir -p "$out"
# The long form makes 11,000 cycles, ten a second at most.
limit=7200
[ "${1:-}" != --short ] || limit=600
code=0
timeout --kill-after=10 "$limit" build/test-main.sh io.erdma.bench.Soak "$@" controller/target/erdma "$out" | tee "$out/soak.tap" || code=$?
if [ "$code" -ne 0 ] || ! grep -q '^ok ' "$out/soak.tap"; then
    echo "soak: failed (exit code $code); logs are in $out" >&2
    exit 1
fi
if [ $# -eq 0 ]; then
    build/test-main.sh io.erdma.bench.IdleWatch 10 controller/target/erdma "$out" | tee -a "$out/soak.tap"
    # Of the plugin alone: kubelets that stay away for seconds, and starts on a tenth of a core (half an hour).
    build/test-main.sh io.erdma.plugin.RestartSoak 100 2>"$out/restarts.log" | tee -a "$out/soak.tap"
    build/test-main.sh io.erdma.plugin.ColdStarts 100 2>"$out/cold-starts.log" | tee -a "$out/soak.tap"
fi
