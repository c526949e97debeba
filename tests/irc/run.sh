#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The IRC server and its clients, on the host and booted at both widths:
# run.sh FOLDER-FOR-RESULTS. Needs the images and bombard built beside it.
# Prints TAP.

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
build=$(cd "$work/.." && pwd)
work=$build/$(basename "$work")
bombard=$build/host/bombard
cd "$here/../.." || exit 1
# shellcheck source=tests/tap.sh
. tests/tap.sh
# shellcheck source=tests/tap.sh
. tests/tap.sh
server=
for file in services/irc/*.cpp; do
    case $file in
    */main.cpp | */virtio_net.cpp) ;; # these need the kernel
    *) server="$server $file" ;;
    esac
done

# ---- on the host: the server's answers, and whatever clients may say

host_tests()
{
    for width in 32 64; do
        # shellcheck disable=SC2086 # a list of files
        g++ -m$width -std=gnu++17 -g -O1 -Wall -Wextra -fno-exceptions \
            -fsanitize=address,undefined -fno-sanitize-recover=all \
            -Ikernel/include -Wl,--wrap=malloc,--wrap=gettimeofday \
            -o "$work/server_test.$width" tests/irc/server_test.cpp \
            tests/irc/fake_net.cpp $server &&
            "$work/server_test.$width" || echo "not ok 0 - server at $width"
        gcc -m$width -Wall -Wextra -fsanitize=address,undefined \
            -fno-sanitize-recover=all -o "$work/latency_test.$width" \
            tests/irc/latency_test.c tools/bombard/latency.c -lm &&
            "$work/latency_test.$width" || echo "not ok 0 - latency at $width"
    done
}

fuzz()
{
    mkdir -p "$work/corpus" "$work/seeds"
    # each piece is who and what, how many bytes, and these
    printf '%b' '\0004\0026NICK a\nUSER u 0 * :A\n' \
        '\0044\0015JOIN #a,#b k\n\0000\0022MODE #a +kl-o k 3 b\n' \
        '\0000\0016PRIVMSG #a :x\n\0040\0014TOPIC #a :t\n' \
        '\0000\0012KICK #a b\n\0040\0010PART #a\n\0000\0005QUIT\n' \
        >"$work/seeds/talk"
    # shellcheck disable=SC2086 # a list of files
    clang++-14 -std=gnu++17 -g -O1 -fno-exceptions -Ikernel/include \
        -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
        -Wl,--wrap=gettimeofday -o "$work/irc_fuzz" tests/fuzz/irc_fuzz.cpp \
        tests/irc/fake_net.cpp $server >"$work/fuzz.log" 2>&1 &&
        "$work/irc_fuzz" -seed=1 -runs="${RUNS:-100000}" -max_len=4096 \
            -artifact_prefix="$work/" "$work/corpus" "$work/seeds" \
            >>"$work/fuzz.log" 2>&1
    result $? 'no client ends the server or leaves something behind' \
        "$work/fuzz.log"
}

# ---- bombard, against a server that stands still for a second

