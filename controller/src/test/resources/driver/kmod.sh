#!/bin/sh
# kmod.sh NODE PROGRAM ARGUMENT...: modprobe, rmmod and modinfo of a node that is a directory. As the real ones: to load
# what is loaded changes nothing and succeeds, what is in use is not unloaded, what is not there is not found.
# NODE/modules has a file for each module that could be loaded, NODE/faults what goes wrong, NODE/events what was asked.
set -u
node=$1
program=$2
shift 2
sys=$node/sys
echo "$program $*" >>"$node/events"
fault() {
    if [ -e "$node/faults/$1" ]; then
        cat "$node/faults/$1" >&2
        exit 1
    fi
}
case $program in
    modinfo)
        [ -e "$node/modules/$1" ] || { echo "modinfo: ERROR: Module $1 not found." >&2; exit 1; }
        cat "$node/modules/$1"
        ;;
    modprobe)
        module=$1
        shift
        if [ -d "$sys/module/$module" ]; then
            exit 0
        fi
        [ -e "$node/modules/$module" ] || { echo "modprobe: FATAL: Module $module not found in directory /lib/modules" >&2; exit 1; }
        fault "load-$module-${*:-plain}"
        mkdir -p "$sys/module/$module/holders"
        echo 0 >"$sys/module/$module/refcnt"
        echo live >"$sys/module/$module/initstate"
        for parameter in "$@"; do
            if grep -q "^parm:.*${parameter%%=*}:" "$node/modules/$module"; then
                mkdir -p "$sys/module/$module/parameters"
                echo "${parameter#*=}" >"$sys/module/$module/parameters/${parameter%%=*}"
            fi
        done
        if [ "$module" = erdma ] && [ -d "$node/unloaded" ] && [ ! -e "$node/faults/slow-devices" ]; then
            mv "$node/unloaded/infiniband" "$node/unloaded/infiniband_verbs" "$sys/class/"
        fi
        ;;
    rmmod)
        [ -d "$sys/module/$1" ] || { echo "rmmod: ERROR: Module $1 is not currently loaded" >&2; exit 1; }
        if [ -e "$node/faults/user-comes" ]; then
            echo 1 >"$sys/module/$1/refcnt"
        fi
        [ "$(cat "$sys/module/$1/refcnt")" = 0 ] || { echo "rmmod: ERROR: Module $1 is in use" >&2; exit 1; }
        fault "unload-$1"
        if [ ! -e "$node/faults/stays" ]; then
            rm -r "$sys/module/$1"
        fi
        mkdir -p "$node/unloaded"
        mv "$sys/class/infiniband" "$sys/class/infiniband_verbs" "$node/unloaded/"
        ;;
    *)
        echo "no such program: $program" >&2
        exit 127
        ;;
esac
