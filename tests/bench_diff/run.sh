#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: the bench's table and what compares two of them, on made-up
# figures: what is missing, missed or worse must be said, and files that cannot
# be used must be named. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
mkdir -p "$work"
work=$(cd "$work" && pwd)
cd "$here/../.." || exit 1
rm -rf "$work"/*.jsonl "$work/parts"
# shellcheck source=tests/tap.sh
. tests/tap.sh

# lines FILE TEXT...: FILE.jsonl, of these lines
lines()
{
    file=$work/$1.jsonl
    shift
    printf '%s\n' "$@" >"$file"
}

# figure NAME VALUE [REST]: one of width i386
figure()
{
    printf '{"width":"i386","name":"%s","value":%s%s}' "$1" "$2" "${3:-}"
}

# says STATUS PATTERN COMMAND...: how it ends, and what it says, as one line
says()
{
    code=$1
    wanted=$2
    shift 2
    ends_with "$code" "$@" >"$work/output" 2>&1 || {
        cat "$work/output"
        return 1
    }
    cat "$work/output"
    echo "wanted: $wanted"
    tr '\n' ' ' <"$work/output" | tr -s ' ' >"$work/line"
    ! grep -q Traceback "$work/line" && grep -qE -- "$wanted" "$work/line"
}

# differ STATUS PATTERN A B [OPTION]
differ()
{
    # shellcheck disable=SC2086 # an option or none
    says "$1" "$2" python3 bench/diff.py ${5:-} "$work/$3.jsonl" \
        "$work/$4.jsonl"
}

# ---- comparing: six figures, of which one at a time is another

less=',"goal":"<= 40","kind":"exact"'
more=',"goal":"more","kind":"exact"'
noisy=',"goal":">= 1","kind":"noisy","low":1.8,"high":2.2'
point=',"goal":"less","kind":"exact","x":64'

# version FILE SAMPLE RATIO TIMES WALK PLAIN [UNSPREAD]
version()
{
    lines "$1" "{\"head\":{\"commit\":\"$1\",\"qemu\":\"7\"}}" \
        "$(figure sample "$2" "$less")" "$(figure ratio "$3" "$more")" \
        "$4" "$(figure walk "$5" "$point")" "$(figure plain "$6")" \
        "$(figure unspread "${7:-50}" ',"goal":"less","kind":"noisy"')"
}

times=$(figure times 2 "$noisy")
version old 30 5 "$times" 900 1
is 'a file is the same as itself' \
    differ 0 'the same: 4 to the digit, 2 noisy' old old
version new 30.6 5 "$times" 900 1
is 'an exact figure that became 2 % worse is an error' \
    differ 3 ' worse i386 sample 30 30.6 \+2.00 %' old new
is 'and is none where 5 % are allowed' \
    differ 0 ' worse i386 sample 30 30.6' old new --worse=5
is 'the other way round it is better' \
    differ 0 ' better i386 sample 30.6 30 -1.96 %' new old
version new 30.01 5 "$times" 900 1
is 'a digit is seen, and allowed' \
    differ 0 ' worse i386 sample 30 30.01 \+0.03 %' old new
version new 30 4 "$times" 900 1
is 'where more is better, less is worse' \
    differ 3 ' worse i386 ratio 5 4 -20.00 %' old new
version new 30 5 "$times" 950 1
is 'a place on a curve became worse' \
    differ 3 ' worse i386 walk at 64 900 950' old new
version new 30 5 "$times" 900 2
is 'where no way is better it is a change' \
    differ 0 ' changed i386 plain 1 2 \+100.00 %' old new
version new 30 5 "$(figure times 1.7 "${noisy%low*}low\":1.5,\"high\":1.9")" \
    900 1
is 'noisy figures whose spreads meet are the same' \
    differ 0 'the same: 4 to the digit, 2 noisy' old new
version new 30 5 "$(figure times 1.7 "${noisy%low*}low\":1.6,\"high\":1.75")" \
    900 1
is 'noisy figures apart are told, but no error' \
    differ 0 ' worse i386 times 2 1.7 -15.00 % ~' old new
version new 30 5 "$times" 900 1 58
is 'without a spread, 10 % to either side' differ 0 '2 noisy' old new
is 'or as many as are asked for' \
    differ 0 ' worse i386 unspread' old new --noise=5
version new 30 5 "$times" 900 1
sed -i '/plain/d; s/"qemu":"7"/"qemu":"8"/' "$work/new.jsonl"
is 'what only one has, and another QEMU, are told' \
    differ 0 'another qemu: 7; 8 .*only in A i386 plain ' old new

# ---- files that cannot be used

lines broken "$(figure sample 30 "$less")" '{"width":"i386",'
is 'a broken line is named' \
    differ 1 'bench-diff: .*/broken.jsonl:2: not a line of JSON' old broken
