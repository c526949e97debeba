#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# server.sh BUILD: what the profiler adds to the IRC server, in instructions, on
# both widths: a sample in all, and the statistics of the event loop
# (counted.py). The server's clients are in its image, so the machine's load
# does not matter, and a run repeats to the instruction. Figures are written as
# JSON lines to BUILD/bench/server.jsonl.
set -eu

build=${1:?usage: server.sh BUILD}
results=$build/bench/server.jsonl
mkdir -p "$build/bench"
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh

for width in i386 x86_64; do
    for what in irc loop; do
        rows=$build/bench/server.$width.$what
        python3 bench/counted.py "$build" "$width" "$what" >"$rows"
        while read -r name value; do
            keep "$width" "$name" "$value"
            echo "$width $name $value"
        done <"$rows"
    done
done
