#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD [short]: how the costs grow, with the rate, the depth of stacks,
# symbols, distinct stacks and addresses; in guests, on both widths at a time,
# counted in instructions under -icount, where a run repeats exactly; and what
# embed and parasite take on this host. JSON lines in BUILD/bench/growth.jsonl,
# a page with a plot for each in BUILD/bench/growth.html, and a table here, each
# curve held against its bound (curves.py). Status 1 where one is not kept.
#
# short: two points of each curve, which are not judged.

set -eu
build=${1:?usage: run.sh BUILD [short]}
form=${2:-full}
here=bench/growth
work=$build/bench/growth.work
results=$build/bench/growth.jsonl
rm -rf "$work"
mkdir -p "$work"

# points FULL SHORT
points()
{
    if [ "$form" = short ]; then echo "$2"; else echo "$1"; fi
}

slices=$(points 2500 1000)

# guest WIDTH CURVE POINTS MEMORY [ARGUMENT...]: the image ends through
# debug-exit with code 0, which QEMU makes 1.
guest()
{
    width=$1
    curve=$2
    at=$3
    memory=$4
    shift 4
    log=$work/$width.$curve.${at##*,}.log
    timeout "${LIMIT:-1200}" "qemu-system-$width" -accel tcg -display none \
        -no-reboot -serial stdio -device isa-debug-exit,iobase=0xf4,iosize=4 \
        -m "$memory" -icount shift=0,sleep=off -rtc clock=vm "$@" \
        -append "prof.start=off prof.every=0 prof.jitter=0 alarm=tick
growth.curve=$curve growth.points=$at growth.slices=$slices" \
        -kernel "$build/$width/bench/growth/growth.elf" >"$log" </dev/null ||
        [ $? = 1 ] || return 1
    if ! tr -d '\r' <"$log" | grep '^growth [a-z_0-9]* [0-9]* [0-9.]*$' \
        >"$log.lines" || grep '^growth: ' "$log" >&2; then
        echo "growth: $width $curve says nothing: $log" >&2
        return 1
    fi
    sed "s/^growth \(.*\) \(.*\) \(.*\)$/\
{\"width\":\"$width\",\"name\":\"\1\",\"x\":\2,\"value\":\3}/" "$log.lines"
}

# tables BITS FUNCTIONS...: their symbol tables, one after the other
tables()
{
    bits=$1
    shift
    for functions; do
        elf=$work/made$bits.$functions.elf
        "$work/made_image" "$bits" "$functions" "$elf"
        "$build/host/embed" "$elf" "$elf.table"
        cat "$elf.table"
    done >"$work/tables.$bits"
}

# guests WIDTH BITS: all curves of one width
guests()
{
    symbols=$(points 100,1000,10000,100000,1000000 100,1000)
    # shellcheck disable=SC2046 # points are words
    tables "$2" $(echo "$symbols" | tr , ' ')
    stacks=$(points 10,100,1000,10000,100000,1000000 10,1000)
    guest "$1" rate "$(points 100,200,500,1000,2000,5000,10000,20000 \
        1000,20000)" 128 &&
        guest "$1" depth "$(points 1,2,4,8,16,32,64,96,127 1,32)" 128 ||
        return 1
    for depth in $(points '1 2 4 8 16 32 64 96 127' '1 32'); do
        guest "$1" deep "$depth" 256 || return 1
    done
    guest "$1" stacks "$stacks" 1024 &&
        guest "$1" quiet "$stacks" 1024 &&
        guest "$1" limit "$(points 400000 150000)" "$(points 48 24)" &&
        guest "$1" addresses "$stacks" 1024 &&
        guest "$1" symbols "$symbols" 256 -initrd "$work/tables.$2"
}

gcc -std=gnu11 -O2 -o "$work/made_image" $here/host/made_image.c -lelf
guests i386 32 >"$work/i386.jsonl" &
other=$!
status=0
guests x86_64 64 >"$work/x86_64.jsonl" || status=1
wait $other || status=1
[ $status = 0 ] || exit 1
python3 $here/host.py "$build" "$work" "$build/x86_64/lua/lua.elf" "$form" \
    >"$work/host.jsonl"
cat "$work/i386.jsonl" "$work/x86_64.jsonl" "$work/host.jsonl" >"$results"
rm -rf "$work"/*.elf "$work"/*.table "$work"/tables.* "$work/trace" \
    "$work/packets"
python3 $here/page.py "$results" >"$build/bench/growth.html"
python3 $here/table.py "$results" "$form"
