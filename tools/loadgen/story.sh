#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# story.sh BUILD ARCH: a story in four parts: the IRC server under
# the same load with the device notified of each frame or once a turn, and the
# clock that it asks being the CMOS's or the TSC's. Prints the profile of each
# of the four, then connections a second side by side, and what the profile
# says of the two culprits: of the time that the server works, how much is
# spent below each of them.
#
# Each setting runs ROUNDS times (3), the four taking turns so that the
# machine's other work meets all alike; the median counts. SESSIONS (6000) and
# CLIENTS (24) are under.sh's. The logs and traces stay in BUILD/story.
set -eu

build=${1:?usage: story.sh BUILD ARCH}
arch=${2:?usage: story.sh BUILD ARCH}
rounds=${ROUNDS:-3}
out=$build/story
parasite=$build/host/parasite
here=$(dirname "$0")
settings='each.cmos each.tsc batch.cmos batch.tsc'
mkdir -p "$out"
rm -rf "${out:?}"/*

# one SETTING ROUND
one()
{
    SESSIONS=${SESSIONS:-6000} CLIENTS=${CLIENTS:-24} ARCH=$arch ACCEL=tcg \
        QUIET=1 LIMIT=300 FIGURES=$out/$1.$2.json \
        APPEND="net.kick=${1%.*} clock=${1#*.} irc.every=0 irc.warm=1 \
prof.every=0 prof.reports=0 prof.out=e9" \
        QEMU_ARGS="-debugcon file:$out/$1.$2.packets" \
        "$here/under.sh" "$build/host/loadgen" "$here/../build/run.py" \
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

# busy FUNCTION ROWS: what is spent in it and all that it calls, as a share of
# the time that is not idle. ROWS is the report of the trace as JSON.
busy()
{
    awk -F '[:,]' -v name="$1" '
        index($0, "{\"symbol\":\"") == 3 {
            match($0, /"total":[0-9]+/)
            total = substr($0, RSTART + 8, RLENGTH - 8)
            if (index($0, "\"[idle]\""))
                idle = total
            else if (index($0, "\"" name))
                found = total
        }
        /^\{"samples"/ { all = $2 }
        END {
            work = all - idle
            printf "%.1f", (work > 0 ? 100 * found / work : 0)
        }
    ' "$2"
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
    "$parasite" record -q -o "$out/$setting.trace" \
        "file:$out/$setting.$2.packets" 2>/dev/null
    "$parasite" report --json -k "$build/$arch/irc/irc.elf" \
        "$out/$setting.trace" >"$out/$setting.rows"
    echo "net.kick=${setting%.*} clock=${setting#*.}: $1 connections a second"
    sed -n '/^    self/,/^   -----$/p' "$out/$setting.log" | sed 9q
    echo
done

first=$(cat "$out/each.cmos.rate")
echo 'Of the time that the server works, spent below'
printf '%-28s %13s %7s %10s %7s %13s\n' setting connections/s times \
    transmit flush gettimeofday
for setting in $settings; do
    rows=$out/$setting.rows
    rate=$(cat "$out/$setting.rate")
    printf '%-28s %13.1f %7.2f %8s %% %5s %% %11s %%\n' \
        "net.kick=${setting%.*} clock=${setting#*.}" "$rate" \
        "$(echo "$rate $first" | awk '{ print $1 / $2 }')" \
        "$(busy 'VirtioNet::transmit' "$rows")" \
        "$(busy 'VirtioNet::flush' "$rows")" "$(busy gettimeofday "$rows")"
done
