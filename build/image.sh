#!/bin/bash
# Builds the image from what `mvn package` left, prints what each of its layers takes, and saves it as
# target/image/erdma-controller.tar.
#   build/image.sh [--fresh]
#   REPOSITORY             name of the image without tag (default: erdma-controller); the tag is the project's version
#   JDK_BASE, DEBIAN_BASE  base images; by default they are made here of this machine's JDK and of Debian's packages
# With --fresh nothing of an earlier build is used again, so that Debian's latest packages get in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    echo "image: $*" >&2
    exit 1
}

options=()
case ${1:-} in
    '') ;;
    --fresh) options+=(--no-cache) ;;
    *)
        echo "usage: $0 [--fresh]" >&2
        exit 64
        ;;
esac
dist=controller/target/erdma
[ -r "$dist/lib/classpath" ] || fail "there is no $dist; make it by: make build"
build/docker.sh start

if [ -z "${JDK_BASE:-}" ] || [ -z "${DEBIAN_BASE:-}" ]; then
    bases=$(build/image-bases.sh "$@")
    DEBIAN_BASE=${DEBIAN_BASE:-${bases% *}}
    JDK_BASE=${JDK_BASE:-${bases#* }}
fi
version=$(cat "$dist/VERSION")
image=${REPOSITORY:-erdma-controller}:$version
# The time that the jars' entries bear, too.
epoch=$(date -d "$(sed -n 's#.*<project.build.outputTimestamp>\(.*\)</.*#\1#p' pom.xml)" +%s)
mkdir -p target/image
if ! DOCKER_BUILDKIT=0 docker build --network host --rm --force-rm ${options[@]+"${options[@]}"} --tag "$image" \
    --build-arg JDK_BASE="$JDK_BASE" --build-arg DEBIAN_BASE="$DEBIAN_BASE" --build-arg SOURCE_DATE_EPOCH="$epoch" \
    --build-arg VERSION="$version" --build-arg REVISION="$(git rev-parse HEAD 2>/dev/null || echo unknown)" \
    . >target/image/build.log 2>&1; then
    tail -n 40 target/image/build.log >&2
    fail "the build failed; its log is target/image/build.log"
fi
docker save "$image" --output target/image/erdma-controller.tar

# The newest layer comes first in the history, and only COPY makes one.
mapfile -t sizes < <(docker history --human=false --format '{{.Size}}' "$image" | awk '$1 > 0' | tac)
names=("Debian packages" "Java runtime" "agent and libraries" "start-up cache")
[ ${#sizes[@]} -eq ${#names[@]} ] || fail "$image has ${#sizes[@]} layers, not ${#names[@]}; is build/image.sh behind the Dockerfile?"
total=0
for i in "${!names[@]}"; do
    printf '%-22s %6.1f MB\n' "${names[i]}" "$(awk "BEGIN { print ${sizes[i]} / 1e6 }")"
    total=$((total + sizes[i]))
done
printf '%-22s %6.1f MB unpacked\n' "$image" "$(awk "BEGIN { print $total / 1e6 }")"
