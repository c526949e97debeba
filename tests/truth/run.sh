#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: profiles against the truth. Guests run under -icount, where the
# timer's ticks come at exact virtual times and a run repeats to the
# instruction, with a plugin that counts what is executed in each function; so
# profile and truth are of the same run. Prints TAP. A table is in FOLDER/table
# then, a page in FOLDER/truth.html. FULL=1 runs all scripts at several rates,
# and its table and page go into docs.
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
# shellcheck source=/dev/null # checked by itself
. tests/truth/judged.sh
# shellcheck source=/dev/null # checked by itself
. tests/truth/lanes.sh
# shellcheck source=/dev/null # checked by itself
. tests/truth/generated.sh
# shellcheck source=/dev/null # checked by itself
. tests/truth/load.sh

gcc -std=gnu11 -O2 -Wall -Wextra -Wshadow -Wstrict-prototypes \
    -Wmissing-prototypes -Werror -fPIC -shared -o "$work/truth.so" \
    tests/truth/truth.c tests/truth/calls.c tests/truth/ideal.c \
    tests/truth/masked.c tests/truth/traps.c || exit 1

# counted WIDTH: each report's closing rows, and the trace, against the ticks
counted()
{
    elf=$(image "$1" test/ticks_are_accounted)
    files=$work/$1-ticks
    watched "$1-ticks" "$1" "$elf" 997 'prof.start=off prof.every=0' &&
        python3 "$here/accounts.py" "$elf" "$files.console" "$files.json" \
            "$files.ticks" "$parasite" "$files.trace"
}

scripts=services/lua/scripts/parser.lua
rates=997
if [ "${FULL:-}" = 1 ]; then
    scripts=$(echo services/lua/scripts/*.lua)
    rates='997 1511'
fi
for width in i386 x86_64; do
    queue "$width: the accounts hold every tick, whatever happens" \
        counted "$width"
    for rate in $rates; do
        queue "$width: split at $rate Hz is counted" \
            judged "$width-split-$rate" "$width" "$(image "$width" split)" \
            "$rate"
        for script in $scripts; do
            queue "$width: $(basename "$script") at $rate Hz is counted" \
                judged "$width-lua-$(basename "$script" .lua)-$rate" "$width" \
                "$(image "$width" lua)" "$rate" -initrd "$script"
        done
    done
done
queue_generated
run_queue
# a server on each width, or both on both
servers='x86_64-irc i386-http'
[ "${FULL:-}" != 1 ] || servers='x86_64-irc x86_64-http i386-irc i386-http'
for server in $servers; do
    is "$server under load: recorded, played back, the same to the last byte" \
        "${server#*-}_under_load" "${server%-*}" 997
done
is 'every tick is a sample, and every call was followed' \
    python3 "$here/judge.py" ticks "$work"/*.compared
steady= # where nobody rests, and an instruction takes one
for file in "$work"/*.compared; do
    case $file in
    *-irc-* | *-http-*) ;;
    *) steady="$steady $file" ;;
    esac
done
# shellcheck disable=SC2086 # a list of words
is 'instructions are nanoseconds' python3 "$here/judge.py" time $steady
is 'no stack is one that never was' \
    python3 "$here/judge.py" chains "$work"/*.compared
is 'shares miss the truth by chance alone, no more and no less' \
    python3 "$here/judge.py" chance "$work"/*.compared
sed "s/^/# /" "$work/said"
is 'and no function is favoured by all runs together' \
    python3 "$here/judge.py" bias "$work"/*.compared
sed "s/^/# /" "$work/said"
is 'and the test finds out errors that are too small or too large' \
    python3 "$here/judge.py" doubt "$work"/*.compared
python3 "$here/judge.py" table "$work"/*.compared >"$work/table"
pages=$work
[ "${FULL:-}" != 1 ] || pages=docs
is 'a page and a table are made' \
    python3 "$here/page.py" "$pages" "$work"/*.compared
echo "1..$number"
