#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# outage.sh BUILD [GUESTS [MINUTES [STACKS]]]: a store that is away for MINUTES
# (60) of GUESTS (1000) with STACKS (195) in each minute. tests/store/fill.c
# sends made rows of that time to an embedded store that does not start: they
# wait in the spool. Then it does start, and takes them. Checks that nothing is
# missing, and writes lines of JSON to $results (BUILD/bench/outage.jsonl): the
# spool's size, how long the store took, and how much faster than the rows had
# come. Needs `make store`.
set -eu

build=${1:?usage: outage.sh BUILD [GUESTS [MINUTES [STACKS]]]}
guests=${2:-1000}
minutes=${3:-60}
stacks=${4:-195}
results=${results:-$build/bench/outage.jsonl}
work=$build/bench/outage
rm -rf "$work"
mkdir -p "$work"
# shellcheck source=bench/lines.sh
. bench/lines.sh

gcc -std=gnu11 -O2 -Ihost -o "$work/fill" tests/store/fill.c \
    "$build/host/libparasite.a" -lcurl -lz -lmicrohttpd -lm
PATH=$build/host:$PATH
store=$(realpath "$work")/store

PARASITE_CHDB=/nothing.so "$work/fill" "$store" "$work/spool" wait=1 flush_s=0 \
    minutes="$minutes" guests="$guests" stacks="$stacks" spool_kb=16000000 \
    >"$work/spooled" 2>"$work/errors"
grep -q '^refused by the spool: 0$' "$work/spooled"
spooled=$(du -bs "$work/spool" | cut -f 1)
began=$(date +%s%N)
"$work/fill" "$store" "$work/spool" minutes=0 flush_s=99999 >"$work/sent"
took=$(($(date +%s%N) - began))
grep -q '^empty: .* 0 lost with 0 rows' "$work/sent"
rows=$((guests * minutes * stacks))
found=$(parasite sql -q "$store" "SELECT uniqExact(guest, stack, bucket) AS n, \
sum(samples) = (SELECT sum(attributed) FROM accounts) AS same FROM samples" |
    tail -n 1)
# shellcheck disable=SC2086 # words
set -- $found
if [ "$1 $2" != "$rows 1" ]; then
    echo "outage.sh: of $rows rows the store has $1; sums are equal: $2" >&2
    exit 1
fi
owner=$(cat "$store/lock")
cpu=$(awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' \
    "/proc/$owner/stat")
keep host fleet_outage_spool "$(awk -v n="$spooled" \
    'BEGIN { print n / 1e6 }')" MB
keep host fleet_outage_rows "$(awk -v n="$rows" -v t="$took" \
    'BEGIN { printf "%.3g", n * 1e9 / t }')" rows/s
keep host fleet_outage_cpu "$(awk -v n="$rows" -v s="$cpu" \
    'BEGIN { printf "%.3g", n / s }')" rows/s
keep host fleet_outage_faster "$(awk -v m="$minutes" -v t="$took" \
    'BEGIN { printf "%.3g", m * 60e9 / t }')" x
kill "$owner"
