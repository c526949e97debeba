#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# renew-docs.sh BUILD DOCS: puts what was measured completely in BUILD into the
# pages of the folder DOCS: `make bench` into measurements.md, `make growth`
# into growth.html, `make truth` into truth.svg and truth.md. Says
# which. `make docs` makes what docs/timeline.md shows.
# Status 1 where nothing was measured.

set -eu
build=${1:?usage: renew-docs.sh BUILD DOCS}
docs=${2:?usage: renew-docs.sh BUILD DOCS}
status=1

# says NAME yes|no: whether the pages have what `make NAME` has measured
says()
{
    if [ "$2" = yes ]; then
        echo "make $1: $docs has its figures"
        status=0
    else
        echo "make $1: not run, or not completely: $docs stays as it is"
    fi
}

# 1: a goal is missed; 2: parts are missing, and nothing was written
found=no
if [ -e "$build/bench/results.jsonl" ]; then
    goals=0
    python3 bench/table.py "$build/bench/results.jsonl" \
        "$docs/measurements.md" >/dev/null || goals=$?
    [ $goals -gt 1 ] || found=yes
fi
says bench $found

found=no
if [ -e "$build/bench/growth.html" ]; then
    cp "$build/bench/growth.html" "$docs/growth.html"
    found=yes
fi
says growth $found

found=no
if [ -e "$build/truth/judged/whole" ]; then
    # shellcheck disable=SC2046 # a list of words
    PYTHONPATH=tests python3 tests/truth/docs.py "$docs" \
        $(cat "$build/truth/judged/whole")
    found=yes
fi
says truth $found

exit $status
