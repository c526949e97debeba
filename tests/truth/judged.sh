#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # who reads it sets them
#
# One guest under the plugin, for the shells of this folder to read; they set
# work (where results go), build, parasite (the command) and here (this folder).

# image WIDTH SERVICE
image()
{
    echo "$build/$1/$2/$2.elf"
}

address()
{
    nm "$1" | awk -v name="$2" '$3 == name { print $1 }'
}

# judged NAME WIDTH IMAGE RATE [QEMU'S ARGUMENTS]: one run, sampled RATE times a
# second. Profile and truth are $work/NAME.*; NAME.compared is compare.py's.
# WORDS are more words for the image's command line.
judged()
{
    one=$work/$1
    width=$2
    elf=$3
    rate=$4
    shift 4
    python3 "$here/symbols.py" "$elf" "$one.map" || return 1
    plugin=$work/truth.so,map=$one.map,out=$one.json,ticks=$one.ticks
    plugin=$plugin,enter=$(address "$elf" prof_parasite)
    plugin=$plugin,stop=$(address "$elf" prof_stop)
    rm -rf "$one.trace"
    timeout "${LIMIT:-300}" "$parasite" record -q -F "$rate" -o "$one.trace" \
        -- "qemu-system-$width" -accel tcg \
        -icount shift=0,sleep=off -rtc clock=vm \
        -display none -no-reboot -monitor none -nic none -m 128 \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 -plugin "$plugin" \
        -kernel "$elf" -append "prof.reports=1 ${WORDS:-}" "$@" \
        </dev/null >"$one.console" || return 1
    python3 "$here/compare.py" "$elf" "$one.json" "$one.ticks" \
        "$parasite" "$one.trace" >"$one.compared"
}
