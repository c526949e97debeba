#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# One guest under the plugin, for the shells of this folder to read; they set
# work (where results go), build, parasite (the command) and here (this folder).

: "${work:?}" "${build:?}" "${parasite:?}" "${here:?}"

# image WIDTH SERVICE, or test/NAME for one of tests/guest
image()
{
    echo "$build/$1/$2/${2##*/}.elf"
}

address()
{
    nm "$1" | awk -v name="$2" '$3 == name { print $1 }'
}

# period HZ: nanoseconds between the samples of a PIT with a whole divisor
period()
{
    awk -v hz="$1" 'BEGIN {
        pit = 1193182
        printf "%d", int(pit / hz + 0.5) * 1e9 / pit }'
}

# watched NAME WIDTH IMAGE RATE WORDS [QEMU'S ARGUMENTS]: one run under the
# plugin, sampled RATE times a second, with WORDS on the image's command line.
# $work/NAME.trace is the profile, .console what it said, .json and .ticks are
# the plugin's.
watched()
{
    one=$work/$1
    width=$2
    elf=$3
    rate=$4
    words=$5
    shift 5
    python3 "$here/symbols.py" "$elf" "$one.map" || return 1
    plugin=$work/truth.so,map=$one.map,out=$one.json,ticks=$one.ticks
    plugin=$plugin,enter=$(address "$elf" prof_parasite)
    plugin=$plugin,stop=$(address "$elf" prof_stop)
    plugin=$plugin,period=$(period "$rate")
    mark=$(address "$elf" accounts_mark)
    plugin=$plugin${mark:+,mark=$mark}
    rm -rf "$one.trace"
    timeout "${LIMIT:-300}" "$parasite" record -q -F "$rate" -o "$one.trace" \
        -- "qemu-system-$width" -accel tcg \
        -icount shift=0,sleep=off -rtc clock=vm \
        -display none -no-reboot -monitor none -nic none -m 128 \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 -plugin "$plugin" \
        -kernel "$elf" -append "$words" "$@" </dev/null >"$one.console"
}

# judged NAME WIDTH IMAGE RATE [QEMU'S ARGUMENTS]: the same, held against the
# truth: NAME.compared is compare.py's. WORDS are more words for the image's
# command line.
judged()
{
    one=$1
    width=$2
    elf=$3
    rate=$4
    shift 4
    watched "$one" "$width" "$elf" "$rate" "prof.reports=1 ${WORDS:-}" "$@" ||
        return 1
    python3 "$here/compare.py" "$elf" "$one.json" "$one.ticks" \
        "$parasite" "$one.trace" >"$one.compared"
}
