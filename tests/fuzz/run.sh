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
# 15: all but positions, marks and index is made right; those are already
for table in "$work"/../x86_64/*/*.names; do
    [ -r "$table" ] || continue
    (printf '\017' && cat "$table") >"$work/seeds/$(basename "$table")"
done

# fuzz NUMBER WHAT NAME SEEDS SOURCES...: builds tests/fuzz/NAME.c and runs it
fuzz()
{
    number=$1
    what=$2
    name=$3
    seeds=$4
    shift 4
    mkdir -p "$work/$name.corpus"
    if clang-14 -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=all -Iprofiler/include -o "$work/$name" \
        "tests/fuzz/$name.c" "$@" &&
        "$work/$name" -seed=1 -runs="$runs" -max_len="$longest" \
            -artifact_prefix="$work/" "$work/$name.corpus" "$seeds" \
            2>"$work/$name.log"; then
        echo "ok $number - $what"
    else
        tail -n 20 "$work/$name.log" | sed 's/^/# /'
        echo "not ok $number - $what"
    fi
}

# streams of all kinds, the first byte being what the fuzzer says of them
mkdir -p "$work/streams"
gcc -std=gnu11 -Iprofiler/include -o "$work/make_stream" \
    tests/tool/make_stream.c
(printf '\374' && "$work/make_stream" 200 1) >"$work/streams/packets"
(printf '\376' && "$work/make_stream" 20 2) >"$work/streams/mended"
(printf '\375' && "$work/make_stream" --text 100 3) >"$work/streams/text"

mkdir -p "$work/commands"
printf 'start\nrate 50\nstacks on\ndepth 4\nreset\nreport\nstop\n' \
    >"$work/commands/all"

echo 1..5
longest=65536
fuzz 1 'no symbol table makes its reader read beyond it' symtab_fuzz \
    "$work/seeds" profiler/src/symbols.c profiler/src/symtab.c \
    profiler/src/crc.c
longest=512
fuzz 2 'no command is taken for another, whatever comes in' command_fuzz \
    "$work/commands" profiler/src/command.c
# a stream's inputs take longer, and repeat themselves after a few packets
longest=8192
runs=$((runs / 3))
decoder='base64 console crc32c event index memory model packet pile'
# shellcheck disable=SC2046,SC2086 # lists of words
fuzz 3 'no stream makes its reader read beyond it' decode_fuzz \
    "$work/streams" $(printf 'tools/parasite/%s.c ' $decoder)
mkdir -p "$work/names" &&
    printf 'a@_ZNSt6vectorIiE4pushEv' >"$work/names/cxx" &&
    printf 'b@_RNvNtC3foo3bar3baz' >"$work/names/rust"
# shellcheck disable=SC2046 # a list of words
longest=1024
# shellcheck disable=SC2046 # a list of words
fuzz 4 'no name makes the demangler read beyond it or run on' demangle_fuzz \
    "$work/names" $(echo profiler/src/demangle*.c profiler/src/cxx*.c \
    profiler/src/rust*.c profiler/src/ocaml.c)

mkdir -p "$work/http/site" && echo '<p>' >"$work/http/site/index.html" &&
    (printf 't' && tar -C "$work/http/site" -cf - .) >"$work/http/tar" &&
    printf '%s\r\n' 'rGET /a%20b?c=d HTTP/1.1' 'Host: x' \
        'Connection: close' 'Authorization: Bearer y' 'Content-Length: 0' '' \
        >"$work/http/request"
longest=8192
fuzz 5 'no request and no archive makes the web server read beyond it' \
    http_fuzz "$work/http" services/http/parse.c services/http/files.c
