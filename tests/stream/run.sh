#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: the stream from an image to the host's command, by each way
# out and on both widths, also in a panic; and commands the other way. Prints
# TAP. What the command reads must be, to the last sample, what the guest says
# it has counted.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
build=$work/..
parasite=$build/host/parasite

cd "$here/../.." || exit 1
mkdir -p "$work"
# shellcheck source=tests/tap.sh
. tests/tap.sh

# machine WIDTH APPEND ARGUMENTS...: lua, on a clock that counts instructions
machine()
{
    width=$1
    append=$2
    shift 2
    timeout 120 "qemu-system-$width" -accel tcg -display none -no-reboot \
        -monitor none -nic none -m 128 \
        -device isa-debug-exit,iobase=0xf4,iosize=4 \
        -kernel "$build/$width/lua/lua.elf" -append "$append" \
        -initrd services/lua/scripts/parser.lua "$@"
}

counted()
{
    machine "$@" -icount shift=0,sleep=off -rtc clock=vm
}

# field NAME FILE: a number of `parasite info --json`
field()
{
    sed -n "s/^ *\"$1\": *\([0-9]*\),*\$/\1/p" "$2"
}

# compare WIDTH NAME WAY SOURCE: SOURCE is what `parasite record` reads
compare()
{
    log=$work/$2.log
    rm -rf "$work/$2.trace"
    tr -d '\r' <"$work/$2.out" >"$log"
    said="^prof: stream to $3: \([0-9]*\) samples, \([0-9]*\) of .*"
    said=$(sed -n "s/$said/\1 \2/p" "$log")
    "$parasite" record -q -k "$build/$1/lua/lua.elf" -o "$work/$2.trace" \
        "$4" >>"$log" 2>&1 &&
        "$parasite" info --json "$work/$2.trace" >"$work/$2.json" 2>>"$log" ||
        return 1
    cat "$work/$2.json" >>"$log"
    echo "guest: $said" >>"$log"
    [ "$(field samples "$work/$2.json") $(field lost "$work/$2.json")" = \
        "$said" ] && [ "${said#* }" = 0 ] && [ "${said% *}" -gt 500 ]
}

# way WIDTH NAME WAY APPEND ARGUMENTS...: one run; packets in NAME.bin
way()
{
    width=$1
    name=$2-$1
    out=$3
    append=$4
    shift 4
    rm -f "$work/$name.bin"
    counted "$width" "$append" "$@" </dev/null >"$work/$name.out" 2>&1
    status=0
    case $out in
    serial) compare "$width" "$name" serial "console:$work/$name.out" ;;
    shm) compare "$width" "$name" shm "shm:$work/$name.bin" ;;
    *) compare "$width" "$name" "$out" "file:$work/$name.bin" ;;
    esac || status=1
    by=${name%-"$width"}
    result $status "$width: what leaves by $by is what was counted" \
        "$work/$name.log"
}

ways()
{
    one=prof.reports=1
    way "$1" serial serial "$one prof.out=serial" -serial stdio
    way "$1" uart2 uart2 "$one prof.out=uart2" -serial stdio \
        -serial "file:$work/uart2-$1.bin"
    way "$1" e9 e9 "$one prof.out=e9" -serial stdio \
        -debugcon "file:$work/e9-$1.bin"
    for face in legacy modern; do
        other=$([ $face = legacy ] && echo modern || echo legacy)
        way "$1" "virtio-$face" virtio "$one prof.out=virtio" -serial stdio \
            -chardev "file,id=v,path=$work/virtio-$face-$1.bin" \
            -device "virtio-serial-pci,disable-$other=on" \
            -device virtconsole,chardev=v
    done
    ram=memory-backend-file,id=ram,size=128M,share=on,mem-path=$work/shm
    way "$1" shm shm "$one prof.out=shm" -serial stdio \
        -machine memory-backend=ram -object "$ram-$1.bin"
    fast="$one prof.hz=10000 prof.drain=20"
    way "$1" virtio-10kHz virtio "$fast prof.out=virtio" -serial stdio \
        -chardev "file,id=v,path=$work/virtio-10kHz-$1.bin" \
        -device virtio-serial-pci -device virtconsole,chardev=v
    way "$1" shm-10kHz shm "$fast prof.out=shm" -serial stdio \
        -machine memory-backend=ram -object "$ram-10kHz-$1.bin"
}

