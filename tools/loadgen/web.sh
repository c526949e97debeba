#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# web.sh URL COMMAND...: runs COMMAND, which boots the web server, and has wrk
# ask it for URL from its first answer until COMMAND ends; ends with COMMAND's
# exit code. What wrk has counted is printed.
#
#   CLIENTS  how many connections (8)
set -eu

url=$1
shift
load=

# Five seconds at a time, each with its figures.
load()
{
    trap 'kill "$!" 2>/dev/null; exit' TERM
    until curl -sf -m 5 -o /dev/null "$url"; do
        sleep 0.2
    done
    while :; do
        wrk -t 1 -c "${CLIENTS:-8}" -d 5 --timeout 600s "$url" &
        wait "$!" || sleep 1
    done
}

trap 'kill "$load" 2>/dev/null || :' EXIT
trap 'exit 130' INT TERM HUP
load &
load=$!
status=0
"$@" || status=$?
exit "$status"
