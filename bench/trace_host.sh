#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# trace_host.sh BUILD [LIVES [TURNS]]: the same events of tasks recorded by our
# recorder, compiled for the host, and by LTTng-UST (Debian's), in turns: CPU
# time in the program that records, and bytes in the files. Writes lines of JSON
# to BUILD/bench/trace_host.jsonl and prints them.
#
# LTTng's time is that of the program alone; its consumer daemon has a process
# of its own. Ours encodes its packets itself: trace_encoded_ns includes that.
set -eu

build=${1:?usage: trace_host.sh BUILD [LIVES [TURNS]]}
lives=${2:-200000}
turns=${3:-5}
results=$build/bench/trace_host.jsonl
work=$(realpath "$build")/bench/trace_host
rm -rf "$work"
mkdir -p "$work"
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh

# shellcheck disable=SC2046 # a list of files
gcc -std=gnu11 -O2 -DPROF_HOSTED -Iprofiler/include -Iprofiler -Ibench \
    -o "$work/ours" bench/trace_ours.c profiler/base/*.c \
    $(find profiler/trace profiler/stream -name '*.c')
gcc -std=gnu11 -O2 -Ibench -o "$work/lttng" bench/trace_lttng.c -llttng-ust

LTTNG_HOME=$work
LTTNG_UST_REGISTER_TIMEOUT=-1 # the program waits for its session
export LTTNG_HOME LTTNG_UST_REGISTER_TIMEOUT
daemon=
if ! pgrep -x lttng-sessiond >"$work/running"; then
    lttng-sessiond --quiet >"$work/sessiond.log" 2>&1 &
    daemon=$!
    until lttng --quiet list >"$work/list" 2>&1; do
        kill -0 "$daemon" || exit 1
        sleep 0.2
    done
fi
# shellcheck disable=SC2064 # as it is now
trap "[ -z '$daemon' ] || kill $daemon" EXIT

# Appends "NS BYTES LOST" of a turn to lttng.took.
turn_of_lttng()
{
    name=parasite-$$
    rm -rf "$work/out"
    lttng --quiet create "$name" --output "$work/out"
    lttng --quiet enable-channel --userspace --session "$name" \
        --subbuf-size 4M --num-subbuf 16 events
    lttng --quiet enable-event --userspace --session "$name" \
        --channel events 'parasite:*'
    lttng --quiet start "$name"
    "$work/lttng" "$lives" >"$work/ns"
    lttng --quiet stop "$name"
    lttng --quiet destroy "$name"
    bytes=$(find "$work/out" -name 'events_*' ! -path '*/index/*' \
        -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
    events=$(babeltrace2 "$work/out" 2>"$work/lost" | wc -l)
    echo "$(cat "$work/ns") $bytes $events" >>"$work/lttng.took"
}

turn_of_ours()
{
    "$work/ours" "$lives" "$work/packets" >"$work/ns"
    echo "$(cat "$work/ns") $(stat -c %s "$work/packets")" >>"$work/ours.took"
}

for _ in $(seq "$turns"); do
    turn_of_ours
    turn_of_lttng
done

# median FIELD FILE
median()
{
    awk -v field="$1" '{ print $field }' "$work/$2.took" | sort -g |
        awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

events=$((lives * 7))
per_event()
{
    awk -v all="$1" -v events="$events" 'BEGIN { printf "%.2f", all / events }'
}

ours=$(median 1 ours)
theirs=$(median 1 lttng)
bytes=$(per_event "$(median 4 ours)")
kept=$(median 3 lttng) # of their events: the others were lost
their_bytes=$(awk -v all="$(median 2 lttng)" -v events="$kept" \
    'BEGIN { printf "%.2f", all / events }')
keep host trace_ns "$ours" ns
keep host trace_encoded_ns "$(median 2 ours)" ns
keep host trace_lttng_ns "$theirs" ns
keep host trace_time_ratio "$(ratio "$ours" "$theirs")" ratio
keep host trace_bytes "$bytes" bytes
keep host trace_lttng_bytes "$their_bytes" bytes
keep host trace_bytes_ratio "$(ratio "$bytes" "$their_bytes")" ratio
keep host trace_lost "$(median 3 ours)" events
keep host trace_lttng_kept "$kept" events
