#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# irc.sh BUILD: the effect of the IRC server's settings, and the cost of
# sampling it, in time; in instructions it is in server.sh. First the four
# settings of `make story`, as ratios in one run. Then PAIRS (100) pairs of
# slices of SECONDS_EACH (0.3) within one boot, with the profiler at 1 kHz and
# stopped (irc_slices.py): the loss of sessions per second, and the increase of
# CPU time of QEMU's threads per session, which depends less on other load. Both
# are medians over the pairs, with their 95 % interval. Figures are written as
# JSON lines to BUILD/bench/irc.jsonl.
set -eu

build=${1:?usage: irc.sh BUILD}
arch=${ARCH:-x86_64}
pairs=${PAIRS:-100}
seconds=${SECONDS_EACH:-0.3}
out=$build/bench/irc
results=$build/bench/irc.jsonl
mkdir -p "$out"
: >"$results"

keep()
{
    printf '{"width":"%s","name":"%s","value":%s}\n' \
        "$arch" "$1" "$2" >>"$results"
}

# Only the ratios, a column of the story's table.
settings()
{
    tools/loadgen/story.py "$build" "$arch" |
        sed -n '/^setting/,$p' >"$out/settings"
    echo 'the IRC server, CPU time per session as multiples of the first'
    awk 'NR > 1 { printf "  %-30s %6.2f\n", $1 " " $2, $5 }' "$out/settings"
    awk 'NR > 1 { print $1 "." $2, $5 }' "$out/settings" |
        sed 's/net.kick=//; s/clock=//' |
        while read -r name times; do
            keep "irc_times_$name" "$times"
        done
}

# cost NUMERATOR DENOMINATOR: percent by which the first of these columns of the
# pairs is larger: the median and the ends of its interval, from the binomial
# distribution, which holds for any distribution of the pairs
cost()
{
    awk -v over="$1" -v under="$2" '{ print 100 * ($over / $under - 1) }' \
        "$out/pairs" | sort -g | awk '
        { each[NR] = $1 }
        END {
            below = int((NR - 1.96 * sqrt(NR)) / 2)
            printf "%.2f %.2f %.2f\n",
                (each[int((NR + 1) / 2)] + each[int(NR / 2) + 1]) / 2,
                each[below], each[NR + 1 - below]
        }'
}

# emit NAME WHAT NUMERATOR DENOMINATOR
emit()
{
    # shellcheck disable=SC2046 # three numbers
    set -- "$1" "$2" $(cost "$3" "$4")
    keep "$1" "$3"
    keep "${1}_least" "$4"
    keep "${1}_most" "$5"
    echo "$2: $3 %, 95 % interval $4 to $5 %, $pairs pairs"
}

settings
python3 bench/irc_slices.py "$build" "$arch" "$pairs" "$seconds" "$out/pairs" \
    2>"$out/log"
emit irc_sampling_cost_percent 'sampling at 1 kHz, in sessions a second' 2 1
emit irc_sampling_cpu_percent "sampling at 1 kHz, in CPU time of QEMU's" 3 4
verdict=reached
cost 2 1 | awk '{ exit !($1 > 1) }' && verdict='NOT REACHED'
echo "goal: at most 1 % by sessions: $verdict"
[ "$verdict" = reached ]
