#!/bin/bash
# Prints the home of a JDK 25, the version that the pom's toolchain asks for: JAVA_HOME if it is one, else the first one
# under /usr/lib/jvm (or $JVM_DIR). A newer JDK runs what is built, but does not build it.
set -euo pipefail

wanted=25

# The feature version of the JDK in $1, nothing if it is none.
feature() {
    [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
    sed -n 's/^JAVA_VERSION="\([0-9]\{1,\}\).*/\1/p' "$1/release"
}

for home in "${JAVA_HOME:-}" "${JVM_DIR:-/usr/lib/jvm}"/*; do
    if [ -n "$home" ] && [ "$(feature "$home")" = "$wanted" ]; then
        echo "$home"
        exit 0
    fi
done
echo "no JDK $wanted found: install one under /usr/lib/jvm, or set JAVA_HOME to its directory" >&2
exit 1
