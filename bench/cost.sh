#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cost.sh BUILD [WIDTH]: what a sample costs, in instructions and bytes, on both
# widths. The cost image and a minute of lua run under -icount, where a run
# repeats exactly, so that the machine's load does not matter. Writes lines of
# JSON to BUILD/bench/cost.jsonl and shows them; with WIDTH those of that width,
# to BUILD/bench/cost.jsonl.WIDTH.
set -eu

build=${1:?usage: cost.sh BUILD [WIDTH]}
results=$build/bench/cost.jsonl${2:+.$2}
mkdir -p "$build/bench"
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh

# guest WIDTH IMAGE LIMIT LOG ARGUMENT...: it ends through debug-exit with code
# 0, which QEMU makes 1
guest()
{
    width=$1
    image=$2
    limit=$3
    log=$4
    shift 4
    timeout "$limit" "qemu-system-$width" -accel tcg -display none \
        -no-reboot -serial stdio \
        -device isa-debug-exit,iobase=0xf4,iosize=4 -m 128 \
        -icount shift=0,sleep=off -rtc clock=vm -kernel "$image" "$@" \
        >"$log" </dev/null || [ $? = 1 ] || {
        echo "cost.sh: $image did not come to its end; see $log" >&2
        return 1
    }
}

# Lines "bench NAME VALUE" of the image.
instructions()
{
    log=$build/bench/cost.$1.log
    guest "$1" "$build/$1/bench/cost/cost.elf" 900 "$log" \
        -append 'prof.start=off prof.every=0'
    tr -d '\r' <"$log" | sed -n 's/^bench //p' >"$log.rows"
    while read -r name value; do
        keep "$1" "$name" "$value"
    done <"$log.rows"
}

# What the image gives the profiler, and what the profiler has besides.
memory()
{
    own=$(size "$build/$1/profiler.o" | awk 'NR == 2 { print $2 + $3 }')
    given=$(sed -n 's/^memory_given \([0-9]*\).*/\1/p' \
        "$build/bench/cost.$1.log.rows")
    keep "$1" memory $((own + given))
}

# The whole module at -Os: code, and tables with it.
text()
{
    mkdir -p "$build/bench/text/$1"
    case $1 in
    i386) set -- "$1" -m32 -march=i686 ;;
    x86_64) set -- "$1" -m64 ;;
    esac
    width=$1
    shift
    for source in profiler/src/*.c; do
        [ "$source" != profiler/src/offsets.c ] || continue
        gcc "$@" -std=gnu11 -Os -ffreestanding -fno-pic -fno-pie \
            -fno-stack-protector -mno-red-zone -fno-omit-frame-pointer \
            -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables \
            -mgeneral-regs-only -Iprofiler/include -c "$source" \
            -o "$build/bench/text/$width/$(basename "$source").o"
    done
    size -A "$build/bench/text/$width"/*.o \
        "$build/$width/obj/profiler/src/$width"/*.o | awk '
        /^\.text/ { code += $2 }
        /^\.rodata/ { tables += $2 }
        END { print code, code + tables }' >"$build/bench/text.$width"
    read -r code whole <"$build/bench/text.$width"
    keep "$width" text_bytes "$code"
    keep "$width" text_and_tables_bytes "$whole"
}

# What a minute of lua at 1 kHz with whole stacks takes to be told. The second
# figure is without the first definitions of stacks, which are five bytes more
# in the sample that they come with; but with what is told of them again,
# packets' heads and all else.
stream()
{
    packets=$build/bench/stream.$1.bin
    trace=$build/bench/stream.$1.trace
    rm -rf "$trace" "$packets"
    guest "$1" "$build/$1/lua/lua.elf" 900 "$build/bench/stream.$1.log" \
        -debugcon "file:$packets" -initrd services/lua/scripts/parser.lua \
        -append 'prof.out=e9 prof.every=60000 prof.reports=1'
    "$build/host/parasite" record -q -o "$trace" "file:$packets"
    "$build/host/parasite" info --json "$trace" | awk -F '[:,]' '
        { gsub(/[" ]/, "", $1); value[$1] = $2 }
        END {
            printf "%.2f %.2f\n", value["bytes"] / value["samples"],
                (value["bytes"] - 5 * value["nodes"]) / value["samples"]
        }' >"$trace.bytes"
    read -r all seen <"$trace.bytes"
    keep "$1" stream_all "$all"
    keep "$1" stream_seen "$seen"
}

if [ $# -gt 1 ]; then
    instructions "$2"
    memory "$2"
    text "$2"
    stream "$2"
    exit
fi
# Both widths at a time: nothing here is measured in time.
rm -f "$results".*
printf '%s\n' i386 x86_64 | xargs -P 2 -n 1 "$0" "$build"
cat "$results".* | tee "$results"
