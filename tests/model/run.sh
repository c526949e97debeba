#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks each model in every interleaving, and that each deliberately broken
# variant of it is found out: run.sh FOLDER-FOR-BUILDS. Prints TAP.

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
number=0
failed=0

# check MODEL VARIANT EXPECTED: EXPECTED is 0 (no errors) or 1 (some).
check() {
    number=$((number + 1))
    folder=$work/$1$2
    mkdir -p "$folder"
    what="$1${2:+ with $2}: "
    if [ "$3" = 0 ]; then
        what="${what}nothing is lost, torn or duplicated in any interleaving"
    else
        what="${what}the fault is found"
    fi
    if (cd "$folder" && spin ${2:+-D"$2"} -a "$here/$1.pml" &&
        gcc -O2 -w -DSAFETY -o pan pan.c && ./pan -m1000000) \
        >"$folder/log" 2>&1 &&
        grep -q 'errors: ' "$folder/log" &&
        ! grep -q 'search depth too small' "$folder/log" &&
        errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' "$folder/log") &&
        { [ "$3" = 0 ] && [ "$errors" = 0 ] ||
            { [ "$3" = 1 ] && [ "$errors" != 0 ]; }; }; then
        echo "ok $number - $what"
    else
        echo "not ok $number - $what"
        sed 's/^/# /' "$folder/log" | tail -n 20
        failed=1
    fi
}

check ring '' 0
check ring BROKEN_A 1
check ring BROKEN_B 1
check frames '' 0
check frames BROKEN_A 1
check frames BROKEN_B 1
check frames BROKEN_ROOM 1
check drain '' 0
check drain BROKEN_TAKE 1
check drain BROKEN_MASK 1
echo "1..$number"
exit $failed
