#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lwip.sh ARCHIVE SOURCES COMPILER...: builds the core of lwIP, IPv4 and
# Ethernet, from SOURCES with COMPILER (a command with its flags) to ARCHIVE.
set -eu

archive=$1
sources=$2
shift 2

objects=$archive.objects
rm -rf "$objects"
mkdir -p "$objects"
for source in "$sources"/core/*.c "$sources"/core/ipv4/*.c \
    "$sources/netif/ethernet.c"; do
    "$@" -c -o "$objects/$(basename "$source" .c).o" "$source"
done
rm -f "$archive"
ar rcs "$archive" "$objects"/*.o
rm -rf "$objects"
