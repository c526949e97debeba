#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lookup.sh BUILD: looking up the function and name of an address, with our
# code, libbacktrace and libdwfl, in our images and in a library of 44,504
# functions (lookup.c): time, memory, and instructions as counted by valgrind.
# Writes lines of JSON to BUILD/bench/lookup.jsonl and prints them.
set -eu

build=${1:?usage: lookup.sh BUILD}
results=$build/bench/lookup.jsonl
work=$build/bench/lookup
llvm=$(realpath /usr/lib/x86_64-linux-gnu/libLLVM-14.so.1)
mkdir -p "$work"
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh

gcc -std=gnu11 -O2 -Ihost -Iprofiler -Iprofiler/include \
    -o "$work/lookup" bench/lookup.c \
    bench/functions.c host/embed/[!m]*.c host/symbols/*.c \
    profiler/symbols/elf.c profiler/symbols/lookup.c \
    profiler/symbols/table.c profiler/base/crc.c -lelf -lbacktrace

# instructions LABEL IMAGE ENGINE: for one lookup; ours comes first
instructions()
{
    asked=$("$work/lookup" "$@" <"$work/lines")
    all=$(counted turn_ns "$work/lookup" "$@" <"$work/lines")
    each=$(ratio "$all" "$asked")
    keep host "find_instructions_$3_$1" "$each" instructions
    if [ "$3" = ours ]; then
        ours=$each
    else
        keep host "find_work_$3_$1" "$(ratio "$each" "$ours")" ratio
    fi
}

# row LABEL IMAGE [OPTION OF NM]
row()
{
    nm -S --defined-only ${3:+"$3"} "$2" >"$work/lines"
    "$work/lookup" "$1" "$2" <"$work/lines" >>"$results"
    for engine in ours ours_name libbacktrace libdwfl; do
        instructions "$1" "$2" "$engine"
    done
}

# Source lines are not part of the lookup, and would be read too.
for service in lua irc; do
    objcopy --strip-debug "$build/x86_64/$service/$service.elf" \
        "$work/$service.elf"
    row "$service" "$(realpath "$work/$service.elf")"
done
row llvm "$llvm" -D
cat "$results"
