#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# story.sh BUILD ARCH: the story of the seed, told again: the IRC server under
# the same load with the device told of each frame or once a turn, and the
# clock that it asks being the CMOS's or the TSC's. Prints the profile of each
# of the four, then connections a second side by side, and what the first
# profile promised beside what came of it.
#
# Each setting runs ROUNDS times (3), the four taking turns so that the
# machine's other work meets all alike; the median counts. SESSIONS (6000) and
# CLIENTS (24) are under.sh's. The logs stay in BUILD/story.
set -eu

build=${1:?usage: story.sh BUILD ARCH}
arch=${2:?usage: story.sh BUILD ARCH}
rounds=${ROUNDS:-3}
out=$build/story
here=$(dirname "$0")
settings='each.cmos each.tsc batch.cmos batch.tsc'
mkdir -p "$out"
rm -f "$out"/*

# one SETTING ROUND
one()
{
    SESSIONS=${SESSIONS:-6000} CLIENTS=${CLIENTS:-24} ARCH=$arch ACCEL=tcg \
        QUIET=1 LIMIT=300 FIGURES=$out/$1.$2.json \
        APPEND="net.kick=${1%.*} clock=${1#*.} irc.every=0 irc.warm=1 \
prof.every=0 prof.reports=0 prof.top=200" \
        "$here/under.sh" "$build/host/bombard" "$here/../build/run.sh" \
        "$build/$arch/irc/irc.elf" </dev/null 2>&1 |
        tr -d '\r' >"$out/$1.$2.log"
    [ -s "$out/$1.$2.json" ] || {
        echo "story: no figures of $1; see $out/$1.$2.log" >&2
        exit 1
    }
}

field()
{
    sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$2"
}

# sorted by connections a second, "RATE ROUND"; the one in the middle
median()
{
    round=1
    while [ "$round" -le "$rounds" ]; do
        echo "$(field per_second "$out/$1.$round.json") $round"
        round=$((round + 1))
    done | sort -n | sed -n "$(((rounds + 1) / 2))p"
}

# total FUNCTION LOG: its share with all that it calls, 0 where it is not there
total()
{
    awk -v name="$1" '
        $2 == "%" && $4 == "%" && index($0, "  " name) { sum = $3 }
        END { print sum + 0 }' "$2"
}

idle()
{
    awk '$2 == "%" && $4 == "idle" { print $1 }' "$1"
}

round=1
while [ "$round" -le "$rounds" ]; do
    for setting in $settings; do
        one "$setting" "$round"
    done
    round=$((round + 1))
done

for setting in $settings; do
    # shellcheck disable=SC2046 # two words
    set -- $(median "$setting")
    echo "$1" >"$out/$setting.rate"
    cp "$out/$setting.$2.log" "$out/$setting.log"
    echo "net.kick=${setting%.*} clock=${setting#*.}: $1 connections a second"
    sed -n '/^    self/,/^---$/p' "$out/$setting.log" | sed 9,198d | head -n 8
    echo
done

first=$(cat "$out/each.cmos.rate")
printf '%-30s %12s %9s %12s %13s %8s\n' setting connections/s times \
    transmit gettimeofday idle
for setting in $settings; do
    log=$out/$setting.log
    rate=$(cat "$out/$setting.rate")
    printf '%-30s %12.1f %9.2f %10.2f %% %11.2f %% %6.1f %%\n' \
        "net.kick=${setting%.*} clock=${setting#*.}" "$rate" \
        "$(echo "$rate $first" | awk '{ print $1 / $2 }')" \
        "$(total 'VirtioNet::transmit' "$log")" \
        "$(total gettimeofday "$log")" "$(idle "$log")"
done
