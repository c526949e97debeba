#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# timeline-docs.sh BUILD DOCS: draws the pictures of docs/timeline.md anew, of
# the demos that the tests (suite/async/x86_64) have recorded in BUILD. Those of
# the page, which are PNG, are screenshots.

set -eu
build=${1:?usage: timeline-docs.sh BUILD DOCS}
docs=${2:?usage: timeline-docs.sh BUILD DOCS}
traces=$build/async/x86_64
parasite=$build/host/parasite

# at DEMO EVENT: the time of the first event with that text, in seconds
at()
{
    "$parasite" script "$traces/$1.trace" 2>/dev/null | awk -v event="$2" '
        match($0, / [0-9]+\.[0-9]+ \[[0-9]+\] /) {
            time = substr($0, RSTART + 1) + 0
            if (index($0, event)) { printf "%.7f\n", time; exit }
        }'
}

# draws DEMO [WORD...]: its picture, with more options; to $name, by default
# that of the demo
name=
draws()
{
    demo=$1
    shift
    "$parasite" timeline -q --svg --title "make async DEMO=$demo" "$@" \
        -o "$docs/timeline/new.svg" "$traces/$demo.trace" 2>/dev/null
    sed '1a <!-- SPDX-License-Identifier: Apache-2.0 -->' \
        "$docs/timeline/new.svg" >"$docs/timeline/${name:-$demo}.svg"
    rm "$docs/timeline/new.svg"
}

# around DEMO EVENT BEFORE AFTER [NAME]: what is from BEFORE seconds before it
# on
around()
{
    time=$(at "$1" "$2")
    name=${5:-}
    draws "$1" --from "$(awk "BEGIN { print $time - $3 }")" \
        --to "$(awk "BEGIN { print $time + $4 }")"
    name=
}

for demo in sleep series join choose pick disk-fixed; do
    draws "$demo"
done
around catch 'fail:' 4e-6 6e-6
around udp 'create: task packet' 10e-6 80e-6
draws disk --from 0.06 --to 0.15
around disk-fixed 'resolve: disk request' 1.5e-6 3.5e-6 interrupt
