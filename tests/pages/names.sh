#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# names.sh IMAGE: makes an ELF file whose functions have names that a careless
# page would stumble over, 64 bytes each from 0x100000 on. Links with gcc.
set -eu

image=$1

long=$(printf 'x%.0s' $(seq 10000))

# function NAME: the name as the assembler reads it, in quotes
function()
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
    function main
    function work
    function helper
    function port
    function recurse
    function '</script><script>document.title=1</script>'
    function 'a<b>&amp;c &lt; d'
    function "quote\\\"s and 'others' \\\\ back"
    function 'größe_日本語_🔥'
    function "$long"
    function '__proto__'
    # mangled, by language: C++, Rust twice, OCaml
    function _ZN3net4sendEi
    function _RNvC6kernel4boot
    function _ZN4core3fmt5write17h0123456789abcdefE
    function camlStdlib__List__map_5
} >"$image.s"
gcc -nostdlib -static -no-pie -Wl,-Ttext=0x100000 -Wl,--build-id=none \
    -Wl,-e,main -Wl,-z,noexecstack -o "$image" "$image.s"