# missing WIDTH ASKED TAKEN ARGUMENTS...
missing()
{
    width=$1
    asked=$2
    taken=$3
    shift 3
    log=$work/missing-$asked-$taken-$width.log
    counted "$width" "prof.reports=1 prof.out=$asked" -serial stdio "$@" \
        </dev/null 2>&1 | tr -d '\r' >"$log"
    grep -q "^prof: prof.out=$asked: no such device; .* goes to $taken\$" \
        "$log" && grep -q "^prof: stream to $taken: " "$log"
    result $? "$width: without $asked the stream goes to $taken" "$log"
}

# await PATTERN: waits for a line that fits, after line number $before
await()
{
    for _ in $(seq 100); do
        sleep 0.2
        tail -n "+$((before + 1))" "$console" | tr -d '\r' |
            grep -qE "$1" && return 0
    done
    return 1
}

# ask COMMAND PATTERN: sends a line and waits for a line that fits
ask()
{
    before=$(grep -c '' "$console")
    printf '%s\n' "$1" >&3
    await "$2"
    result $? "$what: \"$1\" is answered" "$console"
}

# conversation WIDTH NAME APPEND ARGUMENTS...: commands by standard input
conversation()
{
    width=$1
    what="$1 commands by $2"
    console=$work/commands-$2-$1.log
    append=$3
    shift 3
    rm -f "$work/in"
    mkfifo "$work/in"
    : >"$console"
    machine "$width" "prof.start=off prof.every=0 $append" "$@" \
        -pidfile "$work/pid" \
        <"$work/in" >"$work/commands.out" 2>&1 &
    exec 3>"$work/in"
    before=0
    await '^parser: ' # what is sent earlier may be lost with the device's reset
    ask 'rate 500' '^#prof! ok rate 500 at 500\.[0-9]* Hz$'
    ask 'depth 9' '^#prof! ok depth 9$'
    ask 'start' '^#prof! ok start at 500\.'
    ask 'fly' '^#prof! error: "fly": not a command'
    ask 'rate 0' '^#prof! error: "rate 0": rate: '
    ask 'stacks off' '^#prof! ok stacks off$'
    ask 'report' '^#prof! ok report$'
    ask 'reset' '^#prof! ok reset$'
    ask 'stop' '^#prof! ok stop$'
    oks=$(grep -c '^#prof! ok' "$console")
    awk 'BEGIN {
        for (i = 0; i < 60; i++)
            printf "%c%cstart%c", 1 + i % 9, 128 + i % 90, 14 }' >&3
    ask ' is too much' '^#prof! error: ".*": longer than any command'
    [ "$(grep -c '^#prof! ok' "$console")" -eq "$oks" ]
    result $? "$what: garbage changes nothing" "$console"
    ask 'report' '^#prof! ok report$'
    exec 3>&-
    kill "$(cat "$work/pid")"
    wait
}

# panics WIDTH IMAGE WAY: boots an image that dies in that way, and records it
panics()
{
    name=panic-$3-$1
    log=$work/$name.log
    elf=$build/$1/test/$2/$2.elf
    rm -rf "$work/$name.trace" "$work/$name.bin"
    timeout 60 "qemu-system-$1" -accel tcg -display none -no-reboot \
        -monitor none -nic none -m 128 -serial stdio \
        -icount shift=2,sleep=off -rtc clock=vm \
        -device isa-debug-exit,iobase=0xf4,iosize=4 \
        -debugcon "file:$work/$name.bin" -kernel "$elf" \
        -append "prof.out=e9 prof.every=0 prof.jitter=0 die=$3" \
        </dev/null 2>&1 |
        tr -d '\r' >"$log"
    {
        "$parasite" record -q -k "$elf" -o "$work/$name.trace" \
            "file:$work/$name.bin"
        "$parasite" info --json "$work/$name.trace" >"$work/$name.json"
        cat "$work/$name.json"
    } >>"$log" 2>&1
    [ "$(field exit_code "$work/$name.json")" = 101 ]
}

