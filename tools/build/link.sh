#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# link.sh EMBED STEM ld ARGUMENTS...: links STEM.elf, has EMBED put the names of
# its functions into the space that it reserves for them, and writes STEM.map
# and STEM.sym beside it. Without the names there is no STEM.elf.
set -eu

embed=$1
stem=$2
shift 2

"$@" --build-id=sha1 -Map "$stem.map" -o "$stem.elf"
if ! "$embed" "$stem.elf"; then
    rm "$stem.elf"
    exit 1
fi
nm -nS "$stem.elf" >"$stem.sym"
