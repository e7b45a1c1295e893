#!/bin/sh
# Records what the installed ibv_devinfo prints for each stand-in/*/devices.txt; run after changing one of those.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -shared -fPIC -O1 -Wall -Wextra -Wno-format-truncation -Wl,-soname,libibverbs.so.1 \
    -Wl,--version-script=verbs-stand-in.map -o "$work/libibverbs.so.1" verbs-stand-in.c
for directory in stand-in/*/; do
    for variant in plain: list:-l verbose:-v; do
        name=${variant%%:*}
        code=0
        # shellcheck disable=SC2086 # no option is no argument
        VERBS_STAND_IN=${directory}devices.txt LD_LIBRARY_PATH=$work ibv_devinfo ${variant#*:} \
            > "$directory$name.stdout" 2> "$directory$name.stderr" || code=$?
        echo "$code" > "$directory$name.exit"
    done
done
