#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs each fuzzer for a while, from the tables of the images that were built:
# run.sh FOLDER-FOR-BUILDS. RUNS=N asks for another number of inputs than the
# default. Prints TAP. Inputs that crash stay in the folder.

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
runs=${RUNS:-300000}

cd "$here/../.." || exit 1
mkdir -p "$work/seeds" "$work/corpus"
# 15: all but positions and marks is made right, and those are right already
for table in "$work"/../x86_64/*/*.names; do
    [ -r "$table" ] || continue
    (printf '\017' && cat "$table") >"$work/seeds/$(basename "$table")"
done
echo 1..1
if clang-14 -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=all -Iprofiler/include -o "$work/symtab_fuzz" \
    tests/fuzz/symtab_fuzz.c profiler/src/symbols.c profiler/src/symtab.c \
    profiler/src/crc.c &&
    "$work/symtab_fuzz" -seed=1 -runs="$runs" -max_len=65536 \
        -artifact_prefix="$work/" "$work/corpus" "$work/seeds" \
        2>"$work/symtab_fuzz.log"; then
    echo "ok 1 - no symbol table makes its reader read beyond it"
else
    tail -n 20 "$work/symtab_fuzz.log" | sed 's/^/# /'
    echo "not ok 1 - no symbol table makes its reader read beyond it"
fi
