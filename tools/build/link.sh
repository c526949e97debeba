#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# link.sh EMBED STEM GCC WIDTH... ld ARGUMENTS...: links STEM.elf with the names
# of its own functions in it, and STEM.map and STEM.sym beside it.
#
# The addresses are known only after linking, so it is linked twice: first with
# no names, then with the table that EMBED makes of the first link. The second
# has the first one's build-id, which the table names, and nothing may have
# moved: EMBED --verify proves it.
set -eu

embed=$1
stem=$2
shift 2

assembler=
while [ "$1" != ld ]; do
    assembler="$assembler $1"
    shift
done

"$@" --build-id=sha1 -o "$stem.pass1"
"$embed" "$stem.pass1" "$stem.names"
# shellcheck disable=SC2086 # a command with its arguments
printf '.section .prof_symtab,"a"\n.balign 8\n.incbin "%s"\n' "$stem.names" |
    $assembler -c -x assembler -o "$stem.names.o" -
"$@" "$stem.names.o" --build-id=0x"$("$embed" --build-id "$stem.pass1")" \
    -Map "$stem.map" -o "$stem.elf"
"$embed" --verify "$stem.pass1" "$stem.elf"
nm -nS "$stem.elf" >"$stem.sym"
