#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: guests on QEMU's user network, talked to from this machine
# over forwarded ports of the loopback; then over a bad wire (wire.c), then
# through floods. Both widths. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
build=$work/..
number=0
machine=
wire=
port_7='' port_13='' port_19='' port_21='' port_22='' port_23='' port_80=''

cd "$here/../.." || exit 1
mkdir -p "$work"
work=$(cd "$work" && pwd)
build=$(cd "$build" && pwd)
secret=0123456789abcdef

talk()
{
    timeout 300 python3 tests/net/talk.py "$@"
}

# test_that WHAT COMMAND...: what the command says is shown where it fails
test_that()
{
    number=$((number + 1))
    what="$width: $1"
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "ok $number - $what"
    else
        tail -n 20 "$work/said" | cut -c 1-200 | sed 's/^/# /'
        tail -n 5 "$work/$width.log" | sed 's/^/# guest: /'
        echo "not ok $number - $what"
    fi
}

# start IMAGE APPEND ARGUMENTS...: a guest in the background
start()
{
    image=$1
    append=$2
    shift 2
    timeout 900 "qemu-system-$width" -accel tcg -display none -no-reboot \
        -monitor none -m 128 -serial stdio \
        -device isa-debug-exit,iobase=0xf4,iosize=4 \
        -kernel "$build/$width/$image.elf" -append "$append" "$@" \
        </dev/null >"$work/$width.log" 2>&1 &
    machine=$!
}

stop()
{
    [ -z "$machine" ] || kill "$machine" 2>/dev/null
    wait "$machine" 2>/dev/null
    machine=
}

trap 'stop; [ -z "$wire" ] || kill "$wire"' EXIT

# forward GUEST-PORT...: "hostfwd=..." for each, and $port_N is where it is
forward()
{
    forwards=
    for guest in "$@"; do
        eval "port_$guest=\$(talk free_port)"
        eval "forwards=\$forwards,hostfwd=tcp:127.0.0.1:\$port_$guest-:$guest"
    done
}

status()
{
    curl -s -o "$work/body" -w '%{http_code}' -m 60 "$@"
}

# refuses STATUS CURL'S ARGUMENTS...
refuses()
{
    wanted=$1
    shift
    got=$(status "$@")
    [ "$got" = "$wanted" ] || {
        echo "$got instead of $wanted"
        return 1
    }
}

# answers TEXT BYTES: the first line of what comes back for raw bytes
answers()
{
    talk raw "$port_80" "$2" >"$work/raw" || return 1
    head -n 1 "$work/raw" | tr -d '\r' | tee -a "$work/said"
    head -n 1 "$work/raw" | grep -q "^HTTP/1.1 $1 "
}

# ---- the web server

same_file()
{
    curl -s -m 60 "$url/big" | cmp - "$work/site/big"
}

slow_file()
{
    curl -s -m 60 --limit-rate 200k "$url/big" | cmp - "$work/site/big"
}

one_connection()
{
    curl -s -m 60 -o /dev/null -o /dev/null -w '%{num_connects}\n' \
        "$url/index.html" "$url/index.html" | tr '\n' ' ' | grep -qx '1 0 '
}

wrk_is_fine()
{
    wrk -t 2 -c 50 -d 3 "$url/index.html" >"$work/wrk" 2>&1
    cat "$work/wrk"
    grep -q 'requests in' "$work/wrk" &&
        ! grep -q -e 'Socket errors' -e 'Non-2xx' "$work/wrk"
}

metrics_are_right()
{
    curl -s -m 60 -H "Authorization: Bearer $secret" "$url/metrics" \
        >"$work/metrics"
    cat "$work/metrics"
    grep -q '^parasite_samples_total [1-9]' "$work/metrics" &&
        grep -q '^parasite_function_seconds_total{function="' "$work/metrics" &&
        "$work/promtool" check metrics <"$work/metrics"
}

# the samples of two seconds at 500 Hz, where a busy machine may miss some
folded_is_right()
{
    curl -s -m 60 "$url/profile?seconds=2&hz=500&token=$secret" >"$work/folded"
    cat "$work/folded"
    awk '!/^[^ ].* [0-9]+$/ { bad++ } { sum += $NF }
        END { print sum; exit bad || sum < 300 || sum > 1100 }' "$work/folded"
}

trace_is_right()
{
    rm -rf "$work/http.trace"
    curl -s -m 60 -o "$work/trace" \
        "$url/profile?seconds=2&hz=500&format=trace&token=$secret"
    "$build/host/parasite" record -q -k "$build/$width/http/http.elf" \
        -o "$work/http.trace" "file:$work/trace" &&
        "$build/host/parasite" info --json "$work/http.trace" |
        tee "$work/info" &&
        awk '/"samples":/ { found = $2 + 0 } END { exit found <= 300 }' \
            "$work/info"
}

