#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD [TURNS [SECONDS]]: `parasite attach` on QEMU's stub, at both
# widths: rates and pauses beside those of a plain loop (measure.py), and where
# the emulator lets a guest be stopped (bias.py). Rates and pauses say something
# on an idle host only; ratios are of runs in turns. Writes lines of JSON to
# BUILD/bench/attach.jsonl and prints them.
set -eu

build=${1:?usage: run.sh BUILD [TURNS [SECONDS]]}
turns=${2:-5}
seconds=${3:-2}
results=$build/bench/attach.jsonl
mkdir -p "$build/bench/attach"
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh

gcc -std=gnu11 -O2 -o "$build/bench/attach/plain" bench/attach/host/plain.c
for width in i386 x86_64; do
    {
        python3 bench/attach/measure.py "$build" "$width" "$turns" "$seconds"
        python3 bench/attach/bias.py "$build" "$width"
    } >"$build/bench/attach/$width.values"
    while read -r name value low high; do
        keep "$width" "$name" "$value" '' "$low" "$high"
    done <"$build/bench/attach/$width.values"
done
cat "$results"
