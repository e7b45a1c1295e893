#!/bin/bash
# The Docker engine that the image is built and tested with:
#   build/docker.sh start   starts one if none answers, and waits until it does
#   build/docker.sh stop    ends it, if it was started here
#
# An engine started here has no bridge and leaves the machine's firewall alone: containers have the host's network or none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

state=target/docker

fail() {
    echo "docker: $*" >&2
    exit 1
}

answers() {
    timeout 20 docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# Whether process $1 is the engine that we started: its number may have gone to another program since.
ours() {
    [ "$(tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -o "pidfile=$PWD/$state/pid")" = "pidfile=$PWD/$state/pid" ]
}

start() {
    ! answers || return 0
    command -v dockerd >/dev/null || fail "there is no Docker engine; install the package docker.io (make install)"
    [ "$(id -u)" -eq 0 ] || fail "no Docker engine answers, and only root can start one: start it, or run this as root"
    mkdir -p "$state"
    setsid dockerd --iptables=false --ip6tables=false --bridge=none --pidfile="$PWD/$state/pid" \
        >"$state/log" 2>&1 </dev/null 9>&- &
    local engine=$! tries
    for ((tries = 0; tries < 300; tries++)); do
        ! answers || return 0
        kill -0 "$engine" 2>/dev/null || break
        sleep 0.2
    done
    tail -n 20 "$state/log" >&2
    fail "the engine did not start; its log is $state/log"
}

stop() {
    local engine tries
    engine=$(cat "$state/pid" 2>/dev/null) || return 0
    ours "$engine" || { rm -f "$state/pid"; return 0; }
    kill "$engine"
    for ((tries = 0; tries < 150; tries++)); do
        kill -0 "$engine" 2>/dev/null || return 0
        sleep 0.2
    done
    fail "the engine (process $engine) does not end"
}

case ${1:-} in
    start) start ;;
    stop) stop ;;
    *)
        echo "usage: $0 start|stop" >&2
        exit 64
        ;;
esac
