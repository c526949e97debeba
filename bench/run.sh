#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Boots the cost image on both widths and prints what came out as one table,
# each row with its goal: run.sh BUILD. Everything is counted in instructions
# under -icount, where a run repeats exactly, so that the machine's load does
# not matter. The figures are kept as JSON lines in BUILD/bench/cost.jsonl. What
# symbols and names take on this host comes behind (symbols.sh, names.sh).

set -eu
build=${1:?usage: run.sh BUILD}
results=$build/bench/cost.jsonl
mkdir -p "$build/bench"
: >"$results"

measure() {
    # The image ends through debug-exit with code 0, which QEMU makes 1.
    timeout 300 "qemu-system-$1" -accel tcg -display none -no-reboot \
        -serial stdio -device isa-debug-exit,iobase=0xf4,iosize=4 -m 128 \
        -icount shift=0,sleep=off -rtc clock=vm \
        -append 'prof.start=off prof.every=0' \
        -kernel "$build/$1/bench/cost/cost.elf" >"$build/bench/cost.$1.log" ||
        [ $? = 1 ]
    tr -d '\r' <"$build/bench/cost.$1.log" |
        sed -n "s/^bench \([a-z_0-9]*\) \([0-9.]*\)$/\
{\"width\":\"$1\",\"name\":\"\1\",\"value\":\2}/p" >>"$results"
}

# What the image gives the profiler, and what the profiler has besides.
memory() {
    own=$(size "$build/$1/profiler.o" | awk 'NR == 2 { print $2 + $3 }')
    given=$(value "$1" memory_given)
    printf '{"width":"%s","name":"memory","value":%d}\n' "$1" \
        $((own + ${given%.*})) >>"$results"
}

value() {
    sed -n "s/^{\"width\":\"$1\",\"name\":\"$2\",\"value\":\([0-9.]*\)}$/\1/p" \
        "$results"
}

# What a minute of lua at 1 kHz with whole stacks takes to be told. The second
# figure is without the first definitions of stacks, which are five bytes more
# in the sample that they come with; but with what is told of them again,
# packets' heads and all else.
stream() {
    log=$build/bench/stream.$1.log
    packets=$build/bench/stream.$1.bin
    trace=$build/bench/stream.$1.trace
    rm -rf "$trace" "$packets"
    timeout 600 "qemu-system-$1" -accel tcg -display none -no-reboot \
        -serial stdio -device isa-debug-exit,iobase=0xf4,iosize=4 -m 128 \
        -icount shift=0,sleep=off -rtc clock=vm -debugcon "file:$packets" \
        -append 'prof.out=e9 prof.every=60000 prof.reports=1' \
        -initrd services/lua/scripts/parser.lua \
        -kernel "$build/$1/lua/lua.elf" >"$log" </dev/null || [ $? = 1 ]
    "$build/host/parasite" record -q -o "$trace" "file:$packets"
    "$build/host/parasite" info --json "$trace" |
        awk -F '[:,]' -v width="$1" '
            { gsub(/[" ]/, "", $1); value[$1] = $2 }
            function row(name, bytes) {
                printf "{\"width\":\"%s\",\"name\":\"%s\",\"value\":%.2f}\n",
                    width, name, bytes / value["samples"]
            }
            END {
                row("stream_all", value["bytes"])
                row("stream_seen", value["bytes"] - 5 * value["nodes"])
            }' >>"$results"
}

failed=0

# row NAME WHAT GOAL: GOAL is the most it may be, or - where there is none.
row() {
    a=$(value i386 "$1")
    b=$(value x86_64 "$1")
    if [ -z "$a" ] || [ -z "$b" ]; then
        echo "bench: no figure for $1; see $build/bench/cost.*.log" >&2
        exit 1
    fi
    verdict=
    if [ "$3" != - ]; then
        verdict=reached
        if awk "BEGIN { exit !($a > $3 || $b > $3) }"; then
            verdict='NOT REACHED'
            failed=1
        fi
    fi
    printf '%-52s %10s %10s %8s  %s\n' "$2" "$a" "$b" "$3" "$verdict"
}

measure i386
measure x86_64
memory i386
memory x86_64
stream i386
stream x86_64
echo
printf '%-52s %10s %10s %8s\n' 'instructions (under -icount)' i386 x86_64 goal
row bare_handler 'a bare PIT handler: count, EOI, iret' -
row storing_handler 'one that stores the address as well' -
row kernel_tick "our kernel's own handler" -
row flat_sample 'added to it by a flat sample' 40
row stack_1 'added by a sample with 1 caller' -
row stack_11 'added by a sample with 11 callers' -
row stack_64 'added by a sample with 64 callers' -
row frame 'for each of them, 1 to 100' 12
row own_tick 'a tick of ours that the kernel does not see, whole' -
row full_vector 'the same with the vector full' -
row drain_known 'drained sample, address seen before' -
row drain_stack_11 'drained sample with 11 callers, seen before' -
row drain_new 'drained sample, half of them new addresses' -
row lookup 'symbol lookup' -
row name "a symbol's name out of the table" -
row report 'report of 12 rows' -
echo
printf '%-52s %10s %10s %8s\n' bytes i386 x86_64 goal
row stack "interrupted stack used, the kernel's handler apart" 256
row memory 'memory of the profiler at the default settings' 65536
row stream_all 'stream: for a sample, a minute of lua, all in all' 8
row stream_seen 'the same without the first definitions of stacks' -
echo
bench/perf/run.sh "$build" || failed=1
echo
bench/symbols.sh "$build" || failed=1
echo
bench/names.sh "$build" || failed=1
echo
bench/irc.sh "$build" || failed=1
exit $failed
