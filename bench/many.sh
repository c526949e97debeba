#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# many.sh BUILD [GUESTS [SECONDS [BYTES [IMAGES]]]]: what `parasite serve` takes
# for many guests: a Lua guest with 20 callers at 100 Hz is recorded until there
# are BYTES (200000, some 10,000 stacks; 6000 are some 200), and replayed as
# GUESTS (1000) of 50 builds for SECONDS (75), in which at least one minute is
# closed; guest 42 has other shares of stacks than all others. Prints CPU time
# and memory. With the embedded store, if `make store`
# has fetched it. With IMAGES, a folder of images for names, serve also keeps
# the packets.
set -eu

build=${1:?usage: many.sh BUILD [GUESTS [SECONDS [BYTES [IMAGES]]]]}
guests=${2:-1000}
seconds=${3:-75}
bytes=${4:-200000}
images=${5:-}
work=$build/bench/many
parasite=$build/host/parasite
rm -rf "$work"
mkdir -p "$work"
socket=$(mktemp -d)/guests

gcc -std=gnu11 -O2 -Iprofiler/include -Ihost -o "$work/many_guests" \
    bench/many_guests.c "$build/host/libparasite.a"
# the script begins anew whenever it ends: so much of it is some minutes
qemu-system-x86_64 -icount shift=4,sleep=off -display none \
    -no-reboot -monitor none -nic none -m 128 -serial "file:$work/console" \
    -kernel "$build/x86_64/lua/lua.elf" \
    -initrd services/lua/scripts/parser.lua \
    -append "prof.out=virtio prof.hz=100 prof.depth=20 prof.every=0 \
prof.reports=0" -device virtio-serial-pci \
    -chardev "file,id=out,path=$work/stream" -device virtconsole,chardev=out &
guest=$!
while [ "$(stat -c %s "$work/stream" 2>/dev/null || echo 0)" -lt "$bytes" ]; do
    kill -0 $guest
    sleep 0.5
done
kill $guest
wait $guest || :
"$parasite" info "$work/stream" | grep -E '^(samples|nodes|duration)'

set -- --listen "many=unix:$socket" --http 0
if [ -e "$build/chdb/libchdb.so" ]; then
    set -- "$@" --store "$work/store" --spool "$work/spool"
fi
if [ -n "$images" ]; then
    set -- "$@" --keep-raw 1h --raw "$work/raw"
    for image in "$images"/*.elf; do
        set -- "$@" -k "$image"
    done
fi
"$parasite" serve "$@" 2>"$work/serve.log" >"$work/rows" &
serve=$!
trap 'kill $serve 2>/dev/null || :; rm -rf "$(dirname "$socket")"' EXIT
while ! [ -S "$socket" ] || ! grep -q metrics "$work/serve.log"; do
    kill -0 $serve
    sleep 0.1
done
metrics=$(sed -n 's/.*\(http:.*metrics\)/\1/p' "$work/serve.log")
"$work/many_guests" -o 42 "$socket" "$guests" "$seconds" "$work/stream" \
    >"$work/sent"
curl -s "$metrics" >"$work/metrics"
kill $serve
wait $serve || :
cat "$work/sent"
grep -E '^parasite_serve_(guest|memory|packets_|cpu|rows|buckets)' \
    "$work/metrics"
grep -E '^parasite_serve_(spool|store|limited|samples)' "$work/metrics"
awk -v seconds="$seconds" '/^parasite_serve_cpu_seconds_total/ {
    printf "%.3f of one core\n", $2 / seconds }' "$work/metrics"
if [ -e "$build/chdb/libchdb.so" ]; then
    "$parasite" sql "$work/store" "SELECT count() AS rows, \
sum(ticks) - sum(missed) AS counted, \
sum(dropped) AS lost, uniq(guest) AS guests FROM accounts"
fi
