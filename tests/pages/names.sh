#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# names.sh IMAGE: makes an ELF file whose functions have names that a careless
# page would stumble over, 64 bytes each from 0x100000 on. Links with gcc.
set -eu

image=$1

long=$(printf 'x%.0s' $(seq 10000))

# put_function NAME: the name as the assembler reads it, in quotes
put_function()
{
    cat <<EOF
.globl "$1"
.type "$1", @function
"$1":
    nop
    out %al, %dx
    nop
    ret
    .balign 64, 0x90
.size "$1", 64
EOF
}

{
    echo '.text'
    put_function main
    put_function work
    put_function helper
    put_function port
    put_function recurse
    put_function '</script><script>document.title=1</script>'
    put_function 'a<b>&amp;c &lt; d'
    put_function "quote\\\"s and 'others' \\\\ back"
    put_function 'größe_日本語_🔥'
    put_function "$long"
    put_function '__proto__'
    # mangled, by language: C++, Rust twice, OCaml
    put_function _ZN3net4sendEi
    put_function _RNvC6kernel4boot
    put_function _ZN4core3fmt5write17h0123456789abcdefE
    put_function camlStdlib__List__map_5
    # the profiler's, which are in no share
    put_function prof_drain
} >"$image.s"
gcc -nostdlib -static -no-pie -Wl,-Ttext=0x100000 -Wl,--build-id=none \
    -Wl,-e,main -Wl,-z,noexecstack -o "$image" "$image.s"
