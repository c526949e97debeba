#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: the profiler's memory at the default settings is 64 KiB at
# most, everything in it but the heap map: what the image gives it at start
# (PROF_MEMORY_DEFAULT) and its own data, on both widths, from the objects that
# images are linked with. FOLDER is BUILD/everything_at_start.
set -eu

build=$(dirname "$1")
limit=65536
expression=$(printf '#include <prof/prof.h>\nPROF_MEMORY_DEFAULT\n' |
    gcc -E -P -Iprofiler/include - | tail -n 1 | tr -d 'u')
# shellcheck disable=SC2004 # it is an expression, not a number
given=$(($expression))

number=0
status=0
echo 1..2
for width in i386 x86_64; do
    number=$((number + 1))
    own=$(size "$build/$width/profiler.o" | awk 'NR == 2 { print $2 + $3 }')
    echo "# $width: $given bytes given at start, $own of its own"
    if [ "$given" -gt 0 ] && [ "$own" -gt 0 ] &&
        [ $((given + own)) -le "$limit" ]; then
        echo "ok $number - $width: everything fits into 64 KiB"
    else
        echo "not ok $number - $width: everything fits into 64 KiB"
        status=1
    fi
done
exit "$status"
