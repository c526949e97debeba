#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# names.sh BUILD: what it takes to make names readable, beside the libraries
# that do the same, on the same names in one run; and how large the demangler
# is. The names are those of libraries that are installed and of the lists that
# tests/names reads; Rust v0 has the lists alone where no rustup is. All
# figures are kept as JSON lines in BUILD/bench/names.jsonl. Status 1 where a
# goal is missed.

set -eu
build=${1:?usage: names.sh BUILD}
results=$build/bench/names.jsonl
work=$build/bench/names
lib=/usr/lib/x86_64-linux-gnu
failed=0
mkdir -p "$work"

sources=$(printf '%s ' profiler/src/demangle*.c profiler/src/cxx*.c \
    profiler/src/rust*.c profiler/src/ocaml.c)

# named LIBRARY...: what they export
named() {
    for library; do
        [ ! -r "$library" ] || nm -D --without-symbol-versions "$library"
    done | awk '{ print $NF }' | sort -u
}

# One of the lists' names binds a quarter of a million lifetimes, which others
# take 10 ms for: it is no name to take a mean over.
corpora() {
    named "$lib/libstdc++.so.6" "$lib/libclang-cpp.so.14" \
        "$lib/libLLVM-14.so.1" | grep '^_Z' >"$work/cxx"
    named "$lib"/librustc_driver-*.so "$lib"/libstd-*.so "$lib"/libtest-*.so |
        grep '^_ZN.*17h[0-9a-f]\{16\}E$' >"$work/legacy"
    {
        named "$HOME"/.rustup/toolchains/stable-*/lib/librustc_driver-*.so
        tar -xJOf /usr/src/binutils/binutils-*.tar.xz --wildcards \
            '*/libiberty/testsuite/rust-demangle-expected'
        grep -oh '_R[A-Z][A-Za-z0-9_.]*' \
            /usr/share/cargo/registry/rustc-demangle-*/src/*.rs
    } | grep '^_R[A-Z]' | grep -v 'FG[0-9A-Za-z]\{2,\}_' | sort -u >"$work/v0"
}

measure() {
    # shellcheck disable=SC2086 # a list of words
    gcc -std=gnu11 -O2 -Iprofiler/include -o "$work/bench" bench/names.c \
        $sources
    "$work/bench" cxx "$work/cxx" legacy "$work/legacy" v0 "$work/v0" \
        >"$results"
}

# size_of BITS: code, and code and tables, in bytes, with the image's flags
size_of() {
    mkdir -p "$work/$1"
    for source in $sources; do
        gcc "-m$1" -std=gnu11 -Os -ffreestanding -fno-pic -fno-pie \
            -fno-stack-protector -mno-red-zone -fno-omit-frame-pointer \
            -fno-asynchronous-unwind-tables -mgeneral-regs-only \
            -Iprofiler/include -c -o "$work/$1/$(basename "$source").o" \
            "$source"
    done
    size -A "$work/$1"/*.o | awk -v bits="$1" '
        /^\.text/ { code += $2 }
        /^\.rodata/ { tables += $2 }
        END {
            printf "{\"bits\":%d,\"code\":%d,\"with_tables\":%d}\n", bits, code,
                code + tables
        }' >>"$results"
}

# field LINE-PATTERN NAME: a number of the results; empty where there is none
field() {
    grep "$1" "$results" | sed -n "s/.*\"$2\":\([0-9.]*\).*/\1/p"
}

# verdict VALUE LEAST MOST: "-" is no bound
verdict() {
    awk -v value="$1" -v least="$2" -v most="$3" 'BEGIN {
        missed = least != "-" && value + 0 < least + 0 ||
            most != "-" && value + 0 > most + 0
        if (least != "-" || most != "-")
            print missed ? "NOT REACHED" : "reached"
    }'
}

# row WHAT VALUE UNIT LEAST MOST
row() {
    judged=$(verdict "$2" "$4" "$5")
    [ "$judged" != 'NOT REACHED' ] || failed=1
    goal=-
    [ "$4" = - ] || goal=">= $4"
    [ "$5" = - ] || goal="<= $5"
    printf '%-52s %10s %-6s %8s  %s\n' "$1" "$2" "$3" "$goal" "$judged"
}

# engines LANGUAGE WHAT [LEAST-OF-LIBERTY LEAST-OF-LIBCXXABI]
engines() {
    ours="\"language\":\"$1\",\"engine\":\"parasite\""
    [ -n "$(field "$ours" names)" ] || return 0
    row "$2: $(field "$ours" names) names, mean" "$(field "$ours" mean_ns)" \
        ns - -
    row "$2: the slowest of a hundred" "$(field "$ours" p99_ns)" ns - -
    for engine in libiberty libc++abi 'LLVM 14'; do
        ratio=$(field "\"$1\",\"engine\":\"$engine\"" of_ours)
        least=-
        [ "$engine" != libiberty ] || least=${3:--}
        [ "$engine" != libc++abi ] || least=${4:--}
        [ -z "$ratio" ] ||
            row "$2: mean of $engine" "$ratio" ours "$least" -
    done
}

corpora
measure
size_of 32
size_of 64
printf '%-52s %10s %-6s %8s\n' 'names made readable, on this host' '' '' goal
engines cxx 'C++' - 1
engines legacy 'Rust, legacy'
engines v0 'Rust v0' 1
row 'made to be slow, 4 KiB into 4 KiB, the worst' \
    "$(field '"crafted"' worst_us)" us - 100
for bits in 32 64; do
    row "code at -Os, $bits bits" "$(field "\"bits\":$bits" code)" bytes - 32768
    row 'with its tables' "$(field "\"bits\":$bits" with_tables)" bytes - -
done
exit $failed