# the second who asks is told so; the first has gone away; then it is free
one_at_a_time()
{
    curl -s -m 60 "$url/profile?seconds=60&token=$secret" >/dev/null &
    first=$!
    sleep 1
    refuses 409 "$url/profile?seconds=1&token=$secret"
    second=$?
    kill $first
    wait $first 2>/dev/null
    [ $second -eq 0 ] || return 1
    sleep 1
    refuses 200 "$url/profile?seconds=1&token=$secret"
}

http_with_token()
{
    forward 80
    url=http://127.0.0.1:$port_80
    start http/http "prof.every=0 http.token=$secret" -initrd "$work/site.tar" \
        -netdev "user,id=n$forwards" \
        -device virtio-net-pci,netdev=n,disable-legacy=on
    test_that 'curl gets a file' refuses 200 --retry 30 --retry-delay 1 \
        --retry-all-errors "$url/index.html"
    test_that 'which is the one that was given' cmp "$work/body" \
        "$work/site/index.html"
    test_that 'a large file arrives whole' same_file
    test_that 'a reader may be slow' slow_file
    test_that 'two requests share a connection' one_connection
    test_that 'what is not there is not found' refuses 404 "$url/none"
    test_that 'HEAD has no body' refuses 200 -I "$url/big"
    test_that 'POST is not allowed' refuses 405 -d x "$url/"
    test_that 'a long request line is refused' \
        refuses 414 "$url/$(head -c 10000 /dev/zero | tr '\0' a)"
    test_that 'a NUL is refused' answers 400 'GET /\x00 HTTP/1.1\r\n\r\n'
    test_that 'a request without Host is refused' \
        answers 400 'GET / HTTP/1.1\r\n\r\n'
    test_that 'HTTP/1.0 is answered' answers 200 'GET / HTTP/1.0\r\n\r\n'
    test_that 'a thousand requests at once are answered' \
        talk pipelined "$port_80" 1000
    test_that 'wrk has no complaints' wrk_is_fine
    test_that 'without the token nothing is said' refuses 401 "$url/metrics"
    test_that 'nor with a wrong one' refuses 403 "$url/metrics?token=$secret-"
    test_that 'nor is a profile taken' refuses 403 \
        -H 'Authorization: Bearer 0' "$url/profile"
    test_that 'metrics are as Prometheus wants them' metrics_are_right
    test_that 'a folded profile is taken' folded_is_right
    test_that 'a trace is taken' trace_is_right
    test_that 'a rate beyond bounds is refused' refuses 400 \
        "$url/profile?hz=0&token=$secret"
    test_that 'one profile is taken at a time' one_at_a_time
    stop
}

http_without_token()
{
    forward 80
    url=http://127.0.0.1:$port_80
    start http/http "prof.every=0" -netdev "user,id=n$forwards" \
        -device virtio-net-pci,netdev=n
    test_that 'without a token set, there is a list' refuses 200 --retry 30 \
        --retry-delay 1 --retry-all-errors "$url/"
    test_that 'and no metrics' refuses 404 "$url/metrics?token="
    test_that 'and no profile' refuses 404 "$url/profile?token="
    stop
}

# ---- connections

# kicks for each frame sent, of a thousand, while lines are read
kicks_a_thousand()
{
    sent=$(talk field "$port_13" frames_out)
    kicks=$(talk field "$port_13" kicks)
    talk slow "$port_19" 2000000 >/dev/null || return 1
    sent=$(($(talk field "$port_13" frames_out) - sent))
    kicks=$(($(talk field "$port_13" kicks) - kicks))
    echo $((1000 * kicks / sent))
}

connections()
{
    forward 7 13 19 21 22 23
    start test/net_peer/net_peer "prof.start=off prof.every=0 net.kick=each" \
        -netdev "user,id=n$forwards" \
        -device virtio-net-pci,netdev=n,disable-modern=on
    test_that 'a guest answers' talk ready "$port_23"
    test_that 'an echo is what was said' talk echo "$port_7" 20 100000
    test_that 'who does not read is not read' talk deaf "$port_7" 8000000
    test_that 'bytes without end have no gaps' talk slow "$port_19" 1000000
    test_that 'a connection may be reset' talk reset "$port_21"
    test_that 'or refused' talk reset "$port_22"
    test_that 'last words arrive' talk farewell "$port_23"
    test_that '300 connections at a time' talk crowd "$port_7" "$port_13" 300
    test_that '10,000 connections leave nothing behind' \
        talk many "$port_7" "$port_23" "$port_13" 10000
    each=$(kicks_a_thousand)
    stop
    start test/net_peer/net_peer "prof.start=off prof.every=0 net.kick=batch" \
        -netdev "user,id=n$forwards" \
        -device virtio-net-pci,netdev=n,disable-modern=on
    test_that 'another answers' talk ready "$port_23"
    batch=$(kicks_a_thousand)
    test_that "a batch needs fewer kicks: $batch, not $each of 1000 frames" \
        [ "$batch" -lt "$each" ]
    stop
}

