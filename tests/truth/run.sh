#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: profiles against the truth. Guests run under -icount, where the
# timer's ticks come at exact virtual times and a run repeats to the
# instruction, with a plugin that counts what is executed in each function; so
# profile and truth are of the same run. Prints TAP. FULL=1 runs all scripts at
# several rates. A table is in FOLDER/table then, a page in FOLDER/truth.html.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
build=$work/..
parasite=$build/host/parasite

mkdir -p "$work"
rm -f "$work"/*.compared
# shellcheck source=tests/tap.sh
. tests/tap.sh

address()
{
    nm "$1" | awk -v name="$2" '$3 == name { print $1 }'
}

# judged WIDTH SERVICE RATE [SCRIPT]: one run, in $work/NAME.*
judged()
{
    image=$build/$1/$2/$2.elf
    name=$work/$1-$2${4:+-$(basename "$4" .lua)}-$3
    python3 "$here/symbols.py" "$image" "$name.map" || return 1
    plugin=$work/truth.so,map=$name.map,out=$name.json,ticks=$name.ticks
    plugin=$plugin,enter=$(address "$image" prof_parasite)
    plugin=$plugin,stop=$(address "$image" prof_stop)
    rm -rf "$name.trace"
    timeout 300 "$parasite" record -q -F "$3" -o "$name.trace" -- \
        "qemu-system-$1" -accel tcg -icount shift=0,sleep=off -rtc clock=vm \
        -display none -no-reboot -monitor none -nic none -m 128 \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 -plugin "$plugin" \
        -kernel "$image" -append prof.reports=1 ${4:+-initrd "$4"} \
        </dev/null >"$name.console" || return 1
    python3 "$here/compare.py" "$image" "$name.json" "$name.ticks" \
        "$parasite" "$name.trace" >"$name.compared"
}

gcc -std=gnu11 -O2 -Wall -Wextra -Wshadow -Wstrict-prototypes \
    -Wmissing-prototypes -Werror -fPIC -shared -o "$work/truth.so" \
    tests/truth/truth.c tests/truth/calls.c || exit 1

scripts=services/lua/scripts/parser.lua
rates=997
if [ "${FULL:-}" = 1 ]; then
    scripts=$(echo services/lua/scripts/*.lua)
    rates='997 1511'
fi
for width in i386 x86_64; do
    for rate in $rates; do
        is "$width: split at $rate Hz is counted" judged $width split "$rate"
        for script in $scripts; do
            is "$width: $(basename "$script") at $rate Hz is counted" \
                judged $width lua "$rate" "$script"
        done
    done
done
is 'every tick is a sample, and every call was followed' \
    python3 "$here/judge.py" ticks "$work"/*.compared
is 'instructions are nanoseconds' \
    python3 "$here/judge.py" time "$parasite" "$work"/*.compared
is 'no stack is one that never was' \
    python3 "$here/judge.py" chains "$work"/*.compared
is 'shares miss the truth by chance alone, no more and no less' \
    python3 "$here/judge.py" chance "$work"/*.compared
sed "s/^/# /" "$work/said"
python3 "$here/judge.py" table "$work"/*.compared >"$work/table"
python3 "$here/page.py" "$work"/*.compared >"$work/truth.html"
echo "1..$number"
