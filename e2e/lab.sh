#!/bin/bash
# Runs the lab's promises in one virtual machine. Results in target/lab/lab.tap, logs of the agents beside it.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$project"
JAVA_HOME=$(build/jdk.sh)
export JAVA_HOME

out=target/lab
rm -rf "$out"
mkdir -p "$out"
e2e/erdma-module/build.sh
# The suite runs the command line about twenty times, and a JVM starts slowly in there; a start-up cache for it helps.
if ! ERDMA_JAVA_OPTS="-XX:AOTCacheOutput=$out/cli.aot" controller/target/erdma/bin/erdma devinfo -v >"$out/cli-cache.log" 2>&1; then
    cat "$out/cli-cache.log" >&2
    echo "lab: no start-up cache for the command line could be made" >&2
    exit 1
fi
echo "lab: booting a virtual machine with two soft-RoCE devices"
code=0
e2e/vm.sh -t "${LAB_SECONDS:-900}" -o "$out" e2e/inside.sh io.erdma.lab.LabSuite "$@" | tee "$out/lab.tap" || code=$?
if [ "$code" -ne 0 ]; then
    echo "lab: failed (exit code $code); logs are in $out" >&2
    exit 1
fi
# The machine could end well without having asked anything.
if ! grep -q '^ok ' "$out/lab.tap" || grep -q '^not ok ' "$out/lab.tap"; then
    echo "lab: $out/lab.tap does not say that all went well" >&2
    exit 1
fi
echo "lab: $(grep -c '^ok ' "$out/lab.tap") passed, 0 failed, in $SECONDS s"
