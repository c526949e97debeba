#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# symbols.sh BUILD: the savings and costs of compressing the names of a symbol
# table, for our own images and for the installed shared libraries. Measured on
# the host, with the code that runs in the guest. Prints a table, and writes
# lines of JSON to BUILD/bench/symbols.jsonl.
set -eu

build=${1:?usage: symbols.sh BUILD}
results=$build/bench/symbols.jsonl
program=$build/bench/symbols
mkdir -p "$build/bench"
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh

gcc -std=gnu11 -O2 -Ihost -Iprofiler -Iprofiler/include \
    -o "$program" bench/symbols.c \
    bench/functions.c \
    host/embed/[!m]*.c host/symbols/*.c \
    profiler/symbols/elf.c profiler/symbols/lookup.c \
    profiler/symbols/table.c \
    profiler/base/crc.c -lelf # all of embed but main.c

# functions FILE [OPTION]: the lines of nm
functions() {
    nm -S --defined-only ${2:+"$2"} "$1"
}

# row NAME FILE [OPTION]
row() {
    [ ! -r "$2" ] || functions "$2" ${3:+"$3"} | "$program" "$1"
}

# Prints the functions of all libraries as those of one image, with 256 MiB of
# address space for each library.
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

# Prints 100,000 functions, dense in memory, with meaningless names.
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

# Of the eleven columns after the name: the first, sixth, seventh and ninth.
awk '{
    entries = $(NF - 10)
    name = $0
    sub(" *" entries " .*", "", name)
    gsub(/[^A-Za-z0-9]+/, "_", name)
    print name, entries, $(NF - 5), $(NF - 4), $(NF - 2)
}' "$build/bench/symbols.rows" >"$build/bench/symbols.figures"
while read -r name entries packed other find; do
    keep host "packed_bytes_$name" "$packed" bytes
    keep host "table_other_bytes_$name" "$other" bytes
    keep host "table_find_ns_$name" "$find" ns
    echo "$entries $other $find"
done <"$build/bench/symbols.figures" >"$build/bench/symbols.judged"

# The worst values, which have a goal.
awk '
    $2 > other { other = $2 }
    $1 >= 100000 && $3 > find { find = $3 }
    END { print other, find }' "$build/bench/symbols.judged" >"$program.most"
read -r other find <"$program.most"
keep host table_other_bytes_most "$other" bytes
keep host table_find_ns_most "$find" ns
