#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Several tests at a time: LANES of them, 2 with FULL=1, or else 1. To be read
# by a shell that has read tests/tap.sh; it sets work, where files go.

: "${work:?}"
queued=0
rm -rf "$work/queue"
mkdir -p "$work/queue"

# queue WHAT COMMAND...: one test, as with is, but run_queue runs it; WORDS is
# what it is now
queue()
{
    queued=$((queued + 1))
    printf '%s\n' "${WORDS:-}" "$@" >"$work/queue/$queued.job"
}

# run_job NUMBER
run_job()
{
    set -- "$work/queue/$1"
    {
        IFS= read -r WORDS
        IFS= read -r what
        while IFS= read -r word; do
            set -- "$@" "$word"
        done
    } <"$1.job"
    job=$1
    shift
    echo "# $what" >&2
    "$@" >"$job.said" 2>&1 && : >"$job.fine"
}

# One lane: whatever no other lane has taken.
run_lane()
{
    for next in $(seq "$queued"); do
        if mkdir "$work/queue/$next.taken" 2>/dev/null; then
            run_job "$next"
        fi
    done
}

fared()
{
    cat "$work/queue/$1.said"
    [ -e "$work/queue/$1.fine" ]
}

# Runs all that is queued, and tells how each fared, in the order of queueing.
run_queue()
{
    lanes=${LANES:-$((${FULL:-0} == 1 ? 2 : 1))}
    for _ in $(seq "$lanes"); do
        run_lane &
    done
    wait
    for done in $(seq "$queued"); do
        is "$(sed -n 2p "$work/queue/$done.job")" fared "$done"
    done
}