# ---- a device that makes checksums: a tap device, where one may be made

tap_name=parasite0

make_tap()
{
    ip tuntap add dev $tap_name mode tap &&
        ip addr add 198.51.100.1/24 dev $tap_name &&
        ip link set $tap_name up
}

skip()
{
    for what in "$@"; do
        number=$((number + 1))
        echo "ok $number - $width: $what # SKIP no tap device can be made"
    done
}

by_tap()
{
    HOST=198.51.100.2 talk "$@"
}

offloaded()
{
    [ "$(by_tap field 13 offload)" = 1 ]
}

checksums()
{
    what='the device makes checksums'
    set -- 'a guest answers' "$what" 'an echo is what was said' \
        'and so are many lines'
    make_tap >"$work/said" 2>&1 || {
        ip link del $tap_name 2>/dev/null
        skip "$@"
        return
    }
    start test/net_peer/net_peer \
        "prof.start=off prof.every=0 net.ip=198.51.100.2/24" \
        -netdev "tap,id=n,ifname=$tap_name,script=no,downscript=no" \
        -device virtio-net-pci,netdev=n
    test_that "$1" by_tap ready 23
    test_that "$2" offloaded
    test_that "$3" by_tap echo 7 10 100000
    test_that "$4" by_tap slow 19 1000000
    stop
    ip link del $tap_name
}

# ---- a bad wire

order()
{
    echo "$*" >&3
}

start_wired()
{
    rm -f "$work/orders"
    mkfifo "$work/orders"
    "$work/wire" "$work" <"$work/orders" >"$work/wire.log" 2>&1 &
    wire=$!
    exec 3>"$work/orders"
    forward 7 13 19 23
    start test/net_peer/net_peer \
        "prof.start=off prof.every=0 net.ip=10.0.2.15/24,10.0.2.2" \
        -netdev "user,id=u$forwards" \
        -netdev "$(datagrams h host)" -netdev "$(datagrams n guest)" \
        -netdev hubport,id=a,hubid=1,netdev=u \
        -netdev hubport,id=b,hubid=1,netdev=h \
        -device virtio-net-pci,netdev=n
}

datagrams()
{
    printf 'dgram,id=%s,local.type=unix,local.path=%s,' "$1" "$work/$2.qemu"
    printf 'remote.type=unix,remote.path=%s' "$work/$2.wire"
}

stop_wired()
{
    stop
    exec 3>&-
    wait "$wire"
    wire=
}

said_by_wire()
{
    order say
    sleep 1
    tail -n 1 "$work/wire.log"
}

# under (1), a number of the wire's last line must be above 0
wire_did()
{
    said_by_wire | tee "$work/sums" | grep -q "$1 [1-9]"
}

damage_was_seen()
{
    [ "$(talk field "$port_13" damaged_in)" -gt 0 ]
}

# remembers what the guest holds, and compares with it
as_before()
{
    talk settled "$port_13" "$work/before"
}

bad_wire()
{
    start_wired
    test_that 'a guest answers through the wire' talk ready "$port_23"
    talk remember "$port_13" "$work/before"
    order bad 30 30 20 30
    test_that 'over a bad wire, echoes are what was said' \
        talk echo "$port_7" 5 30000
    test_that 'and bytes without end have no gaps' talk slow "$port_19" 100000
    order bad 80 0 0 0
    test_that 'over a very bad one, too, though it takes its time' \
        talk echo "$port_7" 1 30000
    order bad 0 0 0 0
    test_that 'frames were lost' wire_did lost
    test_that 'came twice' wire_did twice
    test_that 'were damaged' wire_did damaged
    test_that 'came late' wire_did late
    test_that 'and the guest has seen damage' damage_was_seen
    test_that 'nothing of it is left behind' as_before
    order noise 5000
    test_that 'after 5,000 frames of noise it answers' \
        talk echo "$port_7" 5 10000
    test_that 'and nothing is left behind' as_before
    order flood 5000 7
    test_that 'other ports answer through a flood' talk ready "$port_23"
    test_that 'the flooded one comes back by itself' talk again "$port_7"
    test_that 'the flood was answered' wire_did answers
    test_that 'and nothing of it is left behind' as_before
    stop_wired
}

# ---- what is needed, then both widths

make_tools()
{
    gcc -std=gnu11 -Wall -Wextra -Werror -O1 -g -fsanitize=address,undefined \
        -o "$work/wire" tests/net/wire.c || exit 1
    mkdir -p "$work/site"
    echo '<!doctype html><title>site</title>' >"$work/site/index.html"
    head -c 1000000 /dev/urandom >"$work/site/big"
    tar -C "$work/site" -cf "$work/site.tar" .
    [ -x "$work/promtool" ] || tests/net/promtool.sh "$work/promtool"
}

echo 1..112
make_tools
for width in i386 x86_64; do
    http_with_token
    http_without_token
    connections
    checksums
    bad_wire
done
