#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pages.sh BUILD: the page of `parasite flame` compared with speedscope, which
# npm fetches once, on the same profiles: size, time until drawn, memory. The
# page has every sample with its time; speedscope gets folded stacks, which have
# no times. Then how long actions block the large page (page_block.js). Then the
# page of `parasite timeline` (page_tasks.js). Writes lines of JSON to
# BUILD/bench/pages.jsonl and prints them.
set -eu

build=${1:?usage: pages.sh BUILD}
results=$build/bench/pages.jsonl
work=$build/bench/pages
parasite=$build/host/parasite
PLAYWRIGHT=playwright-core@1.60.0
SPEEDSCOPE=speedscope@1.25.0

# fetched FOLDER PACKAGE
fetched()
{
    [ -d "$build/$1/node_modules/${2%@*}" ] ||
        npm install --prefix "$build/$1" --no-audit --no-fund --no-save \
            --ignore-scripts --silent "$2"
}

mkdir -p "$work" "$build/playwright" "$build/speedscope"
fetched playwright "$PLAYWRIGHT"
fetched speedscope "$SPEEDSCOPE"

# profile NAME SAMPLES STACKS
profile()
{
    gcc -std=gnu11 -O2 -DNODES="$3u" -Iprofiler/include -o "$work/make" \
        tests/tool/make_stream.c
    "$work/make" "$2" 1 "$work/addresses" >"$work/$1"
    "$parasite" flame -q -o "$work/$1.html" "$work/$1" 2>/dev/null
    "$parasite" export -q -f folded -o "$work/$1.folded" "$work/$1" 2>/dev/null
}

seq 1 4096 | awk '{ printf "%x\n", 1048576 + 64 * $1 }' >"$work/addresses"
profile small 10000 1000
profile large 1000000 100000
NODE_PATH=$build/playwright/node_modules
case $NODE_PATH in
/*) ;;
*) NODE_PATH=$PWD/$NODE_PATH ;;
esac
export NODE_PATH
node bench/pages.js "$work" "$build/speedscope/node_modules/speedscope" \
    >"$results"
node bench/page_block.js "$work" >>"$results"

EVENTS=1600000 # of 199,000 objects
gcc -std=gnu11 -O2 -DNODES=1000u -Iprofiler/include -o "$work/make_tasks" \
    tests/tool/make_tasks.c

"$work/make_tasks" $EVENTS 1 >"$work/tasks" 2>/dev/null
"$parasite" timeline -q -o "$work/tasks.html" "$work/tasks" 2>/dev/null
node bench/evented.js $EVENTS >"$work/evented.json"
node bench/page_tasks.js "$work" $EVENTS \
    "$build/speedscope/node_modules/speedscope" >>"$results"
cat "$results"
