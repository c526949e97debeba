#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# story.sh BUILD ARCH: a story in four parts: the IRC server under
# the same load with the device notified of each frame or once a turn, and the
# clock that it asks being the CMOS's or the TSC's. Prints the profile of each
# of the four, then side by side how long the guest works for a session, and
# what the profile says of the two culprits: of that time, how much is spent
# below each of them.
#
# Each setting runs ROUNDS times (3), the four taking turns so that the
# machine's other work meets all alike; the median counts, and least and most
# show how far to trust it. SESSIONS (6000) and
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

# cost SETTING ROUND: "US STOLEN ROUND": microseconds in which the guest worked
# for each session, and per cent of the time in which the host did not run it.
# Neither idle nor stolen time is in the former, so that it does not depend on
# what else the machine does.
cost()
{
    "$parasite" record -q -o "$out/$1.$2.trace" \
        "file:$out/$1.$2.packets" 2>/dev/null
    "$parasite" report --json -k "$build/$arch/irc/irc.elf" \
        "$out/$1.$2.trace" >"$out/$1.$2.rows"
    awk -F '[:,]' -v sessions="$(field 'done' "$out/$1.$2.json")" \
        -v round="$2" '
        /^"ns"/ { all = $2 }
        /^"stolen_ns"/ { stolen = $2 }
        index($0, "\"[idle]\"") {
            match($0, /"self_ns":[0-9]+/)
            idle += substr($0, RSTART + 10, RLENGTH - 10)
        }
        END {
            printf "%.2f %.1f %d\n", (all - idle) / sessions / 1000,
                100 * stolen / (all + stolen), round
        }
    ' "$out/$1.$2.rows" >"$out/$1.$2.cost"
}

# The costs of all rounds of a setting, sorted.
costs()
{
    sort -n "$out/$1".*.cost
}

# busy FUNCTION ROWS: what is spent in it and all that it calls, as a share of
# the time that is not idle. ROWS is the report of the trace as JSON.
busy()
{
    awk -F '[:,]' -v name="$1" '
        index($0, "{\"symbol\":\"") == 3 {
            match($0, /"total_ns":[0-9]+/)
            total = substr($0, RSTART + 11, RLENGTH - 11)
            if (index($0, "\"[idle]\""))
                idle = total
            else if (index($0, "\"" name))
                found = total
        }
        /^"ns"/ { all = $2 }
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
        cost "$setting" "$round"
    done
    round=$((round + 1))
done

for setting in $settings; do
    # shellcheck disable=SC2046 # three words: the round in the middle
    set -- $(costs "$setting" | sed -n "$(((rounds + 1) / 2))p")
    cp "$out/$setting.$3.log" "$out/$setting.log"
    cp "$out/$setting.$3.rows" "$out/$setting.rows"
    echo "net.kick=${setting%.*} clock=${setting#*.}: $1 us of work a session"
    sed -n '/^    self/,/^   -----$/p' "$out/$setting.log" | sed 9q
    echo
done

first=$(costs each.cmos | sed -n "$(((rounds + 1) / 2))p" | cut -d' ' -f1)
echo 'The guest works for a session (the median, least and most of the rounds);'
echo 'of that time, spent below'
printf '%-25s %7s %15s %6s %7s %9s %6s %13s\n' setting us 'least - most' \
    times stolen transmit flush gettimeofday
for setting in $settings; do
    rows=$out/$setting.rows
    costs "$setting" | awk -v middle="$(((rounds + 1) / 2))" \
        -v setting="net.kick=${setting%.*} clock=${setting#*.}" \
        -v first="$first" '
        NR == 1 { least = $1 }
        NR == middle { us = $1 }
        { most = $1; stolen += $2 }
        END {
            printf "%-25s %7.1f %7.1f-%7.1f %6.2f %5.1f %%", setting, us,
                least, most, us / first, stolen / NR
        }
    '
    printf ' %7s %% %4s %% %11s %%\n' "$(busy 'VirtioNet::transmit' "$rows")" \
        "$(busy 'VirtioNet::flush' "$rows")" "$(busy gettimeofday "$rows")"
done
