#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# irc_counted.sh BUILD WIDTH: what a sample of the IRC server costs, in
# instructions, all of it: the interrupt, the drain and the stream. Counted by
# the plugin that profiles are held against (tests/truth), under the load that
# is recorded there. Prints lines "NAME VALUE".
set -eu

build=${1:?usage: irc_counted.sh BUILD WIDTH}
width=${2:?usage: irc_counted.sh BUILD WIDTH}
work=$build/bench/counted
# shellcheck disable=SC2034 # load.sh asks for it
here=tests/truth
parasite=$build/host/parasite
mkdir -p "$work"
# shellcheck source=tests/tap.sh
. tests/tap.sh
# shellcheck source=/dev/null # checked by itself
. tests/truth/judged.sh
# shellcheck source=/dev/null # checked by itself
. tests/truth/load.sh

gcc -std=gnu11 -O2 -fPIC -shared -o "$work/truth.so" tests/truth/*.c
# Many samples, so that stacks which are new are as few as in a server that has
# run for some time: ten thousand or so.
SESSIONS=${COUNTED_SESSIONS:-1500}
ready "$width-irc" "$width" irc 997 "prof.reports=0 prof.every=0 irc.every=0 \
irc.connections=$SESSIONS"
: "${one:?}" "${elf:?}"
recorded_busy irc 6667 >"$work/said" || {
    cat "$work/said" >&2
    exit 1
}
python3 bench/irc_counted.py "$elf" "$one.json" "$parasite" "$one.trace"
