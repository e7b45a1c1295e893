#!/bin/bash
# Runs inside the lab's machine: makes the RDMA devices, then runs a program of the tests. Logs go to $VM_OUT.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=e2e/roce.sh
. "$project/e2e/roce.sh"

# With the stand-in for the erdma driver, where it was built.
if [ -d "$project/target/erdma-module/modules" ]; then
    mount --bind "$project/target/erdma-module/modules" /lib/modules
fi
roce_up
# Only where this very run made it: one of former jars is complained about. The programs take it away from the agents that
# they start: those have a cache of their own.
if [ -r "$VM_OUT/cli.aot" ]; then
    export ERDMA_JAVA_OPTS="-XX:AOTCache=$project/target/lab/cli.aot"
fi
exec "$project/build/test-main.sh" "$@" "$project/controller/target/erdma" "$VM_OUT"
