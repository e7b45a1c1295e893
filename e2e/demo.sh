#!/bin/bash
# The story of the agent's main job, on a real kernel's RDMA stack. Its last line is "demo: OK".
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$project"
JAVA_HOME=$(build/jdk.sh)
export JAVA_HOME

out=target/demo
rm -rf "$out"
mkdir -p "$out"

# step WHAT COMMAND...: its noise goes to a log that is shown when it fails.
step() {
    local what=$1 log start
    shift
    log=$out/prepare.log start=$SECONDS
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "demo: $what failed; its log is $log" >&2
        exit 1
    fi
    echo "demo: $what ($((SECONDS - start)) s)"
}

step "Debian packages and the lab's kernel are there" build/install.sh
step "built controller/target/erdma" build/build.sh
echo "demo: booting a virtual machine with two soft-RoCE cards (software emulation, about ten times slower than this machine)"
echo
code=0
e2e/vm.sh -t "${DEMO_SECONDS:-420}" -o "$out" e2e/inside.sh io.erdma.demo.Demo | tee "$out/story.txt" || code=$?
if [ "$code" -ne 0 ] || [ "$(tail -n 1 "$out/story.txt")" != 'demo: OK' ]; then
    if [ -e "$out/agent.log" ]; then
        echo "demo: end of the agent's log:" >&2
        tail -n 40 "$out/agent.log" >&2
    fi
    echo "demo: FAILED (exit code $code); logs are in $out" >&2
    exit 1
fi
