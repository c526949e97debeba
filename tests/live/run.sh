#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: guests that run already, and are told what to do by `parasite
# record` and `parasite tell`: over the console, the second UART, a virtio
# console, and shared RAM with the console beside it. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
mkdir -p "$work"
work=$(cd "$work" && pwd)
build=$work/..
parasite=$build/host/parasite
trace=$work/x.trace
# shellcheck source=tests/tap.sh
. tests/tap.sh

# boot WIDTH APPEND ARGUMENTS...: a guest that never ends by itself
boot()
{
    width=$1
    append=$2
    shift 2
    rm -f "$work"/*.sock "$work/pid" "$work/ram"
    timeout 600 "qemu-system-$width" -accel tcg -display none -no-reboot \
        -monitor none -nic none -m 128 -pidfile "$work/pid" \
        -kernel "$build/$width/split/split.elf" \
        -append "prof.every=0 $append" "$@" </dev/null >"$work/qemu.out" 2>&1 &
    soon test -s "$work/pid" >/dev/null
}

# Nobody stays behind, whatever ends this script.
clean_up()
{
    [ ! -s "$work/pid" ] || kill "$(cat "$work/pid")" 2>/dev/null
}
trap clean_up EXIT
trap 'exit 1' INT TERM

halt()
{
    kill "$(cat "$work/pid")"
    wait
}

# free_port FROM: the first from there on at which nobody listens
free_port()
{
    port=$1
    while grep -q ":$(printf %04X "$port") 00000000:0000 0A" /proc/net/tcp; do
        port=$((port + 1))
    done
    echo "$port"
}

# line NAME: arguments that make a character device of a socket. A UART gives
# up bytes that are not taken at once, and a local socket is full after some
# 300 of them: on a busy machine TCP, which joins them, loses none.
line()
{
    case $1 in
    block) where=path=$work/block.sock ;;
    console) where=host=127.0.0.1,port=$console ;;
    stream) where=host=127.0.0.1,port=$stream ;;
    esac
    echo "-chardev socket,id=$1,$where,server=on,wait=off"
}

fact()
{
    "$parasite" info --json "$trace" |
        sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*\$/\1/p"
}

# near VALUE WANTED: within a twentieth, numbers with a fraction
near()
{
    echo "$1 should be near $2"
    awk -v is="$1" -v wanted="$2" \
        'BEGIN { exit !(is > wanted * 0.95 && is < wanted * 1.05) }'
}

# records TARGET WORDS...: at 400 Hz and 5 callers, and that is what comes
records()
{
    target=$1
    shift
    "$parasite" record -F 400 --depth 5 -d 3 -o "$trace" "$@" "$target" &&
        near "$(fact hz)" 400 && same "$(fact depth)" 5 &&
        [ "$(fact samples)" -gt 100 ] &&
        "$parasite" record -q -g -d 2 -o "$trace" "$@" "$target" &&
        same "$(fact depth)" 64
}

# Who comes late learns which image it is and knows the stacks: without asking
# for them they would come again some minutes later.
late_is_told()
{
    "$parasite" record -d 3 -o "$trace" "$@" || return 1
    same "$(fact build_id)" "$(readelf -n "$build/$width/split/split.elf" |
        sed -n 's/.*Build ID: //p')" || return 1
    unknown=$("$parasite" report -q --json "$trace" | sed -n \
        's/.*"symbol":"\[stack unknown\]","self":\([0-9]*\),.*/\1/p')
    echo "${unknown:-0} of $(fact samples) with an unknown stack"
    [ "${unknown:-0}" -lt $(($(fact samples) * 6 / 10)) ] &&
        "$parasite" report -q --time 2, "$trace" >"$work/report" &&
        grep -q ' leaf_a$' "$work/report" &&
        ! grep -q 'stack unknown' "$work/report"
}

# refused WHAT COMMAND...: ends with 1 and one line, in which WHAT stands
refused()
{
    words=$1
    shift
    ends_with 1 "$@" >"$work/refusal" 2>&1 || return 1
    sed '$d' "$work/refusal" >"$work/lines"
    cat "$work/lines"
    same "$(grep -c '' "$work/lines")" 1 && grep -qF "$words" "$work/lines"
}

error_is_told()
{
    target=$1
    shift
    refused 'error: "fly": not a command' \
        "$parasite" record -q --send fly -d 5 -o "$trace" "$@" "$target"
}

# answers CONTROL: each command in turn, and what they come to
answers()
{
    "$parasite" tell "$1" rate 99 'depth 3' stop start stacks off stacks on \
        reset report | grep '^ok' >"$work/answers" || return 1
    cat "$work/answers"
    printf '%s\n' 'ok rate 99 at 99.998 Hz' 'ok depth 3' 'ok stop' \
        'ok start at 99.998 Hz' 'ok stacks off' 'ok stacks on' 'ok reset' \
        'ok report' | diff "$work/answers" -
}

