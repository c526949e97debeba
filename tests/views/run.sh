#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: parasite diff and annotate (FOLDER/../host/parasite) on guests
# that it boots and on streams that were made. Guests run under -icount, where
# a run repeats to the instruction; another rate is another set of samples.
# Prints TAP. GUESTS=no takes the traces of the last run.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
build=$work/..
parasite=$build/host/parasite
RATES='911 953 997 1021'

mkdir -p "$work"
number=0

# is WHAT COMMAND...: one test
is()
{
    what=$1
    shift
    number=$((number + 1))
    if "$@" >"$work/said" 2>&1; then
        echo "ok $number - $what"
    else
        echo "not ok $number - $what"
        tail -n 15 "$work/said" | sed 's/^/# /'
    fi
}

# ends_with CODE COMMAND...
ends_with()
{
    wanted=$1
    shift
    code=0
    "$@" || code=$?
    echo "ended with $code, not $wanted"
    [ "$code" -eq "$wanted" ]
}

# guest WIDTH SERVICE RATE TRACE WORDS...: boots and records it
guest()
{
    width=$1
    image=$build/$1/$2/$2.elf
    rate=$3
    trace=$4
    shift 4
    rm -rf "$trace"
    timeout 100 "$parasite" record -q -F "$rate" -o "$trace" -- \
        "qemu-system-$width" -accel tcg -icount shift=0,sleep=off \
        -rtc clock=vm -display none -no-reboot -monitor none -nic none \
        -m 128 -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        -kernel "$image" -append "$*" \
        -initrd services/lua/scripts/parser.lua </dev/null >"$work/console"
}

all_guests()
{
    for rate in $RATES; do
        for service in split lua; do
            guest "$1" $service "$rate" "$work/$1.$service.$rate" \
                prof.reports=1
        done
        guest "$1" split "$rate" "$work/$1.base.$rate" prof.reports=3
        guest "$1" split "$rate" "$work/$1.changed.$rate" prof.reports=3 \
            split.weights=4,2,3,1
    done
}

if [ "${GUESTS:-yes}" = yes ]; then
    all_guests i386
    all_guests x86_64
fi
base=$work/x86_64.base.997
changed=$work/x86_64.changed.997

# ---- diff

# The rates in a ring, each against the next.
nothing_new()
{
    before=1021
    for rate in $RATES; do
        "$parasite" diff --json --confidence 99.9 "$work/$1.$2.$before" \
            "$work/$1.$2.$rate" >"$work/diff.json" || return 1
        python3 tests/views/check.py news "$work/diff.json" || return 1
        before=$rate
    done
}

# In truth leaf_b gets a tenth less and leaf_c a tenth more.
change_is_news()
{
    for rate in $RATES; do
        "$parasite" diff --json --confidence 99.9 "$work/$1.base.$rate" \
            "$work/$1.changed.$rate" >"$work/diff.json" || return 1
        python3 tests/views/check.py news "$work/diff.json" \
            leaf_b=-9.97 leaf_c=9.97 || return 1
    done
}

# Of two images, the widths: a leaf is the same by its name.
widths_match_by_name()
{
    "$parasite" diff "$work/i386.base.997" "$changed" >"$work/diff.txt" &&
        cat "$work/diff.txt" &&
        grep -q ' leaf_c$' "$work/diff.txt" &&
        grep -q ' leaf_b$' "$work/diff.txt" &&
        ! grep -q 'leaf_[ad]$' "$work/diff.txt"
}

# Totals of the functions above the leaves do not change.
total_is_another_table()
{
    "$parasite" diff --total --json "$base" "$changed" >"$work/diff.json" &&
        python3 tests/views/check.py news "$work/diff.json" \
            leaf_b=-9.97 leaf_c=9.97 &&
        "$parasite" diff --total --all "$base" "$changed" >"$work/diff.txt" &&
        grep -E '^ *9[0-9]\.[0-9]+% .*\(noise\) level_2$' "$work/diff.txt"
}

noise_is_grey()
{
    "$parasite" diff --all --color always "$base" "$changed" >"$work/diff.txt"
    cat "$work/diff.txt"
    escape=$(printf '\033')
    grep -q "^$escape\[31m.* leaf_c$escape\[m\$" "$work/diff.txt" &&
        grep -q "^$escape\[32m.* leaf_b$escape\[m\$" "$work/diff.txt" &&
        grep -q "^$escape\[90m.*(noise) leaf_a$escape\[m\$" "$work/diff.txt" &&
        "$parasite" diff --all "$base" "$changed" >"$work/diff.txt" &&
        ! grep -q "$escape" "$work/diff.txt"
}

growth_fails()
{
    ends_with 3 "$parasite" diff --fail-above 5 "$base" "$changed" \
        2>"$work/err" && grep -q 'leaf_c grew by [5-9]' "$work/err" &&
        ends_with 0 "$parasite" diff --fail-above 12 "$base" "$changed" &&
        ends_with 0 "$parasite" diff --fail-above 5 "$base" "$base" &&
        ends_with 0 "$parasite" diff "$base" "$changed"
}

few_samples_are_told()
{
    ends_with 0 "$parasite" diff --fail-above 1 --time 0,0.05 "$base" \
        "$changed" 2>"$work/err" && cat "$work/err" &&
        grep -q 'so few samples' "$work/err"
}

for width in i386 x86_64; do
    for service in split lua; do
        is "$width: $service, run again, is no news" nothing_new $width $service
    done
    is "$width: what changed is news, and nothing else" change_is_news $width
done
is 'images of two widths are matched by name' widths_match_by_name
is 'totals are another table' total_is_another_table
is 'growth is red, decline green, noise grey' noise_is_grey
is 'growth makes it fail, and only growth' growth_fails
is 'a profile too small to see it says so' few_samples_are_told
is 'one trace is bad usage' ends_with 2 "$parasite" diff "$base"
is 'three traces are bad usage' ends_with 2 "$parasite" diff "$base" \
    "$base" "$base"
is 'a confidence of 100 is bad usage' ends_with 2 "$parasite" diff \
    --confidence 100 "$base" "$base"
is 'no samples are bad data' ends_with 1 "$parasite" diff -I 'no such' \
    "$base" "$changed"
echo "1..$number"
