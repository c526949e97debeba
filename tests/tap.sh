#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What scripts that test the command have in common; to be read with ".". They
# set $work, a folder to write to.

: "${work:?}"
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
        tail -n 25 "$work/said" | cut -c 1-200 | sed 's/^/# /'
    fi
}

# result STATUS WHAT [LOG]: one test that has been done; its log's end is shown
# where it failed
result()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        [ -z "${3:-}" ] || tail -n 25 "$3" | cut -c 1-200 | sed 's/^/# /'
    fi
}

# ends_with CODE COMMAND...
ends_with()
{
    wanted=$1
    shift
    code=0
    "$@" || code=$?
    echo "ended with $code, should with $wanted: $*"
    [ "$code" -eq "$wanted" ]
}

same()
{
    echo "'$1' and '$2' should be the same"
    [ "$1" = "$2" ]
}

# soon COMMAND...: until it works, for 15 s at most
soon()
{
    for _ in $(seq 75); do
        "$@" && return 0
        sleep 0.2
    done
    echo "did not happen in 15 s: $*"
    return 1
}
