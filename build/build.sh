#!/bin/bash
# Builds everything but runs no test, and makes the agent's start-up cache; shows the log only when something fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
JAVA_HOME=$(build/jdk.sh)
export JAVA_HOME

log=target/build.log
mkdir -p target
if ! { mvn -B -ntp package -DskipTests && build/aot-cache.sh --stand-ins controller/target/erdma; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "build: failed; its log is $log" >&2
    exit 1
fi