# dies WIDTH WAY SAMPLES: a panic has told all samples, so many of them as
# spilled
dies()
{
    panics "$1" panic_sends_what_is_left "$2" &&
        said=$(sed -n 's/^ends with \([0-9]*\) ticks$/\1/p' "$log") &&
        "$parasite" report "$work/$name.trace" >"$work/$name.report" &&
        [ "$(field samples "$work/$name.json")" = "$said" ] &&
        [ "$(field lost "$work/$name.json")" = 0 ] &&
        [ "$(field spilled "$work/$name.json")" = "$3" ] &&
        grep -qE ' +50  last_samples$' "$work/$name.report"
    result $? "$1: a panic ($2) sends the last samples" "$log"
}

# grows FILE BYTES: waits until it has so many
grows()
{
    for _ in $(seq 300); do
        [ "$(wc -c <"$1")" -ge "$2" ] && return 0
        sleep 0.1
    done
    return 1
}

# boots_twice WIDTH: a guest that is reset while it is recorded
boots_twice()
{
    name=boots-$1
    log=$work/$name.log
    packets=$work/$name.bin
    rm -rf "$work/$name".trace* "$work/monitor"
    mkfifo "$work/monitor"
    : >"$packets"
    timeout 120 "qemu-system-$1" -accel tcg -display none -nic none -m 128 \
        -monitor stdio -serial null -debugcon "file:$packets" \
        -kernel "$build/$1/lua/lua.elf" -append 'prof.out=e9 prof.every=0' \
        -initrd services/lua/scripts/parser.lua \
        <"$work/monitor" >"$log" 2>&1 &
    exec 4>"$work/monitor"
    grows "$packets" 8192
    echo system_reset >&4
    grows "$packets" $(($(wc -c <"$packets") + 8192))
    echo quit >&4
    exec 4>&-
    wait
    {
        "$parasite" record -o "$work/$name.trace" "file:$packets"
        "$parasite" info --json "$work/$name.trace" >"$work/$name.json"
        "$parasite" info --json "$work/$name.trace-2" >"$work/$name-2.json"
    } >>"$log" 2>&1
    cat "$work/$name.json" "$work/$name-2.json" >>"$log"
    grep -q 'booted 2 times' "$log" &&
        [ "$(field samples "$work/$name.json")" -gt 500 ] &&
        [ "$(field samples "$work/$name-2.json")" -gt 500 ] &&
        [ "$(field missing_packets "$work/$name-2.json")" = 0 ]
    result $? "$1: a second boot has a trace of its own" "$log"
}

for width in i386 x86_64; do
    ways "$width"
    boots_twice "$width"
    dies "$width" null 0
    dies "$width" overflow 0
    dies "$width" drain 50
    for way in without_heap stack_smashed stack_lost; do
        panics "$width" panic $way
        result $? "$width: a panic ($way) ends the stream" "$log"
    done
    missing "$width" virtio e9 -debugcon null
    missing "$width" uart2 serial
    conversation "$width" console '' \
        -chardev "stdio,id=c,logfile=$work/commands-console-$width.log" \
        -serial chardev:c
    conversation "$width" uart2 'prof.out=uart2' \
        -serial "file:$work/commands-uart2-$width.log" -serial stdio
    conversation "$width" virtio 'prof.out=virtio' \
        -serial "file:$work/commands-virtio-$width.log" \
        -chardev stdio,id=c -device virtio-serial-pci \
        -device virtconsole,chardev=c
done
echo "1..$number"
