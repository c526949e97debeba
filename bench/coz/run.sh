#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD [ROUNDS [SECONDS [PERCENT]]]: what Coz predicts on Linux for
# programs that `make causal-truth` has, too, and for two on two threads, beside
# the truth (measure.py). Prints a table and writes BUILD/bench/coz.jsonl. Takes
# seven minutes, and two idle cores. Needs Debian's coz-profiler.
#
# Coz's reader of debug information gives up on DWARF 5 (Debian's default), and
# leaves lines out where DWARF 4 has views of locations: hence -gdwarf-3.
set -eu

build=${1:?usage: run.sh BUILD [ROUNDS [SECONDS [PERCENT]]]}
shift
logs=$build/bench/coz
mkdir -p "$logs"
rm -f "$logs"/*.coz "$logs"/*.log

if ! command -v coz >/dev/null; then
    echo "coz/run.sh: there is no coz (Debian: coz-profiler), rows are missing"
    exit 1
fi
gcc -std=gnu11 -O1 -gdwarf-3 -Wall -Wextra \
    -Wno-missing-field-initializers -Werror -Itests -Iprofiler \
    -Iprofiler/include -o "$logs/programs" bench/coz/host/programs.c \
    profiler/causal/held_events.c -lm -ldl -lpthread
python3 bench/coz/measure.py "$logs/programs" "$logs" "$build/bench/coz.jsonl" \
    "$@"
