#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lookup.sh BUILD: from an address to its function and name, ours beside
# libbacktrace and libdwfl, on our images and on a library of 44,504 functions
# (lookup.c). Prints the lines of JSON that it writes to
# BUILD/bench/lookup.jsonl.
set -eu

build=${1:?usage: lookup.sh BUILD}
results=$build/bench/lookup.jsonl
work=$build/bench/lookup
llvm=/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1
mkdir -p "$work"

gcc -std=gnu11 -O2 -Iprofiler/include -o "$work/lookup" bench/lookup.c \
    bench/functions.c tools/embed/[!m]*.c profiler/src/symbols.c \
    profiler/src/symtab.c profiler/src/crc.c -lelf -lbacktrace

# Lines of the source are no part of the question, and would be read as well.
rows()
{
    for service in lua irc; do
        objcopy --strip-debug "$build/x86_64/$service/$service.elf" \
            "$work/$service.elf"
        nm -S --defined-only "$work/$service.elf" |
            "$work/lookup" "$service" "$work/$service.elf"
    done
    nm -S -D --defined-only "$llvm" | "$work/lookup" llvm "$llvm"
}

rows >"$results"
cat "$results"
