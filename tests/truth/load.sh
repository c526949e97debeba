# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# Servers under the plugin, for run.sh to read after judged.sh: `irc` and `http`
# with clients that come once, and are recorded. QEMU writes down all that
# reaches the guest from outside, and at which instruction; played back, a run
# repeats to the instruction, and truth and profile must, too.
#
# Clients answer in real time, and while the guest waits for them its clock
# goes on like the wall's. With an instruction a nanosecond it would wait most
# of the time, and what it does for a handful of frames would be over before
# the next tick: but as frames come in where QEMU wakes for a tick, such work
# is hardly ever met. At 2^SHIFT ns an instruction the guest seldom waits, and
# a turn of its loop takes longer than a sampling period.
#
# Two of the ways from the guest to the device are not recorded by QEMU 7.2:
# event descriptors, and bottom halves. Hence ioeventfd=off and tx=timer.

: "${work:?}" "${build:?}" "${here:?}" "${parasite:?}"
SHIFT=6
SESSIONS=400
SERVED_MS=2500 # of the guest's clock
CLIENTS=48
DOORS=64 # ports: QEMU listens with a backlog of one, and who finds it full
         # comes again after a second
LIMIT=${LIMIT:-300}

# Lines "ADDRESS:PORT" for the clients, at an address of 127.0.0.0/8 that
# follows from the number of this process: where two run at a time they do not
# meet.
doors()
{
    process=$(sh -c 'echo $PPID')
    for port in $(seq 7000 $((6999 + DOORS))); do
        echo "127.$((process >> 16 & 127 | 128)).$((process >> 8 & 255)).$(
            )$((process & 255)):$port"
    done
}

# plugin: its words; results go to $one.*
plugin()
{
    traps=$(nm "$elf" | awk '$3 ~ /^trap_irq_[0-9]+$/ {
        printf "%s%s", between, $1; between = "+" }')
    printf '%s,map=%s,out=%s,ticks=%s,enter=%s,stop=%s,traps=%s,period=%s' \
        "$work/truth.so" "$one.map" "$one.json" "$one.ticks" \
        "$(address "$elf" prof_parasite)" "$(address "$elf" prof_stop)" \
        "$traps" "$((1000000000 / rate >> SHIFT))"
}

# machine MODE FORWARDS [QEMU'S ARGUMENTS]: the guest, to record it or to replay
# it. Ends well if it does.
machine()
{
    mode=$1
    forwards=$2
    shift 2
    code=0
    timeout "$LIMIT" "qemu-system-$width" -accel tcg \
        -icount "shift=$SHIFT,sleep=on,rr=$mode,rrfile=$one.events" \
        -rtc clock=vm -display none -no-reboot -monitor none -nic none -m 128 \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        -netdev "user,id=load$forwards" \
        -device virtio-net-pci,netdev=load,tx=timer,ioeventfd=off \
        -object filter-replay,id=frames,netdev=load \
        -serial "file:$one.console" -debugcon "file:$one.packets" \
        -plugin "$(plugin)" -kernel "$elf" \
        -append "prof.out=e9 prof.hz=$rate $words" "$@" </dev/null || code=$?
    echo "QEMU, to $mode, ended with $code"
    [ "$code" -eq 1 ]
}

# One comes first, since lwIP keeps a single frame for a peer whose address it
# is asking for, and repeats the others after three seconds. Then until the
# guest ends, which it does after SESSIONS: so none is left alone with it.
clients_of_irc()
{
    # shellcheck disable=SC2046 # a list of words
    set -- $(cat)
    "$build/host/bombard" -q -n 1 "$1"
    exec "$build/host/bombard" -q --first 1 -c "$CLIENTS" -d "$LIMIT" "$@"
}

