#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A few thousand names compared with what the established demanglers print,
# and how much stack the demangler takes for them and for mutants of them:
# run.sh FOLDER-FOR-BUILDS, the folder of the build being above it. FULL=1
# compares all there are, which takes minutes. Prints TAP.

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
STACK_MAX=1024 # bytes
mkdir -p "$work"
cd "$here/../.." || exit 1
echo 1..3

status=0
python3 "$here/run.py" ${FULL:+--full} --work "$work" \
    --parasite "$work/../host/parasite" >"$work/report" 2>&1 || status=$?
sed 's/^/# /' "$work/report"
what='names are spelt as the established demanglers spell them'
if [ "$status" -eq 0 ]; then
    echo "ok 1 - $what"
else
    echo "not ok 1 - $what"
fi

# stack NUMBER BITS: with the image's flags, and static, so that the dynamic
# linker's own stack is not measured
stack()
{
    flags="-m$2 -std=gnu11 -O2 -fno-pic -fno-pie -fno-stack-protector
        -mno-red-zone -fno-omit-frame-pointer -fno-optimize-sibling-calls
        -mgeneral-regs-only -Iprofiler/include"
    what="the stack stays within $STACK_MAX bytes at $2 bits"
    bytes=
    mkdir -p "$work/$2"
    # shellcheck disable=SC2086 # a list of words
    for source in profiler/src/demangle*.c profiler/src/cxx*.c \
        profiler/src/rust*.c profiler/src/ocaml.c; do
        gcc $flags -c -o "$work/$2/$(basename "$source" .c).o" "$source"
    done
    if gcc "-m$2" -std=gnu11 -O2 -static -Iprofiler/include \
        -o "$work/stack$2" "$here/stack.c" "$work/$2"/*.o &&
        said=$("$work/stack$2" 5 <"$work/all.names"); then
        echo "# measured: $said"
        bytes=$(echo "$said" | sed -n 's/.*deepest stack \([0-9]*\).*/\1/p')
    fi
    if [ "${bytes:-0}" -gt 0 ] && [ "$bytes" -le "$STACK_MAX" ]; then
        echo "ok $1 - $what"
    else
        echo "not ok $1 - $what"
    fi
}

stack 2 32
stack 3 64
