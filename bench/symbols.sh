#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# symbols.sh BUILD: what compressing the names of a symbol table brings and
# costs, for our own images and for the shared libraries that are installed
# here. Measured on the host, with the code that runs in the guest. The rows are
# kept as JSON lines in BUILD/bench/symbols.jsonl; status 1 where a goal of
# lookups is missed.

set -eu
build=${1:?usage: symbols.sh BUILD}
program=$build/bench/symbols
mkdir -p "$build/bench"

gcc -std=gnu11 -O2 -Iprofiler/include -o "$program" bench/symbols.c \
    bench/functions.c \
    tools/embed/[!m]*.c profiler/src/symbols.c profiler/src/symtab.c \
    profiler/src/crc.c -lelf # all of embed but main.c

# functions FILE [OPTION]: the lines of nm
functions() {
    nm -S --defined-only ${2:+"$2"} "$1"
}

# row NAME FILE [OPTION]
row() {
    [ ! -r "$2" ] || functions "$2" ${3:+"$3"} | "$program" "$1"
}

# Prints the functions of all libraries, each in a quarter of a gigabyte of its
# own, as one image would have them.
together() {
    place=0
    for library in $libraries; do
        functions "$library" -D | sed "s/^\(........\)./\1$place/"
        place=$((place + 1))
    done
}

# Prints those below, and one function far away from all of them.
one_far() {
    made_up
    echo '00000000f0000000 0000000000000010 T far_away'
}

# Prints 100,000 functions, dense in memory, whose names tell nothing.
made_up() {
    awk 'BEGIN {
        for (at = 1048576; i < 100000; at += size + int(rand() * 16)) {
            size = 16 + int(rand() * 300)
            printf "%016x %016x T function_%d\n", at, size, i++
        }
    }'
}

libraries=
for library in libstdc++.so.6 libclang-cpp.so.14 libLLVM-14.so.1 \
    libLLVM-15.so.1; do
    library=/usr/lib/x86_64-linux-gnu/$library
    [ ! -r "$library" ] || libraries="$libraries $library"
done

echo 'Symbol tables: names as C strings, packed, in %; the table raw, packed;'
echo 'bytes an entry besides offset and name; s to make it packed; ns to find a'
echo 'function, to find and name it raw, packed.'
printf '%-18s %7s %9s %9s %5s %9s %9s %5s %6s %6s %6s %6s\n' '' entries \
    names packed % raw packed other s find raw packed
rows() {
    for service in hello split lua; do
        row "$service" "$build/x86_64/$service/$service.elf" ''
    done
    for library in $libraries; do
        row "$(basename "$library")" "$library" -D
    done
    row node /usr/bin/node -D
    together | "$program" 'all libraries'
    made_up | "$program" '100,000 made up'
    one_far | "$program" 'and one far away'
}

rows | tee "$build/bench/symbols.rows"

# Of the eleven columns behind the name: the first, the seventh and the ninth.
awk -v results="$build/bench/symbols.jsonl" '
    function judge(what, value, most) {
        printf "%-52s %10s %8s  %s\n", what, value, most,
            value <= most ? "reached" : "NOT REACHED"
        missed = missed || value > most
    }
    {
        entries = $(NF - 10); other = $(NF - 4); find = $(NF - 2)
        name = $0
        sub(" *" entries " .*", "", name)
        printf "{\"table\":\"%s\",\"entries\":%d,\"other_bytes\":%s," \
            "\"find_ns\":%s}\n", name, entries, other, find >results
        most = other > most ? other : most
        if (entries >= 100000 && find > slowest)
            slowest = find
    }
    END {
        printf "%-52s %10s %8s\n", "symbols", "most", "goal"
        judge("ns to find a function, of 100,000 and more", slowest, 30)
        judge("bytes an entry besides offset and name", most, 6)
        exit missed
    }' "$build/bench/symbols.rows"
