#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cost.sh BUILD [WIDTH]: the cost of a sample in instructions and bytes, on both
# widths. The cost image and a minute of lua run under -icount, which repeats
# exactly, so that the machine's load does not matter. Writes lines of JSON to
# BUILD/bench/cost.jsonl and prints them; with WIDTH only those of that width,
# to BUILD/bench/cost.jsonl.WIDTH.
set -eu

build=${1:?usage: cost.sh BUILD [WIDTH]}
results=$build/bench/cost.jsonl${2:+.$2}
mkdir -p "$build/bench"
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh

# guest WIDTH IMAGE CONSOLE ARGUMENT...: runs it to its end by debug-exit, with
# code 0, which is QEMU's exit status 1. It counts instructions: how long that
# takes is the host's, and limited only as the whole part is (run.sh).
guest()
{
    width=$1
    image=$2
    console=$3
    shift 3
    timeout "${LIMIT:-1200}" "qemu-system-$width" -accel tcg -display none \
        -no-reboot -serial stdio \
        -device isa-debug-exit,iobase=0xf4,iosize=4 -m 128 \
        -icount shift=0,sleep=off -rtc clock=vm -kernel "$image" "$@" \
        >"$console" </dev/null || [ $? = 1 ] || {
        echo "cost.sh: $image did not come to its end; see $console" >&2
        return 1
    }
}

# Lines "bench NAME VALUE" of the image.
instructions()
{
    log=$build/bench/cost.$1.log
    guest "$1" "$build/$1/bench/cost/cost.elf" "$log" \
        -append 'prof.start=off prof.every=0 prof.tick_drains=off alarm=tick'
    tr -d '\r' <"$log" | sed -n 's/^bench //p' >"$log.rows"
    guest "$1" "$build/$1/bench/events/events.elf" "$log.events" \
        -append 'prof.start=off prof.every=0 prof.tick_drains=off alarm=tick'
    tr -d '\r' <"$log.events" | sed -n 's/^bench //p' >>"$log.rows"
    while read -r name value; do
        keep "$1" "$name" "$value"
    done <"$log.rows"
}

# A flat sample by each timer: instructions, and what it writes to devices,
# which QEMU counts between two writes of port 0x80.
timers()
{
    for timer in pit nmi own shared; do
        log=$build/bench/lapic.$1.$timer.log
        guest "$1" "$build/$1/bench/lapic/lapic.elf" "$log" \
            -trace memory_region_ops_write -D "$log.writes" -append \
            "prof.start=off prof.every=0 prof.tick_drains=off timer=$timer"
        tr -d '\r' <"$log" | sed -n 's/^bench //p' >"$log.rows"
        read -r ticks cost <"$log.rows"
        keep "$1" "by_$timer" "$cost"
        keep "$1" "by_${timer}_writes" "$(awk -v ticks="$ticks" '
            /ioport80/ { marks++; next }
            marks == 1 && /(pic|pit|apic-msi).$/ { writes++ }
            END { printf "%.2f", writes / ticks }' "$log.writes")"
        rm "$log.writes"
    done
}

# nmi WIDTH NAME IMAGE WORD...: the same of an NMI, instructions only.
nmi()
{
    width=$1
    name=$2
    image=$3
    shift 3
    guest "$width" "$image" "$build/bench/$name.$width.log" -append \
        "prof.start=off prof.every=0 prof.tick_drains=off timer=nmi $*"
    keep "$width" "$name" "$(tr -d '\r' <"$build/bench/$name.$width.log" |
        sed -n 's/^bench [0-9]* //p')"
}

# NMIs with callers, and those of an image for several CPUs, which runs on one:
# QEMU counts instructions fairly on one only. The drain of several CPUs, and in
# an image for one.
several()
{
    smp=$build/smp/$1
    nmi "$1" by_nmi_11 "$build/$1/bench/lapic/lapic.elf" callers=11
    nmi "$1" by_nmi_several "$smp/bench/lapic/lapic.elf"
    nmi "$1" by_nmi_several_11 "$smp/bench/lapic/lapic.elf" callers=11
    log=$build/bench/cpus.$1.log
    guest "$1" "$smp/bench/cpus/cpus.elf" "$log" \
        -append 'prof.start=off prof.every=0'
    guest "$1" "$build/$1/bench/cpus/cpus.elf" "$log.one" \
        -append 'prof.start=off prof.every=0'
    cat "$log" "$log.one" | tr -d '\r' | sed -n 's/^bench //p' >"$log.rows"
    while read -r name value; do
        keep "$1" "$name" "$value"
    done <"$log.rows"
}

# The memory that the image gives the profiler, and the profiler's own data.
memory()
{
    own=$(size "$build/$1/profiler.o" | awk 'NR == 2 { print $2 + $3 }')
    given=$(sed -n 's/^memory_given \([0-9]*\).*/\1/p' \
        "$build/bench/cost.$1.log.rows")
    keep "$1" memory $((own + given))
}