# commands WAY CONTROL TARGET WORDS...: the whole conversation
commands()
{
    by="$width by $1:"
    control=$2
    target=$3
    shift 3
    is "$by each command is answered" soon answers "$control"
    is "$by rate and depth are set before recording" \
        records "$target" "$@"
    is "$by a command that the guest refuses ends with 1" \
        error_is_told "$target" "$@"
    is "$by tell ends with 1 where one is refused" refused '1 to 10000' \
        "$parasite" tell "$control" rate 0
}

# What a console prints for a report is shown; a stream's line has no text.
report_is_shown()
{
    "$parasite" tell "$1" report >"$work/report" || return 1
    cat "$work/report"
    grep -q 'leaf_a' "$work/report" && grep -q '^ok report$' "$work/report"
}

# answers_with BYTES: listens at $work/torn.sock, and answers once so
answers_with()
{
    python3 - "$work/torn.sock" "$1" <<'PYTHON'
import socket
import sys

server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
guest, _ = server.accept()
guest.recv(100)
guest.sendall(sys.argv[2].encode("latin-1").decode("unicode_escape")
              .encode("latin-1") + b"\n#prof! ok report\n")
guest.recv(100)
PYTHON
}

# Who begins to listen in the middle of a packet sees bytes that are no text;
# a line of the console's that is stays one.
torn_packet_is_no_text()
{
    rm -f "$work/torn.sock"
    answers_with "$1" &
    soon test -S "$work/torn.sock" >/dev/null
    "$parasite" tell "unix:$work/torn.sock" report >"$work/torn"
    wait $!
    cat "$work/torn"
    printf '%bok report\n' "$2" | cmp - "$work/torn"
}

silence_is_told()
{
    refused 'was not answered in 1 s' "$parasite" tell -w 1 "$1" stop
}

# a pseudo terminal, whose name QEMU says
terminal()
{
    sed -n 's/.*redirected to \(\/dev\/[^ ]*\).*/\1/p' "$work/qemu.out"
}

end_is_told()
{
    (sleep 2 && kill "$(cat "$work/pid")") &
    refused "before 'rate 1000' was answered" "$parasite" record -q --control \
        "tcp:127.0.0.1:$console" -F 1000 -d 9 -o "$trace" \
        "tcp:127.0.0.1:$stream"
}

console=$(free_port $((20000 + $$ % 10000)))
stream=$(free_port $((console + 1)))
for width in i386 x86_64; do
    # shellcheck disable=SC2046 # words
    {
        boot "$width" prof.out=serial $(line console) -serial chardev:console
        commands console "tcp:127.0.0.1:$console" "tcp:127.0.0.1:$console"
        is "$width: a report is shown" report_is_shown \
            "tcp:127.0.0.1:$console"
        halt
        boot "$width" prof.out=uart2 $(line console) -serial chardev:console \
            $(line stream) -serial chardev:stream
        commands uart2 "tcp:127.0.0.1:$stream" "tcp:127.0.0.1:$stream"
        is "$width: a line that nobody listens to is told" silence_is_told \
            "tcp:127.0.0.1:$console"
        is "$width: a guest that ends unanswered is told" end_is_told
        wait
        boot "$width" prof.out=virtio -serial null $(line block) \
            -device virtio-serial-pci -device virtconsole,chardev=block
        commands virtio "unix:$work/block.sock" "unix:$work/block.sock"
        halt
        boot "$width" prof.out=virtio -serial null $(line block) \
            -device virtio-serial-pci -device virtconsole,chardev=block
        sleep 3
        is "$width: who listens late is told" late_is_told \
            -k "$build/$width/split/split.elf" "unix:$work/block.sock"
        halt
        boot "$width" prof.out=shm $(line console) -serial chardev:console \
            -machine memory-backend=ram -object \
            "memory-backend-file,id=ram,size=128M,share=on,mem-path=$work/ram"
        commands shm "tcp:127.0.0.1:$console" "shm:$work/ram" \
            -k "$build/$width/split/split.elf" \
            --control "tcp:127.0.0.1:$console"
        is "$width: shared RAM alone takes no commands, which is told" \
            ends_with 2 "$parasite" record -F 99 -o "$trace" \
            -k "$build/$width/split/split.elf" "shm:$work/ram"
        halt
        boot "$width" prof.out=serial -serial pty
        commands terminal "$(terminal)" "$(terminal)"
        halt
    }
done
is 'half a packet is not shown as text' \
    torn_packet_is_no_text 'gB\x9az \xe1\n\xff\xff\n' ''
is 'a line with more than ASCII is' torn_packet_is_no_text \
    'a \xc3\xa9 b\n' 'a \0303\0251 b\n'
is 'a file takes no commands' ends_with 2 "$parasite" tell "$work/said" stop
is 'no command is bad usage' ends_with 2 "$parasite" tell unix:nowhere
is 'nobody there is bad data' ends_with 1 "$parasite" tell \
    "unix:$work/none.sock" stop
echo "1..$number"