stall()
{
    rm -f "$work/port"
    python3 tests/irc/stalling_server.py "$work/port" 1 1 &
    stalling=$!
    tries=0
    until [ -s "$work/port" ] || [ "$tries" -gt 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    "$bombard" -q --json "$@" "127.0.0.1:$(cat "$work/port")" \
        >"$work/stall.json" 2>&1
    kill "$stalling"
    wait "$stalling" 2>/dev/null
}

# at WHICH PERCENTILE: milliseconds, without the fraction
at()
{
    sed -n "s/.*\"$1_ms\":{[^}]*\"$2\":\([0-9]*\).*/\1/p" "$work/stall.json"
}

bombard_tests()
{
    stall -r 200 -d 3
    [ "$(at corrected 90)" -ge 300 ] && [ "$(at corrected 100)" -ge 900 ]
    result $? 'an open load suffers a stall whenever it was due' \
        "$work/stall.json"
    stall -c 4 -d 3
    [ "$(at corrected 90)" -ge 300 ] &&
        [ "$(at served 90)" -lt "$(at corrected 90)" ]
    result $? 'a closed load is told what the stall kept away' \
        "$work/stall.json"
    "$bombard" 192.0.2.1:6667 >"$work/refused.log" 2>&1
    [ $? -eq 2 ] && grep -q 'is another machine' "$work/refused.log"
    result $? 'only this machine is bombarded' "$work/refused.log"
    "$bombard" -q -n 3 127.0.0.1:1 >"$work/refused.log" 2>&1
    [ $? -eq 1 ] && grep -q '3 to connect' "$work/refused.log"
    result $? 'sessions that fail are counted' "$work/refused.log"
}

# ---- booted

# Frames of the guest's that went out twice, by their addresses' number
twice()
{
    python3 tests/irc/twice.py "$1"
}

# Whether ringing for each frame is seen as the hypervisor's: by the guest's own
# table, and by the host from the same samples. The port that is rung at makes
# QEMU's device a legacy one, since a store to memory looks like any other.
in_the_hypervisor()
{
    awk '/VirtioNet::transmit/ && $2 == "%" { seen = $5 > 0 && 2 * $5 > $1 }
        END { exit !seen }' "$1" || return 1
    rm -rf "$2.trace"
    "$build/host/parasite" record -q -o "$2.trace" "file:$2" &&
        "$build/host/parasite" report --exits --json -k "$3" "$2.trace" |
        sed -n '/VirtioNet::transmit/ {
            s/.*"self":\([0-9]*\),.*"hypervisor":\([0-9]*\).*/\1 \2/p
        }' | tee -a "$1" |
        awk '{ seen = $2 > 0 && 2 * $2 > $1 } END { exit !seen }'
}

# ten_thousand WIDTH KICK CLOCK
ten_thousand()
{
    log=$work/$1.$2.log
    modern=-global\ virtio-net-pci.disable-modern=$(
        [ "$2" = batch ] && echo off || echo on)
    SESSIONS=10000 CLIENTS=16 ARCH=$1 ACCEL=tcg QUIET=1 LIMIT=300 \
        APPEND="net.kick=$2 clock=$3 irc.every=0 irc.warm=1 prof.every=0 \
prof.out=e9" QEMU_ARGS="$modern -debugcon file:$work/$1.packets \
-object filter-dump,id=f,netdev=load,file=$work/$1.pcap" \
        tools/bombard/under.sh "$bombard" tools/build/run.sh \
        "$build/$1/irc/irc.elf" </dev/null 2>&1 | tr -d '\r' >"$log"
    grep -q '^10000 sessions in .* 0 failed' "$log"
    result $? "$1, $2, $3: ten thousand come and go" "$log"
    grep -q '^irc: now 0 clients, 0 memberships, 0 channels' "$log" &&
        grep -qE '^net: now 0 connections, [0-9]+ closing, .* 0 buffers' "$log"
    result $? "$1, $2, $3: nothing of them is left" "$log"
    twice "$work/$1.pcap" >>"$log"
    result $? "$1, $2, $3: no frame goes out in another's place" "$log"
    grep -q 'VirtioNet::transmit(net_part const\*, unsigned int)' "$log" ||
        grep -q 'VirtioNet::flush()' "$log"
    result $? "$1, $2, $3: the table has C++ names" "$log"
    rm -f "$work/$1.pcap"
    [ "$2" = each ] || return 0
    in_the_hypervisor "$log" "$work/$1.packets" "$build/$1/irc/irc.elf"
    result $? "$1: ringing for each frame is the hypervisor's time" "$log"
}

# shellcheck source=/dev/null # checked by itself
. "$here/clients.sh"

host_tests
fuzz
bombard_tests
for width in i386 x86_64; do
    ten_thousand $width each cmos
    ten_thousand $width batch tsc
    real_clients $width
done
echo "1..$number"
