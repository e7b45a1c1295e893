#!/bin/bash
# Builds a kubelet, a control plane and kubectl from Debian's source package "kubernetes" into .lab/kubernetes/bin, with
# Debian's Go, and unpacks Debian's etcd beside them; about seven minutes on two cores. Does nothing where they are there.
#   LAB              the lab's directory (default: .lab beside this project's pom.xml)
#   KUBERNETES_BIN   a directory that holds other ones: then nothing is built, and they must all be there
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LAB=${LAB:-$project/.lab}
programs=(kubelet kube-apiserver kube-controller-manager kube-scheduler kubectl)
needed=("${programs[@]}" etcd)
home=$LAB/kubernetes

fail() {
    echo "kubernetes: $*" >&2
    exit 1
}

# missing_in DIRECTORY: names the programs that it lacks
missing_in() {
    local program
    for program in "${needed[@]}"; do
        [ -x "$1/$program" ] || echo "$program"
    done
}

if [ -n "${KUBERNETES_BIN:-}" ]; then
    missing=$(missing_in "$KUBERNETES_BIN" | paste -sd ' ')
    [ -z "$missing" ] || fail "KUBERNETES_BIN=$KUBERNETES_BIN lacks $missing"
    exit 0
fi
mkdir -p "$home"
exec 9>"$home/.lock"
flock -w 1800 9 || fail "another process has held $home/.lock for half an hour"
[ -n "$(missing_in "$home/bin")" ] || exit 0

work=$(mktemp -d "$home/build.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# quietly COMMAND...: its words only when it fails
quietly() {
    "$@" >"$work/log" 2>&1 </dev/null || {
        tail -n 40 "$work/log" >&2
        fail "failed: $1 ${2:-}"
    }
}

# debian COMMAND...: apt-get, with nothing of the machine's changed
debian() {
    (cd "$work" && quietly apt-get -qq -o Acquire::Retries=3 -o APT::Sandbox::User=root "$@")
}

# The machine's own Debian sources, read as sources of source packages, beside its lists.
fetch() {
    local apart
    mkdir -p "$work/sources.d" "$work/lists/partial"
    if [ -r /etc/apt/sources.list.d/debian.sources ]; then
        sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$work/sources.d/debian.sources"
    else
        sed -n 's/^deb\(-src\)\?  *\(.*\)/deb-src \2/p' /etc/apt/sources.list | sort -u >"$work/sources.d/debian.list"
    fi
    apart=(
        -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/sources.d" -o "Dir::State::lists=$work/lists"
    )
    debian "${apart[@]}" update
    debian "${apart[@]}" source --download-only kubernetes
    # Unpacked, not installed: a package of etcd starts one.
    debian download etcd-server golang-github-modern-go-reflect2-dev
    for package in "$work"/*.deb; do
        dpkg-deb -x "$package" "$work/packages"
    done
    mkdir -p "$work/gopath/src/k8s.io/kubernetes"
    tar -C "$work/gopath/src/k8s.io/kubernetes" --strip-components=1 -xf "$work"/kubernetes_*.orig.tar.*
    # The source's own copy reads maps as Go had them before 1.18, and the API server dies of it at the first custom
    # resource.
    local copy=$work/gopath/src/k8s.io/kubernetes/vendor/github.com/modern-go/reflect2
    rm -rf "$copy"
    cp -r "$work/packages/usr/share/gocode/src/github.com/modern-go/reflect2" "$copy"
}

build() {
    local name=k8s.io/kubernetes/vendor/k8s.io/component-base/version number packages
    export PATH=/usr/lib/go-1.19/bin:$PATH
    export GO111MODULE=off GOPATH=$work/gopath GOCACHE=$work/cache CGO_ENABLED=0 GOFLAGS=
    cd "$work/gopath/src/k8s.io/kubernetes"
    # 1.20.5+really1.20.2-1.1+deb12u1 is 1.20.2.
    number=$(sed -n 's/^Version: \(.*really\)\?\([0-9.]*\).*/\2/p' "$work"/kubernetes_*.dsc | head -n 1)

    # The API server is built with the OpenAPI definitions of all types, which the source package leaves out. The
    # generator tells of rules that some types break, and ends with an error for that.
    quietly go build -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
    packages=$(grep -rl '+k8s:openapi-gen=true' --include='*.go' pkg staging/src | xargs -n1 dirname | sort -u |
        sed -e 's#^staging/src/##' -e 's#^pkg/#k8s.io/kubernetes/pkg/#' |
        grep -vE 'sample|code-generator|/testdata|kube-openapi|generated/openapi' | paste -sd,)
    "$work/openapi-gen" -i "$packages" -p k8s.io/kubernetes/pkg/generated/openapi -O zz_generated.openapi \
        -h hack/boilerplate/boilerplate.generatego.txt -r "$work/violations" >"$work/openapi.log" 2>&1 || true
    [ -s pkg/generated/openapi/zz_generated.openapi.go ] || {
        tail -n 20 "$work/openapi.log" >&2
        fail "no OpenAPI definitions were generated"
    }

    mkdir -p "$work/bin"
    quietly go build -o "$work/bin/" -ldflags "-s -w -X $name.gitVersion=v$number -X $name.gitMajor=${number%%.*} \
        -X $name.gitMinor=$(cut -d. -f2 <<<"$number")" "${programs[@]/#/k8s.io/kubernetes/cmd/}"
    cp "$work/packages/usr/bin/etcd" "$work/bin/"
}

start=$SECONDS
echo "kubernetes: building $(paste -sd ' ' <<<"${programs[*]}") from Debian's sources, once; some minutes"
fetch
build
rm -rf "${home:?}/bin"
mv "$work/bin" "$home/bin"
echo "kubernetes: built v$("$home/bin/kubelet" --version | sed 's/.* v//') into $home/bin in $((SECONDS - start)) s"