lines words '"sample"'
is 'a line that is no figure is named' \
    differ 1 'words.jsonl:1: no figure' old words
lines nan "$(figure sample NaN)"
is 'a value that is no number is named' \
    differ 1 'nan.jsonl:1: sample: value is no number' old nan
lines goal "$(figure sample 1 ',"goal":"soon"')"
is 'a goal that is none is named' \
    differ 1 "goal.jsonl:1: 'soon' is no goal" old goal
lines twice "$(figure sample 1)" "$(figure sample 2)"
is 'a figure given twice is named' \
    differ 1 'twice.jsonl:2: sample: a second time' old twice
is 'a missing file is named' \
    differ 1 'none.jsonl: No such file' old none
sed 's/i386/x86_64/' "$work/old.jsonl" >"$work/wide.jsonl"
is 'two widths cannot be compared' \
    differ 1 'no figure in common: other widths' old wide
mkdir -p "$work/parts/kept"
is 'a folder must have kept two' \
    says 1 'two results are needed, and 0 kept' python3 bench/diff.py \
    "$work/parts/kept"

# ---- the table

printf '%s\n' '[one exact i386] instructions' 'sample | <= 40 | n | a sample' \
    'walk | less | n | a walk' '[two noisy i386] times ours' \
    'times | >= 1 | times | as fast' 'size exact | <= 8 | bytes | as large' \
    >"$work/rows"
export ROWS="$work/rows"

# table STATUS PATTERN PART...: of the parts in the folder
table()
{
    code=$1
    wanted=$2
    shift 2
    python3 bench/gather.py "$work/parts" "$@" &&
        says "$code" "$wanted" python3 bench/table.py \
            "$work/parts/results.jsonl"
}

lines parts/one "$(figure sample 34)" "$(figure walk 1900.5)" \
    "$(figure rest 1)"
lines parts/two "$(figure times 1.5)" "$(figure times_least 1.25)" \
    "$(figure times_most 1.75)" "$(figure size 8)"
reached='a sample 34 <= 40 reached a walk 1,9.* - '
reached="$reached.*as fast 1.50 1.25..1.75 >= 1 reached"
is 'all rows reached' \
    table 0 "$reached as large 8 exact <= 8 reached" one two
is 'the two ends of a spread become its own' grep -q \
    '"name": "times", "value": 1.5, "low": 1.25, "high": 1.75}' \
    "$work/parts/results.jsonl"
is 'the results are kept' says 0 'the same: 5 to' \
    python3 bench/diff.py "$work/parts/results.jsonl" \
    "$(echo "$work"/parts/kept/*)"
is 'a part that was not chosen is not shown' \
    table 0 'a walk 1,9[0-9]* - $' one
lines parts/one "$(figure sample 41)"
is 'a goal missed, and a row missing' \
    table 1 'a sample 41 <= 40 NOT REACHED a walk \? - MISSING' one
rm "$work/parts/two.jsonl"
is 'a part without figures is missing' \
    table 1 'as fast \? >= 1 MISSING as large' two
lines parts/two "$(figure times 2)" "$(figure size 8)" \
    "$(figure fit 2.5 ',"goal":"<= 2","words":"grows by","kind":"exact"')"
is 'a line may bring its own words and goal' \
    table 1 'grows by 2.50 exact <= 2 NOT REACHED' two
unset ROWS
is 'a part that does not exist is refused' \
    says 2 "no part 'cots' in: cost" env BENCH='names cots' bench/run.sh \
    "$work/parts"

# Every row of the real table, with nothing measured.
wide_rows()
{
    lines all "{\"head\":{\"parts\":[$(sed -n \
        's/^\[\([a-z]*\) .*/"\1"/p' bench/rows.txt | sort -u | paste -sd ,)]}}"
    says 1 MISSING python3 bench/table.py "$work/all.jsonl" || return 1
    same "$(grep -c MISSING "$work/output")" \
        "$(grep -c '^[^#].* | .* | .* | ' bench/rows.txt)" &&
        grep -v '^ended' "$work/output" | (! grep -E '^.{81}')
}
is 'all rows fit into 80 columns' wide_rows

echo "1..$number"
