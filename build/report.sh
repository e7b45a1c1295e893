#!/bin/bash
# Adds up what the last `make test` really ran, from the reports it left: JUnit's, the lab's and the soak's.
# Fails when something failed or was skipped, or when a kind of test left no report at all: in the last line, "N passed,
# N failed", all three count as failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s nullglob

passed=0 failed=0 skipped=0 missing=0

# report KIND PASSED FAILED SKIPPED
report() {
    printf '%-24s %5d passed, %d failed, %d skipped\n' "$1" "$2" "$3" "$4"
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    if [ $(($2 + $3)) -eq 0 ]; then
        echo "$1: nothing ran" >&2
        missing=$((missing + 1))
    fi
}

# junit KIND FILE...: sums of the testsuite elements' attributes.
junit() {
    local kind=$1 sums
    shift
    sums=$(cat /dev/null "$@" | grep -o '<testsuite [^>]*>' | awk '
        function attribute(name,   value) {
            return match($0, " " name "=\"[0-9]+\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) + 0 : 0
        }
        { tests += attribute("tests"); failed += attribute("failures") + attribute("errors"); skipped += attribute("skipped") }
        END { print tests - failed - skipped, failed + 0, skipped + 0 }') || true
    # shellcheck disable=SC2086 # three numbers
    report "$kind" ${sums:-0 0 0}
}

# tap KIND FILE: lines "ok - …" and "not ok - …".
tap() {
    local good=0 bad=0
    if [ -r "$2" ]; then
        good=$(grep -c '^ok ' "$2" || true)
        bad=$(grep -c '^not ok ' "$2" || true)
    fi
    report "$1" "$good" "$bad" 0
}

for module in native proto device-plugin controller charts; do
    junit "$module, unit" "$module"/target/surefire-reports/TEST-*.xml
done
junit "integration" ./*/target/failsafe-reports/TEST-*.xml
tap "lab" target/lab/lab.tap
tap "soak" target/soak/soak.tap

failed=$((failed + skipped + missing))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
