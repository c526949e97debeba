#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cmocka.sh ARCHIVE SOURCES COMPILER...: builds the test library cmocka, one
# file in SOURCES/src, with COMPILER (a command with its flags) to ARCHIVE.
set -eu

archive=$1
sources=$2
shift 2

mkdir -p "$(dirname "$archive")"
"$@" -w -I"$sources/include" -DHAVE_SIGNAL_H=1 -DHAVE_STRUCT_TIMESPEC=1 \
    -DHAVE_CLOCK_REALTIME=1 -DHAVE_INTTYPES_H=1 -DHAVE_STDINT_H=1 \
    -c -o "$archive.o" "$sources/src/cmocka.c"
rm -f "$archive"
ar rcs "$archive" "$archive.o"
rm -f "$archive.o"