# text_of WIDTH NAME [--without PART]...: bytes of code, and of code and tables,
# at -Os for these parts (tools/build/sources.py), to bench/text.WIDTH.NAME
text_of()
{
    width=$1
    name=$2
    shift 2
    folder=$build/bench/text/$width.$name
    rm -rf "$folder"
    mkdir -p "$folder"
    flags="$(small_flags "$width") -Os $(sources "$@" include | sed 's/^/-I/')
        $(sources "$@" defines | sed 's/^/-D/')"
    # shellcheck disable=SC2086 # lists of words
    for source in $(sources "$@" c); do
        gcc $flags -c "$source" -o "$folder/$(echo "$source" | tr / _).o"
    done
    # shellcheck disable=SC2086
    gcc $flags -S -o - "$(sources "$@" offsets)" |
        sed -n 's/^->\([A-Za-z0-9_]*\) [$]*\(.*\)/%define \1 \2/p' \
            >"$folder/prof_offsets.inc"
    for source in $(sources "$@" asm); do
        nasm -f "$([ "$width" = i386 ] && echo elf32 || echo elf64)" \
            -I"$folder/" -Iprofiler/ \
            -o "$folder/$(echo "$source" | tr / _).o" "$source"
    done
    size -A "$folder"/*.o | awk '
        /^\.text/ { code += $2 }
        /^\.rodata/ { tables += $2 }
        END { print code, code + tables }' >"$build/bench/text.$width.$name"
}

sources()
{
    tools/build/sources.py --width "$width" "$@"
}

# The module at -Os: all of it, and without all optional parts.
text()
{
    text_of "$1" all
    read -r code whole <"$build/bench/text.$1.all"
    keep "$1" text_bytes "$code"
    keep "$1" text_and_tables_bytes "$whole"
    text_of "$1" smallest --without pit --without callers --without stream \
        --without trace --without loop --without causal --without trees \
        --without classes --without checks --without options \
        --without builtin --without elf --without user \
        --without cxx --without rust --without ocaml
    read -r code whole <"$build/bench/text.$1.smallest"
    keep "$1" text_smallest "$code"
}

# minute WIDTH NAME TRANSPORT ARGUMENT...: bytes of stream per sample, for a
# minute of lua at 1 kHz with complete stacks; all, and without the first
# definition of each stack, which adds five bytes to its first sample. The
# latter includes packet headers and repeated definitions.
minute()
{
    packets=$build/bench/$2.$1.bin
    trace=$build/bench/$2.$1.trace
    rm -rf "$trace" "$packets"
    append="prof.out=$3 prof.every=60000 prof.reports=1"
    name=$2
    width=$1
    shift 3
    guest "$width" "$build/$width/lua/lua.elf" \
        "$build/bench/$name.$width.log" \
        -initrd services/lua/scripts/parser.lua \
        -chardev "file,id=packets,path=$packets" "$@" -append "$append"
    "$build/host/parasite" record -q -o "$trace" "file:$packets"
    "$build/host/parasite" info --json "$trace" | awk -F '[:,]' '
        { gsub(/[" ]/, "", $1); value[$1] = $2 }
        END {
            printf "%.2f %.2f\n", value["bytes"] / value["samples"],
                (value["bytes"] - 5 * value["nodes"]) / value["samples"]
        }'
}

# Where readers can ask for definitions, and where they cannot.
stream()
{
    minute "$1" stream virtio -device virtio-serial-pci \
        -device virtconsole,chardev=packets >"$build/bench/stream.$1.bytes"
    read -r all seen <"$build/bench/stream.$1.bytes"
    keep "$1" stream_all "$all"
    keep "$1" stream_seen "$seen"
    minute "$1" stream_one_way e9 -device isa-debugcon,chardev=packets \
        >"$build/bench/stream_one_way.$1.bytes"
    read -r all seen <"$build/bench/stream_one_way.$1.bytes"
    keep "$1" stream_one_way "$all"
}

# All that a sample of a Lua script costs, counted by a plugin of QEMU.
counted()
{
    python3 bench/counted.py "$build" "$1" lua >"$build/bench/lua.$1.counted"
    while read -r name value; do
        keep "$1" "$name" "$value"
    done <"$build/bench/lua.$1.counted"
}

if [ $# -gt 1 ]; then
    instructions "$2"
    timers "$2"
    several "$2"
    counted "$2"
    memory "$2"
    text "$2"
    stream "$2"
    exit
fi
# Both widths at once: nothing here depends on time.
rm -f "$results".*
printf '%s\n' i386 x86_64 | xargs -P 2 -n 1 "$0" "$build"
cat "$results".* | tee "$results"
