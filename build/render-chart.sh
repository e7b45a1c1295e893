#!/bin/bash
# Prints the manifests of charts/erdma-controller, where there is no helm: build/render-chart.sh [--hooks] VALUES.yaml...
# Without hooks, for kubectl apply; with --hooks what Helm makes when the release is uninstalled.
#   --kube-version=VERSION   the cluster's version (default: that of the chart's tests)
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
JAVA_HOME=$("$project/build/jdk.sh")
export JAVA_HOME

if [ ! -r "$project/charts/target/test.classpath" ]; then
    (cd "$project" && mvn -B -ntp -q -pl charts -am process-test-classes >&2)
fi
options=() values=()
for argument in "$@"; do
    case $argument in
        -*) options+=("$argument") ;;
        *) values+=("$argument") ;;
    esac
done
exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$(cat "$project/charts/target/test.classpath")" io.erdma.charts.RenderChart \
    ${options[@]+"${options[@]}"} "$project" ${values[@]+"${values[@]}"}
