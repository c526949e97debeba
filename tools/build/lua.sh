#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lua.sh ARCHIVE SOURCES COMPILER...: builds Lua's library from SOURCES with
# COMPILER (a command with its flags) to ARCHIVE.
#
# The two programs stay out. Lua seeds its string hash with the time and an
# address; here it is a constant, so that two runs do the same work.
set -eu

archive=$1
sources=$2
shift 2

objects=$archive.objects
rm -rf "$objects"
mkdir -p "$objects"
for source in "$sources"/l*.c; do
    name=$(basename "$source" .c)
    case $name in
    lua | luac) continue ;;
    esac
    "$@" '-Dluai_makeseed(L)=0x5eedu' -c -o "$objects/$name.o" "$source"
done
rm -f "$archive"
ar rcs "$archive" "$objects"/*.o
rm -rf "$objects"
