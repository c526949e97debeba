#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# visible.sh PARASITE STORE GUESTS: waits until STORE has samples of all GUESTS
# in this minute, or the next one if that begins in 10 s, and prints how many
# seconds ago that minute began: that old is the oldest of its samples when a
# query finds it. (They are sent in packets of a second.)
set -eu

parasite=${1:?usage: visible.sh PARASITE STORE GUESTS}
store=$2
guests=$3
minute=$((($(date +%s) + 10) / 60 * 60))
found=0
while [ "$found" != "$guests" ]; do
    sleep 0.5
    # there is no store at first
    found=$("$parasite" sql -q "$store" "SELECT uniqExact(guest) AS n \
FROM samples WHERE bucket = toDateTime($minute)" 2>/dev/null |
        tail -n 1 | tr -d ' ') || found=0
done
date +%s.%N | awk -v m="$minute" '{ printf "%.1f\n", $1 - m }'
