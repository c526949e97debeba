#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: a guest that the host does not let run for a while, on both
# widths and in real time. Prints TAP. The longest stretch that it takes for
# stolen must be that while, and what the stream says of it what the guest says.
# A busy host steals more, in shorter pieces; so no sum is held to a figure.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
build=$work/..
parasite=$build/host/parasite
pause_s=3

cd "$here/../.." || exit 1
mkdir -p "$work"
# shellcheck source=tests/tap.sh
. tests/tap.sh

# reported LOG: tables in it so far
reported()
{
    tr -d '\r' <"$1" | grep -c '^--- profile'
}

# boot WIDTH NAME PAUSE: a second, perhaps a pause, and a second more
boot()
{
    log=$work/$2.log
    rm -rf "$work/$2.trace" "$work/$2.bin" "$log"
    "qemu-system-$1" -accel tcg -display none -no-reboot -monitor none \
        -nic none -m 128 -serial "file:$log" -debugcon "file:$work/$2.bin" \
        -device isa-debug-exit,iobase=0xf4,iosize=4 \
        -kernel "$build/$1/split/split.elf" \
        -append 'prof.hz=1000 prof.out=e9 prof.reports=2' </dev/null &
    machine=$!
    tries=0
    until [ "$(reported "$log" 2>/dev/null)" = 1 ] || [ $tries -ge 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    if [ "$3" -gt 0 ]; then
        kill -STOP $machine
        sleep "$3"
        kill -CONT $machine
    fi
    tries=0
    while kill -0 $machine 2>/dev/null && [ $tries -lt 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    kill -KILL $machine 2>/dev/null
    wait $machine 2>/dev/null
    "$parasite" record -q -o "$work/$2.trace" "file:$work/$2.bin"
}

# longest NAME: ms of the longest stretch
longest()
{
    "$parasite" script -i "$work/$1.trace" |
        awk '/ stolen: / { us = $(NF - 1); if (us > most) most = us }
             END { print int(most / 1000) }'
}

# told NAME: whether guest, info and report say the same, to a few ms
told()
{
    guest=$(tr -d '\r' <"$work/$1.log" |
        awk '/ s stolen, / { s = $1 } END { print s * 1000 }')
    info=$("$parasite" info --json "$work/$1.trace" |
        awk -F '[:,]' '/"stolen_ns"/ { print $2 / 1000000 }')
    report=$("$parasite" report -i "$work/$1.trace" |
        awk '/ s stolen: / { print $2 * 1000 }')
    echo "# $1: stolen $guest ms by the guest, $info by info, $report by report"
    awk "BEGIN { a = $guest; b = $info; c = $report
                 exit !(a > 0 && b >= a - 2 && b <= a + 200 &&
                        c >= b - 2 && c <= b + 2) }"
}

for width in i386 x86_64; do
    boot $width $width.paused $pause_s
    ms=$(longest $width.paused)
    echo "# $width: paused for $pause_s s, longest stretch $ms ms"
    [ "$ms" -ge $((pause_s * 900)) ] && [ "$ms" -le $((pause_s * 1300)) ]
    result $? "$width: the pause is stolen time"
    told $width.paused
    result $? "$width: guest and host say the same"
    boot $width $width.free 0
    ms=$(longest $width.free)
    echo "# $width: not paused, longest stretch $ms ms"
    [ "$ms" -lt $((pause_s * 500)) ]
    result $? "$width: without it there is none"
done
echo "1..$number"