# Until the guest ends: pages, a long file, and what is not there; half of the
# clients keep their connection, half come anew for each request.
clients_of_http()
{
    number=0
    visitors=
    read -r door
    curl -s -o "$one.page" -m 10 "http://$door/"
    while [ "$number" -lt "$CLIENTS" ] && read -r door; do
        number=$((number + 1))
        page=$(echo 'index.html book.txt page.html missing' |
            cut -d ' ' -f $((number % 4 + 1)))
        stay=$([ $((number / 4 % 2)) -eq 0 ] && echo close || echo keep-alive)
        wrk -t 1 -c 1 -d "$LIMIT" -H "Connection: $stay" \
            "http://$door/$page" &
        visitors="$visitors $!"
    done
    # shellcheck disable=SC2064,SC2086 # a list of numbers, as it is now
    trap "kill $visitors" TERM
    wait
}

# recorded SERVICE PORT [QEMU'S ARGUMENTS]: the guest with its clients; PORT is
# where it listens
recorded()
{
    served=$1
    doors >"$one.doors"
    forwards=$(sed "s/.*/,hostfwd=tcp:&-:$2/" "$one.doors" | tr -d '\n')
    shift 2
    rm -f "$one.console"
    {
        soon grep -qs '^net: address' "$one.console"
        "clients_of_$served"
    } <"$one.doors" >"$one.clients" 2>&1 &
    clients=$!
    status=0
    machine record "$forwards" "$@" || status=$?
    kill "$clients" 2>/dev/null
    wait "$clients"
    return "$status"
}

# Where the host has had no time for the clients, the guest has rested, and is
# recorded again; whatever else came out.
recorded_busy()
{
    for _ in 1 2 3; do
        recorded "$@" || return 1
        rm -rf "$one.trace"
        "$parasite" record -q -k "$elf" -o "$one.trace" "file:$one.packets" &&
            "$parasite" info "$one.trace" | tr -d , | awk '
                $1 == "samples" { all = $2 }
                $1 == "idle" { idle = $2 }
                END { print idle " of " all " samples are idle"
                      exit !(idle < all / 5) }' && return 0
    done
    echo 'three times the clients were too slow'
    return 1
}

OUTCOMES='json ticks packets console'

# Whether the run that is played back is, to the last byte, the one that was
# recorded: what the guest said, its profile, and the truth.
replayed()
{
    for outcome in $OUTCOMES; do
        mv "$one.$outcome" "$one.recorded.$outcome"
    done
    machine replay '' "$@" || return 1
    for outcome in $OUTCOMES; do
        cmp "$one.recorded.$outcome" "$one.$outcome" || return 1
    done
}

# ready NAME WIDTH SERVICE RATE WORDS: sets what is asked for above. Results
# will be $work/NAME.*; WORDS are more words for the image's command line.
ready()
{
    one=$work/$1
    width=$2
    elf=$(image "$2" "$3")
    rate=$4
    words=$5
    python3 "$here/symbols.py" "$elf" "$one.map"
}

# loaded NAME WIDTH SERVICE PORT RATE WORDS [QEMU'S ARGUMENTS]: like judged, of
# the run that is played back.
loaded()
{
    service=$3
    port_inside=$4
    ready "$1" "$2" "$3" "$5" "$6" || return 1
    shift 6
    recorded_busy "$service" "$port_inside" "$@" || return 1
    replayed "$@" || return 1
    rm -rf "$one.trace"
    "$parasite" record -q -k "$elf" -o "$one.trace" "file:$one.packets" ||
        return 1
    python3 "$here/compare.py" "$elf" "$one.json" "$one.ticks" \
        "$parasite" "$one.trace" >"$one.compared"
}

# site FILE: what http serves
site()
{
    mkdir -p "$work/site" &&
        echo 'a page of one line' >"$work/site/index.html" &&
        seq 2000 >"$work/site/page.html" && seq 30000 >"$work/site/book.txt" &&
        tar -C "$work/site" -cf "$1" index.html page.html book.txt
}

# irc_under_load WIDTH RATE; the same for http
irc_under_load()
{
    loaded "$1-irc-$2" "$1" irc 6667 "$2" "prof.reports=0 prof.every=0 \
irc.every=0 irc.connections=$SESSIONS"
}

http_under_load()
{
    site "$work/$1-http-$2.tar" &&
        loaded "$1-http-$2" "$1" http 80 "$2" "prof.reports=1 \
prof.every=$SERVED_MS" -initrd "$work/$1-http-$2.tar"
}
