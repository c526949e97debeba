#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD: measures everything and prints one table, each row with its
# goal. The parts are independent scripts; each writes lines of JSON to
# BUILD/bench/PART.jsonl and its output to PART.log. BENCH='cost names' selects
# parts. All figures of a run are written to BUILD/bench/results.jsonl, and kept
# in BUILD/bench/kept for `make bench-diff`.
#
# Parts that count instructions run two at a time, because the machine's load
# does not affect them; those that measure time run alone, afterwards. Exit
# status 1 if a goal is missed, a row is missing or a part failed.
set -u

build=${1:?usage: run.sh BUILD}
counted='cost perf growth server demos'
timed='symbols lookup names host pages irc trace_host attach coz fleet'
parts=${BENCH:-$counted $timed}
out=$build/bench
mkdir -p "$out"

script()
{
    case $1 in
    perf | attach | coz) echo "bench/$1/run.sh" ;;
    *) echo "bench/$1.sh" ;;
    esac
}

# Old figures are deleted first: a part that fails must not show them.
one()
{
    began=$(date +%s)
    status=0
    rm -f "$out/$1.jsonl" "$out/$1.failed"
    timeout "${LIMIT:-1200}" "$(script "$1")" "$build" >"$out/$1.log" 2>&1 \
        </dev/null || status=$?
    printf '  BENCH   %-8s %4d s%s\n' "$1" $(($(date +%s) - began)) \
        "$([ $status -eq 0 ] || echo ", status $status, see $out/$1.log")" >&2
    [ "$status" -eq 0 ] || echo "$status" >"$out/$1.failed"
}

if [ $# -gt 1 ]; then
    one "$2"
    exit 0
fi

# chosen PART...: those of them that are selected
chosen()
{
    for part; do
        case " $parts " in
        *" $part "*) echo "$part" ;;
        esac
    done
}

for part in $parts; do
    case " $counted $timed " in
    *" $part "*) ;;
    *)
        echo "run.sh: BENCH: no part '$part' in: $counted $timed" >&2
        exit 2
        ;;
    esac
done
# shellcheck disable=SC2086,SC2046 # lists of words
{
    chosen $counted | xargs -r -P "${LANES:-2}" -n 1 "$0" "$build"
    chosen $timed | xargs -r -n 1 "$0" "$build"
    set -- $(chosen $counted $timed)
}

failed=0
python3 bench/gather.py "$out" "$@" || failed=1
python3 bench/table.py "$out/results.jsonl" || failed=1
for part; do
    [ ! -e "$out/$part.failed" ] || {
        echo "$part ended with status $(cat "$out/$part.failed");" \
            "see $out/$part.log"
        failed=1
    }
done
exit $failed
