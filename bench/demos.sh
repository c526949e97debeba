#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# demos.sh BUILD: bytes of an event in the stream, over the programs of
# services/async (demos/demos.py), of the IRC server under load (irc_events.py)
# and of three minutes (hour.py). Writes lines of JSON to
# BUILD/bench/demos.jsonl.
set -eu

build=${1:?usage: demos.sh BUILD}
results=$build/bench/demos.jsonl
mkdir -p "$build/bench"
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh

for width in i386 x86_64; do
    for part in demos irc_events hour; do
        python3 "bench/demos/$part.py" "$build" "$width"
    done >"$build/bench/demos.$width"
    while read -r name value; do
        keep "$width" "$name" "$value"
    done <"$build/bench/demos.$width"
done
cat "$results"
