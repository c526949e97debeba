#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fleet.sh BUILD [GUESTS [SECONDS [FILES]]]: a Lua guest is recorded and
# replayed as GUESTS (1000) of 50 builds for SECONDS (75) into `parasite serve`
# with an embedded store: CPU and memory of serve, the store's size, when
# samples can be queried, how long queries take, of these minutes and of an hour
# of them, and an hour's outage of a store (bench/outage.sh). Beside it FILES
# (100) of these guests' packets become pprof files, which `go tool pprof` adds
# up.
# Writes lines of JSON to BUILD/bench/fleet.jsonl and prints them. Needs `make
# store`; without Go the pprof rows are missing.
set -eu

build=${1:?usage: fleet.sh BUILD [GUESTS [SECONDS [FILES]]]}
guests=${2:-1000}
seconds=${3:-75}
files=${4:-100}
work=$build/bench/fleet
results=$build/bench/fleet.jsonl
parasite=$build/host/parasite
rm -rf "$work"
mkdir -p "$work"
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh
[ -e "$build/chdb/libchdb.so" ] || {
    echo "fleet.sh: there is no embedded engine; 'make store' fetches it" >&2
    exit 1
}

# an image for each of the builds that many_guests makes
mkdir "$work/images"
id=$(readelf -n "$build/x86_64/lua/lua.elf" | sed -n 's/.*Build ID: //p')
python3 - "$build/x86_64/lua/lua.elf" "$id" "$work/images" <<'END'
import pathlib
import sys

image, name, folder = sys.argv[1:]
data, old = pathlib.Path(image).read_bytes(), bytes.fromhex(name)
for number in range(1, 51):
    new = number.to_bytes(4, "little").ljust(len(old), b"\0")
    pathlib.Path(folder, f"{number}.elf").write_bytes(data.replace(old, new))
END
many=$build/bench/many
rm -rf "$many"
bench/many.sh "$build" "$guests" "$seconds" 6000 "$work/images" >"$work/many" &
run=$!
# a whole minute is over and stored before the guests end, or after they have
while ! [ -e "$many/sent" ]; do
    kill -0 $run
    sleep 0.1
done
bench/visible.sh "$parasite" "$many/store" "$guests" >"$work/visible"
wait $run
cat "$work/many"
keep host fleet_visible "$(cat "$work/visible")" s

metric()
{
    sed -n "s/^parasite_serve_$1 //p" "$many/metrics"
}

samples=$("$parasite" sql "$many/store" \
    'SELECT sum(samples) AS n FROM samples' | tail -n 1 | tr -d ' ')
disk=$("$parasite" sql "$many/store" "SELECT sum(bytes_on_disk) AS n \
FROM system.parts WHERE active AND table = 'samples'" | tail -n 1 | tr -d ' ')
keep host fleet_cores "$(metric cpu_seconds_total |
    awk -v s="$seconds" '{ print $1 / s }')" cores
keep host fleet_memory "$(metric memory_bytes | awk '{ print $1 / 1e6 }')" MB
keep host fleet_rows "$("$parasite" sql "$many/store" \
    "SELECT round(count() / uniqExact(guest, bucket), 1) AS n FROM samples" |
    tail -n 1 | tr -d ' ')" rows
keep host fleet_bytes "$(awk -v d="$disk" -v n="$samples" \
    'BEGIN { print d / n }')" bytes

# the CPU time of the store's process so far, in clock ticks
store_ticks()
{
    awk '{ print $14 + $15 }' "/proc/$(cat "$many/store/lock")/stat"
}

# asked NAME WORDS...: the median time of five queries, and the store's CPU time
# for one, on which other work of the machine has less influence
asked()
{
    name=$1
    shift
    # shellcheck disable=SC2086 # words
    set -- "$@" $range
    ticks=$(store_ticks)
    : >"$work/took"
    # no pipe: one that fails ends the script
    for _ in 1 2 3 4 5; do
        began=$(date +%s%N)
        "$parasite" fleet "$@" --store "$many/store" --json >"$work/$name"
        echo "$(($(date +%s%N) - began))" >>"$work/took"
    done
    ticks=$(($(store_ticks) - ticks))
    sort -n "$work/took" >"$work/sorted"
    median=$(awk 'NR == 3 && $1 > 0 { printf "%.3g", $1 / 1e9; found = 1 }
        END { exit !found }' "$work/sorted")
    keep host "fleet_${name}_cpu" "$((ticks * 200 / $(getconf CLK_TCK)))e-3" s
    keep host "fleet_$name" "$median" s
}

# minute FUNCTION: the least or greatest minute that the store has, in seconds
minute()
{
    "$parasite" sql -q "$many/store" \
        "SELECT toUnixTimestamp($1(bucket)) FROM samples" |
        tail -n 1 | tr -d ' '
}

# copied TABLE COPIES STEP: its rows once more for each of the next COPIES steps
# of STEP minutes
copied()
{
    columns=$("$parasite" sql -q "$many/store" "SELECT name FROM \
system.columns WHERE table = '$1' AND database = currentDatabase() \
ORDER BY position" | tail -n +2 | tr -d ' ' | paste -s -d ,)
    moved=$(echo "$columns" |
        sed "s/\<bucket\>/bucket + toIntervalMinute($3 * k)/")
    "$parasite" sql --write -q "$many/store" \
        "INSERT INTO $1 ($columns) SELECT $moved \
FROM $1 CROSS JOIN (SELECT number + 1 AS k FROM numbers($2)) AS copies" \
        >"$work/inserted"
}

range=
asked list
asked top top many
asked diff diff many
asked odd odd many
python3 - "$work/list" "$work/odd" <<'END'
import json
import sys

guests, found = (json.load(open(path)) for path in sys.argv[1:])
boots = {guest["guest"]: guest["boot"] for guest in guests["guests"]}
odd = [
    boots[guest["guest"]]
    for guest in found["guests"]
    if guest["odd"] and guest["by"] == "mix"
]
if not any(boot.startswith("2b000000") for boot in odd):
    sys.exit(f"fleet.sh: guest 42 is not among the odd ones: {odd}")
END

# An hour of the same guests.
begin=$(minute min)
step=$((($(minute max) - begin) / 60 + 1))
copied samples $((60 / step - 1)) "$step"
copied accounts $((60 / step - 1)) "$step"
range="--since @$begin --until @$((begin + 3600))"
keep host fleet_hour_rows "$("$parasite" sql -q "$many/store" \
    'SELECT count() AS n FROM samples' | tail -n 1 | tr -d ' ')" rows
asked hour_list
asked hour_top top many
asked hour_diff diff many
asked hour_odd odd many

results=$results bench/outage.sh "$build" "$guests"

# the same guests as pprof files
n=0
mkdir "$work/pprof"
for guest in "$many"/raw/*; do
    [ "$n" -lt "$files" ] || break
    n=$((n + 1))
    cat "$guest"/*.packets >"$work/packets"
    "$parasite" export -q -f pprof --force \
        -k "$build/x86_64/lua/lua.elf" \
        -o "$work/pprof/$n.pb.gz" "$work/packets"
done
keep host fleet_pprof_bytes "$(cat "$work"/pprof/* | wc -c |
    awk -v n="$n" '{ print $1 / n }')" bytes
if command -v go >/dev/null; then
    began=$(date +%s%N)
    go tool pprof -top "$work"/pprof/*.pb.gz >"$work/top.txt" 2>&1
    keep host fleet_pprof_top "$(($(date +%s%N) - began))e-9" s
fi
cat "$results"
