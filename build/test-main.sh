#!/bin/bash
# test-main.sh CLASS [ARGUMENT...]: runs a program that lives among the tests, after build/build.sh.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
java=${ERDMA_TEST_JAVA:-$("$project/build/jdk.sh")/bin/java}

lib=$project/controller/target/erdma/lib
classes=
for module in native device-plugin controller; do
    classes+="$project/$module/target/test-classes:"
done
# shellcheck disable=SC2086 # JAVA_TEST_OPTIONS holds several
exec "$java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED \
    --sun-misc-unsafe-memory-access=allow "-Djffi.boot.library.path=$lib/native/$(uname -m)" \
    ${JAVA_TEST_OPTIONS:-} -cp "$classes$lib/*" "$@"
