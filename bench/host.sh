#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# host.sh BUILD [SAMPLES]: the same samples as a trace and as a perf.data file,
# and what `parasite report` and `perf report --stdio` take to read them: time,
# most memory held, bytes of the file. perf comes with Debian's linux-perf; it
# is left out where it is missing.
set -eu

build=${1:?usage: host.sh BUILD [SAMPLES]}
samples=${2:-10000000}
work=$build/bench-host
image=$(realpath "$build/x86_64/lua/lua.elf")
parasite=$build/host/parasite

mkdir -p "$work"
gcc -std=gnu11 -O2 -Iprofiler/include -o "$work/make_stream" \
    tests/tool/make_stream.c
gcc -std=gnu11 -O2 -o "$work/make_perf" tests/tool/make_perf.c
nm "$image" | awk '$2 ~ /[Tt]/ && $3 !~ /\./ { print $1 }' |
    head -n 400 >"$work/addresses"
BUILD_ID=$(readelf -n "$image" | sed -n 's/.*Build ID: //p')
export BUILD_ID
"$work/make_stream" "$samples" 1 "$work/addresses" >"$work/packets"

# took WHAT FILE COMMAND...: one row of the table
took()
{
    what=$1
    file=$2
    shift 2
    /usr/bin/time -f '%e %M' -o "$work/took" "$@" >"$work/out" 2>"$work/err"
    awk -v what="$what" -v bytes="$(wc -c <"$file")" -v samples="$samples" '{
        printf "%-24s %8.2f s %8.1f MB held %8.2f bytes a sample\n", what, $1,
               $2 / 1000, bytes / samples
    }' "$work/took"
}

echo "$samples samples, 1,000 stacks:"
took 'parasite record' "$work/packets" "$parasite" record -q -k "$image" \
    -o "$work/trace" "$work/packets"
took 'parasite report' "$work/trace/stream" "$parasite" report -q \
    -i "$work/trace"
took 'parasite report -g' "$work/trace/stream" "$parasite" report -q -g \
    -i "$work/trace"
if command -v perf >/dev/null; then
    "$work/make_perf" "$samples" 1 "$work/addresses" "$image" \
        >"$work/perf.data"
    took 'perf report --stdio' "$work/perf.data" perf report --stdio \
        -i "$work/perf.data"
    rm "$work/perf.data"
fi
