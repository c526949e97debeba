#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# under.sh LOADGEN COMMAND...: runs COMMAND, which boots the IRC server in QEMU
# by what QEMU_ARGS and APPEND say, as tools/build/run.py does; puts load on the
# server meanwhile; and ends with COMMAND's exit code, once LOADGEN's figures
# are printed. After the last session LOADGEN ends the server, as an operator:
# no count of the server's could say which session was the last, since those
# that only try whether it is up may be given up at any moment.
#
#   SESSIONS  how many sessions (5000)
#   CLIENTS   how many at a time (8), or
#   RATE      how many a second, come what may
#   FORWARD   more ports for QEMU's user network: ,hostfwd=...
#   FIGURES   a file that gets LOADGEN's figures as JSON
#   ENDS      not empty: the server ends by itself, and the load with it; there
#             are no figures
#
# QEMU's user network listens with a backlog of one, so that clients who come
# at once would wait for a second: there are as many ports as clients. They are
# on an address of 127.0.0.0/8 that follows from this shell's number, so that
# two of these do not meet. For the guest all clients have one address, which
# may therefore have as many connections as there are.
set -eu

loadgen=$1
shift
sessions=${SESSIONS:-5000}
clients=${CLIENTS:-8}
ports=$clients
[ "$ports" -le 32 ] || ports=32
address=127.$(($$ >> 16 & 255)).$(($$ >> 8 & 255)).$(($$ & 255))
forwards=
servers=
port=6667
while [ "$port" -lt $((6667 + ports)) ]; do
    forwards=$forwards,hostfwd=tcp:$address:$port-:6667
    servers="$servers $address:$port"
    port=$((port + 1))
done

password=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
figures=$(mktemp)
pid=$(mktemp)
trap 'rm -f "$figures" "$pid"' EXIT

# Whether COMMAND runs, or has not begun yet.
running()
{
    [ ! -s "$pid" ] || kill -0 "$(cat "$pid")" 2>/dev/null
}

# One session shows that the server is up; then comes the load. Without it
# COMMAND is ended, since nothing else would do it.
load()
{
    tries=0
    until "$loadgen" -q -n 1 --first "$tries" --timeout 5 "$address:6667" \
        >/dev/null 2>&1; do
        tries=$((tries + 1))
        running || exit 1
        if [ "$tries" -ge 300 ]; then
            echo 'under.sh: the server does not answer' >&2
            kill "$(cat "$pid")"
            exit 1
        fi
        sleep 0.2
    done
    set -- --first "$((tries + 1))" -n "$sessions" --end "$password"
    if [ -n "${RATE:-}" ]; then
        set -- "$@" -r "$RATE"
    else
        set -- "$@" -c "$clients"
    fi
    [ -z "${FIGURES:-}" ] || set -- "$@" --json
    # shellcheck disable=SC2086 # a list of words
    "$loadgen" -q "$@" $servers >"$figures" &
    trap 'kill "$!" 2>/dev/null; exit' TERM
    wait "$!" || {
        failed=$?
        [ "$failed" -ne 3 ] || kill "$(cat "$pid")" # the server did not end
        return "$failed"
    }
}

load &
load=$!
status=0
# shellcheck disable=SC2016 # for the inner shell
APPEND="${APPEND:-} irc.oper=$password net.per_address=2048" \
    QEMU_ARGS="${QEMU_ARGS:-} -netdev user,id=load$forwards${FORWARD:-} \
-device virtio-net-pci,netdev=load" \
    sh -c 'echo $$ >"$0"; exec "$@"' "$pid" "$@" || status=$?
if [ -n "${ENDS:-}" ]; then
    kill "$load" 2>/dev/null || :
    exit "$status"
fi
wait "$load" || [ "$status" -ne 0 ] || status=$?
if [ -n "${FIGURES:-}" ]; then
    cat "$figures" >"$FIGURES"
else
    cat "$figures"
fi
exit "$status"
