#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# growth.sh BUILD: the curves (growth/run.sh), and their bounds as rows for the
# bench's table. Lines of JSON in BUILD/bench/growth.jsonl.
set -eu

build=${1:?usage: growth.sh BUILD}
status=0
bench/growth/run.sh "$build" || status=$?
[ ! -s "$build/bench/growth.jsonl" ] ||
    python3 bench/growth_rows.py "$build/bench/growth.jsonl"
exit $status
