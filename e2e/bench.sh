#!/bin/bash
# Measures the agent on this machine and in its image, with a stand-in for libibverbs and for the kubelet; writes
# docs/bench.md.
# Run it on a quiet machine.   bench.sh [--quick]
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$project"
mkdir -p target/bench docs
# The client must not stop for its collector while it waits for an answer.
export JAVA_TEST_OPTIONS="-Xms512m -Xmn256m ${JAVA_TEST_OPTIONS:-}"
exec build/test-main.sh io.erdma.bench.Bench "$@" controller/target/erdma \
    "erdma-controller:$(cat controller/target/erdma/VERSION)" target/bench docs/bench.md
