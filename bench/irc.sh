#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# irc.sh BUILD: what sampling takes from the IRC server, and what its settings
# give. First the four settings of `make story`, as ratios in one run; then
# PAIRS (10) pairs of runs under the same load, with the profiler at 1 kHz and
# with it off, in turns of changing order, so that the machine's other work
# meets both alike. The cost is one less the ratio of sessions a second, as the
# geometric mean over the pairs, with its 95 % interval (Student's t).
# Figures are kept as JSON lines in BUILD/bench/irc.jsonl.
set -eu

build=${1:?usage: irc.sh BUILD}
arch=${ARCH:-x86_64}
pairs=${PAIRS:-10}
out=$build/bench/irc
results=$build/bench/irc.jsonl
mkdir -p "$out"
: >"$results"

keep()
{
    printf '{"width":"%s","name":"%s","value":%s}\n' "$arch" "$1" "$2" \
        >>"$results"
}

# sessions a second with prof.start=$1
rate()
{
    SESSIONS=${SESSIONS:-8000} CLIENTS=${CLIENTS:-16} ARCH=$arch ACCEL=tcg \
        QUIET=1 LIMIT=300 FIGURES=$out/figures \
        APPEND="irc.every=0 prof.every=0 prof.hz=1000 prof.start=$1" \
        tools/bombard/under.sh "$build/host/bombard" tools/build/run.sh \
        "$build/$arch/irc/irc.elf" </dev/null >"$out/log" 2>&1
    sed -n 's/.*"per_second":\([0-9.]*\).*/\1/p' "$out/figures"
}

# The table's last lines, and nothing but ratios: the tables are the story's.
settings()
{
    ROUNDS=${ROUNDS:-3} tools/bombard/story.sh "$build" "$arch" |
        sed -n '/^setting/,$p' >"$out/settings"
    echo 'the IRC server, sessions a second as multiples of the first setting'
    awk 'NR > 1 { printf "  %-30s %6.2f\n", $1 " " $2, $4 }' "$out/settings"
    awk 'NR > 1 { print $1 "." $2, $4 }' "$out/settings" |
        sed 's/net.kick=//; s/clock=//' |
        while read -r name times; do
            keep "irc_times_$name" "$times"
        done
}

settings
: >"$out/pairs"
pair=0
while [ "$pair" -lt "$pairs" ]; do
    if [ $((pair % 2)) -eq 0 ]; then
        on=$(rate on)
        off=$(rate off)
    else
        off=$(rate off)
        on=$(rate on)
    fi
    echo "$on $off" >>"$out/pairs"
    pair=$((pair + 1))
done

awk '
    # quantile 0.975 of Student t, by the expansion of Cornish and Fisher
    # (Abramowitz and Stegun, 26.7.5), good to 0.5 % from 4 degrees on
    function student(n, x) {
        x = 1.959964
        return x + (x ^ 3 + x) / (4 * n) + \
            (5 * x ^ 5 + 16 * x ^ 3 + 3 * x) / (96 * n ^ 2) + \
            (3 * x ^ 7 + 19 * x ^ 5 + 17 * x ^ 3 - 15 * x) / (384 * n ^ 3)
    }
    { each[NR] = log($1 / $2); sum += each[NR] }
    END {
        mean = sum / NR
        for (i = 1; i <= NR; i++)
            squares += (each[i] - mean) ^ 2
        half = student(NR - 1) * sqrt(squares / (NR - 1) / NR)
        printf "%.2f %.2f %.2f\n", 100 * (1 - exp(mean)),
            100 * (1 - exp(mean + half)), 100 * (1 - exp(mean - half))
    }' "$out/pairs" >"$out/cost"
read -r cost least most <"$out/cost"
keep irc_sampling_cost_percent "$cost"
keep irc_sampling_cost_percent_least "$least"
keep irc_sampling_cost_percent_most "$most"
echo "sampling at 1 kHz costs $cost % of the sessions a second, 95 % interval"
verdict=reached
awk -v most="$cost" 'BEGIN { exit !(most > 1) }' && verdict='NOT REACHED'
echo "$least to $most %, $pairs pairs; goal: at most 1 %  $verdict"
[ "$verdict" = reached ]
