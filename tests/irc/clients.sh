# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154 # work, build and bombard are run.sh's
#
# Real clients: irssi in a terminal that tmux makes, and ii, join a channel of
# the booted server, talk to each other, and quit. Read by run.sh.

# until_there SECONDS COMMAND...: tries COMMAND until it succeeds
until_there()
{
    tries=$(($1 * 5))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.2
    done
}

screen_has()
{
    tmux -L "$session" capture-pane -p -S -200 >"$work/screen"
    grep -q -e "$1" "$work/screen"
}

type_line()
{
    tmux -L "$session" send-keys -l "$1"
    tmux -L "$session" send-keys Enter
}

file_has()
{
    grep -q -e "$1" "$2" 2>/dev/null
}

# one conversation; the first thing that does not happen ends it
conversation()
{
    until_there 30 "$bombard" -q -n 1 --timeout 3 "$address:6667" \
        >/dev/null || return 1
    "$bombard" -q -n 1 --first 1 "$address:6667" >/dev/null
    tmux -L "$session" -f /dev/null new-session -d -x 100 -y 40 \
        "TERM=screen HOME=$home irssi --home=$home/irssi -c $address \
-p 6667 -n anna"
    until_there 20 screen_has 'End of MOTD' || return 2
    type_line '/join #room'
    until_there 20 screen_has 'Irssi: #room: Total of 1 nicks' || return 3
    ii -i "$home/ii" -s "$address" -p 6667 -n berta >"$work/ii.log" 2>&1 &
    until_there 20 test -p "$home/ii/$address/in" || return 4
    until_there 20 file_has 'You are being profiled' "$home/ii/$address/out" ||
        return 5
    echo '/j #room' >"$home/ii/$address/in"
    until_there 20 test -p "$home/ii/$address/#room/in" || return 6
    echo 'hello from ii' >"$home/ii/$address/#room/in"
    until_there 20 screen_has 'berta> hello from ii' || return 7
    type_line 'hello from irssi'
    until_there 20 file_has '<anna> hello from irssi' \
        "$home/ii/$address/#room/out" || return 8
    type_line '/topic all about ticks'
    until_there 20 file_has 'all about ticks' "$home/ii/$address/#room/out" ||
        return 9
    type_line '/names #room'
    until_there 20 screen_has 'Total of 2 nicks' || return 10
    type_line '/whois berta'
    type_line '/window 1'
    until_there 20 screen_has 'End of WHOIS' || return 11
    type_line '/window 2'
    echo '/l gone' >"$home/ii/$address/#room/in"
    until_there 20 screen_has 'berta .* has left #room' || return 12
    type_line '/quit good night'
}

# real_clients WIDTH
real_clients()
{
    session=parasite.$$.$1
    home=$work/home.$1
    address=127.$(($$ >> 16 & 255)).$(($$ >> 8 & 255)).$(($$ & 255))
    rm -rf "$home"
    mkdir -p "$home/irssi" "$home/ii"
    ARCH=$1 ACCEL=tcg QUIET=1 LIMIT=240 \
        APPEND='irc.every=0 irc.connections=4 prof.every=0' \
        QEMU_ARGS="-netdev user,id=n,hostfwd=tcp:$address:6667-:6667 \
-device virtio-net-pci,netdev=n" \
        tools/build/run.sh "$build/$1/irc/irc.elf" </dev/null \
        >"$work/clients.$1.log" 2>&1 &
    guest=$!
    conversation
    status=$?
    [ "$status" -eq 0 ] || {
        echo "the conversation stopped after step $status"
        cat "$work/screen"
    } >>"$work/clients.$1.log"
    result "$status" "$1: irssi and ii talk to each other" \
        "$work/clients.$1.log"
    [ ! -p "$home/ii/$address/in" ] || pkill -f "ii -i $home/ii"
    wait "$guest"
    result $? "$1: the server ends after its last client" \
        "$work/clients.$1.log"
    tmux -L "$session" kill-server 2>/dev/null
}
