#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: the curves of bench/growth in their short form, two points of
# each, on both widths; and that growth which is made up is found. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
build=$work/..
results=$work/bench/growth.jsonl
mkdir -p "$work"
# shellcheck source=tests/tap.sh
. tests/tap.sh

# The run writes below the folder that it takes images from: this test's own.
for part in i386 x86_64 host; do
    rm -f "$work/$part"
    ln -s "$(realpath "$build/$part")" "$work/$part"
done

every_curve()
{
    ! python3 bench/growth/table.py "$results" short | grep MISSING
}

# broken NAME: whether the table finds a square where NAME's curve was
broken()
{
    sed "/\"name\": *\"$1\"/d" "$results" >"$work/broken.jsonl"
    for x in 10 100 1000 10000; do
        printf '{"width":"i386","name":"%s","x":%d,"value":%d}\n' \
            "$1" $x $((x * x))
    done >>"$work/broken.jsonl"
    python3 bench/growth/table.py "$work/broken.jsonl" >"$work/broken"
    [ $? = 1 ] && grep -A 3 "x^2.00" "$work/broken" | grep 'NOT REACHED'
}

is 'what is made up grows as it was made' python3 "$here/fit_test.py"
is 'two points of each curve' bench/growth/run.sh "$work" short
is 'no curve is missing' every_curve
is 'a square is found among the drains' broken quiet_drain_known
is 'and in the heap' broken stacks_heap
is 'the page has a plot for each' \
    same "$(grep -c '<figure>' "$work/bench/growth.html")" \
    "$(python3 -c 'import sys; sys.path.insert(0, "bench/growth")
import curves; print(len(curves.CURVES))')"
echo "1..$number"
