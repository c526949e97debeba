#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: the command parasite (FOLDER/../host/parasite) on streams that
# make_stream wrote and on guests that it starts itself. What it writes is read
# by babeltrace2, flamegraph.pl and go tool pprof, and must come to the same
# numbers. Prints TAP. GUESTS=no leaves the guests out.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
build=$work/..
parasite=$build/host/parasite
image=$build/x86_64/lua/lua.elf
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
SAMPLES=20000

mkdir -p "$work"
# shellcheck source=tests/tap.sh
. tests/tap.sh

# fact TRACE NAME: what info --json says
fact()
{
    "$parasite" info --json "$1" |
        sed -n "s/^ *\"$2\": \"*\([^\",]*\)\"*,*\$/\1/p"
}

# has_fact TRACE NAME VALUE
has_fact()
{
    same "$(fact "$1" "$2")" "$3"
}

# ---- what babeltrace2 counts: lines "KIND COUNT", the forms of one as one
kinds()
{
    babeltrace2 "$1" | sed 's/^\[[^]]*\] ([^)]*) \([a-z_]*\):.*/\1/' |
        sed 's/_wide$//; s/_late$//' | sort | uniq -c | awk '{ print $2, $1 }'
}

babeltrace_agrees()
{
    kinds "$1" >"$work/kinds" || return 1
    cat "$work/kinds"
    same "$(awk '{ sum += $2 } END { print sum + 0 }' "$work/kinds")" \
        "$(fact "$1" events)" &&
        same "$(awk '$1 ~ /^(sample|leaf)$/ { sum += $2 } END { print sum }' \
            "$work/kinds")" \
            "$(fact "$1" stacks)"
}

# ---- totals per function: lines "NAME SELF TOTAL", sorted

ours()
{
    count='\([0-9]*\)'
    row='^ *{"symbol":"\(.*\)","self":'$count',"total":'$count'.*'
    "$parasite" report -q --json -i "$1" | sed -n "s/$row/\1 \2 \3/p" | sort
}

# from folded stacks, a function once for each stack
of_folded()
{
    awk '{
        weight = $NF
        sub(/ [0-9]+$/, "")
        depth = split($0, frame, ";")
        self[frame[depth]] += weight
        delete seen
        for (i = 1; i <= depth; ++i)
            if (!(frame[i] in seen)) {
                seen[frame[i]] = 1
                total[frame[i]] += weight
            }
    }
    END { for (name in total) print name, self[name] + 0, total[name] }' |
        sort
}

folded_agrees()
{
    "$parasite" export -q -f folded "$1" >"$work/folded" || return 1
    ours "$1" >"$work/ours"
    of_folded <"$work/folded" >"$work/theirs"
    [ -s "$work/ours" ] && diff "$work/ours" "$work/theirs"
}

# The sum over all boxes of a name, in the picture and in the folded stacks.
boxes_of_folded()
{
    awk '{
        weight = $NF
        sub(/ [0-9]+$/, "")
        depth = split($0, frame, ";")
        for (i = 1; i <= depth; ++i)
            sum[frame[i]] += weight
    }
    END { for (name in sum) print name, sum[name] }' "$work/folded" | sort
}

flamegraph_agrees()
{
    "$parasite" export -q -f folded "$1" >"$work/folded" &&
        perl "$flamegraph" --minwidth 0 "$work/folded" >"$work/flame.svg" ||
        return 1
    boxes_of_folded >"$work/ours"
    sed -n 's/.*<title>\(.*\) (\([0-9,]*\) samples.*/\1 \2/p' \
        "$work/flame.svg" | tr -d , | sed 's/&lt;/</g; s/&gt;/>/g' |
        awk '$1 != "all" {
            weight = $NF
            sub(/ [0-9]+$/, "")
            sum[$0] += weight
        }
        END { for (name in sum) print name, sum[name] }' |
        sort >"$work/theirs"
    [ -s "$work/ours" ] && diff "$work/ours" "$work/theirs"
}

pprof_agrees()
{
    "$parasite" export -q -f pprof -o "$work/x.pb.gz" "$1" || return 1
    ours "$1" >"$work/ours"
    HOME=$work go tool pprof -top -unit count -nodefraction=0 \
        -nodecount=100000 "$work/x.pb.gz" 2>"$work/pprof.err" |
        sed '1,/flat%/d' | awk '{
            self = $1
            total = $4
            for (i = 1; i <= 5; ++i)
                sub(/^ *[^ ]+ */, "")
            print $0, self, total
        }' | sort >"$work/theirs"
    [ -s "$work/ours" ] && diff "$work/ours" "$work/theirs"
}

# The samples of -raw are lines "COUNT NANOSECONDS: LOCATION...", and there are
# as many of them, with the same sum, as folded stacks.
pprof_raw_agrees()
{
    "$parasite" export -q -f pprof -o "$work/x.pb.gz" "$1" &&
        "$parasite" export -q -f folded "$1" >"$work/folded" || return 1
    HOME=$work go tool pprof -raw "$work/x.pb.gz" 2>"$work/pprof.err" |
        sed -n '/^Samples:/,/^Locations/p' |
        awk '/^ +[0-9]+ +[0-9]+: / { sum += $1 } END { print sum + 0 }' \
            >"$work/theirs"
    awk '{ sum += $NF } END { print sum + 0 }' "$work/folded" >"$work/ours"
    [ "$(cat "$work/ours")" -gt 0 ] && diff "$work/ours" "$work/theirs"
}

# ---- streams that were made

gcc -std=gnu11 -O1 -Iprofiler/include -o "$work/make_stream" \
    tests/tool/make_stream.c || exit 1
if [ -r "$image" ]; then
    nm "$image" | awk '$2 ~ /[Tt]/ && $3 !~ /\./ { print $1 }' |
        head -n 400 >"$work/addresses"
    BUILD_ID=$(readelf -n "$image" | sed -n 's/.*Build ID: //p')
    export BUILD_ID
fi
"$work/make_stream" "$SAMPLES" 1 "$work/addresses" >"$work/packets"
"$work/make_stream" --text "$SAMPLES" 1 "$work/addresses" >"$work/log"
other=$build/i386/lua/lua.elf
trace=$work/made.trace

recorded()
{
    rm -rf "$trace"
    "$parasite" record -o "$trace" "$@" && has_fact "$trace" samples "$SAMPLES"
}

# Packets of 4 KiB, with their halves exchanged, one of them gone and one twice.
disordered()
{
    half=$(($(wc -c <"$work/packets") / 2))
    dd if="$work/packets" bs=1 skip="$half" status=none
    head -c "$half" "$work/packets"
    head -c 20000 "$work/packets"
}

disorder_is_mended()
{
    disordered >"$work/disordered"
    recorded "$work/disordered" >"$work/record.out" 2>&1
    cat "$work/record.out"
    grep -q 'came again' "$work/record.out" &&
        [ "$(fact "$trace" samples)" -gt $((SAMPLES * 9 / 10)) ] &&
        babeltrace_agrees "$trace"
}

# Two boots, the second one in the middle of the first: each has its trace.
two_boots()
{
    rm -rf "$work"/boots*
    "$work/make_stream" 5000 2 "$work/addresses" >"$work/second"
    half=$(($(wc -c <"$work/packets") / 2 / 4096 * 4096))
    {
        head -c "$half" "$work/packets"
        cat "$work/second"
        tail -c "+$((half + 1))" "$work/packets"
    } >"$work/boots.packets"
    "$parasite" record -o "$work/boots.trace" "$work/boots.packets" \
        >"$work/record.out" 2>&1
    cat "$work/record.out"
    grep -q 'booted 2 times; each boot has a trace' "$work/record.out" &&
        grep -q "wrote $work/boots.trace-2, .* 5,000 samples, 0 lost" \
            "$work/record.out" &&
        has_fact "$work/boots.trace" lost 0 &&
        has_fact "$work/boots.trace-2" samples 5000 &&
        has_fact "$work/boots.trace-2" missing_packets 0 &&
        babeltrace_agrees "$work/boots.trace" &&
        babeltrace_agrees "$work/boots.trace-2"
}

# Each CPU has a file of its own, whose time does not go back; a trace of fewer
# CPUs leaves none of them.
three_cpus()
{
    CPUS=3 "$work/make_stream" 9000 4 "$work/addresses" >"$work/cpus" &&
        "$parasite" record -q -o "$work/cpus.trace" "$work/cpus" &&
        has_fact "$work/cpus.trace" samples 9000 &&
        has_fact "$work/cpus.trace" missing_packets 0 &&
        [ -s "$work/cpus.trace/stream-2" ] &&
        babeltrace2 "$work/cpus.trace" >/dev/null 2>"$work/cpus.err" &&
        [ ! -s "$work/cpus.err" ] &&
        babeltrace_agrees "$work/cpus.trace" &&
        for cpu in 0 1 2; do
            "$parasite" report -q -C $cpu --json "$work/cpus.trace" |
                grep -q '^{"samples": 3000,$' || return 1
        done &&
        "$parasite" record -q -o "$work/cpus.trace" "$work/packets" &&
        same "$(ls "$work/cpus.trace")" "$(printf 'metadata\nstream')"
}

refuses_other_image()
{
    ends_with 1 "$parasite" record -k "$other" -o "$work/refused" \
        "$work/packets" >"$work/refusal" 2>&1
    cat "$work/refusal"
    grep -q "$BUILD_ID" "$work/refusal" &&
        grep -q "$(readelf -n "$other" | sed -n 's/.*Build ID: //p')" \
            "$work/refusal" &&
        ends_with 1 "$parasite" report -i "$trace" -k "$other" &&
        ends_with 0 "$parasite" report --force -i "$trace" -k "$other" &&
        ends_with 0 "$parasite" record --force -k "$other" \
            -o "$work/refused" "$work/packets"
}

script_prints_each()
{
    same "$("$parasite" script -q -i "$trace" | grep -c ' sample: ')" "$SAMPLES"
}

time_range_counts()
{
    "$parasite" report -q --json --time 0.5,1 "$trace" >"$work/range" ||
        return 1
    head -n 1 "$work/range"
    grep -q '^{"samples": 5000,$' "$work/range"
}

filters_choose()
{
    "$parasite" report -q -X '^\[idle\]$' "$trace" >"$work/busy" &&
        ! grep -q 'idle' "$work/busy" &&
        "$parasite" report -q -I '^\[idle\]$' "$trace" >"$work/idle" &&
        same "$(grep -vc '^#' "$work/idle")" 1
}

interrupted_is_whole()
{
    mkfifo "$work/fifo" 2>/dev/null
    "$parasite" record -o "$trace" "$work/fifo" &
    recorder=$!
    exec 9>"$work/fifo"
    cat "$work/packets" >&9
    sleep 1
    kill -INT "$recorder"
    code=0
    wait "$recorder" || code=$?
    exec 9>&-
    same "$code" 0 && has_fact "$trace" samples "$SAMPLES"
}

is 'packets become a trace' recorded "$work/packets"
is 'babeltrace2 counts the same events' babeltrace_agrees "$trace"
is 'a console log becomes the same' recorded "console:$work/log"
is 'and so does one on stdin' sh -c "'$parasite' record -o '$trace' - \
    <'$work/log'"
is 'what comes in disorder is put in order' disorder_is_mended
is 'two boots become two traces' two_boots
is 'three CPUs become three streams' three_cpus
is 'Ctrl-C leaves a whole trace' interrupted_is_whole
is 'a report needs no image' "$parasite" report "$trace"
is 'script prints each sample' script_prints_each
is 'a range of time is 5,000 samples' time_range_counts
is 'filters choose stacks' filters_choose
is 'the tree, callers and callees are printed' "$parasite" report -g --callers \
    --callees "$trace"
is 'lines, tasks and CPUs too' "$parasite" report -s symbol,line,task,cpu \
    --inline "$trace"
is 'folded stacks agree with the report' folded_agrees "$trace"
is 'flamegraph.pl draws the same numbers' flamegraph_agrees "$trace"
is 'go tool pprof shows the same numbers' pprof_agrees "$trace"
is 'and the same stacks with -raw' pprof_raw_agrees "$trace"
is 'no command is bad usage' ends_with 2 "$parasite"
is 'an unknown command is bad usage' ends_with 2 "$parasite" nothing
is 'an unknown option is bad usage' ends_with 2 "$parasite" report --nothing
is 'no trace is bad data' ends_with 1 "$parasite" report -i "$work/nothing"
is 'no packet is bad data' ends_with 1 "$parasite" record -o "$work/empty" \
    "$work/make_stream"
if [ -r "$image" ] && [ -r "$other" ]; then
    is 'another image is refused, with both build-ids' refuses_other_image
fi

# ---- guests

# guest WIDTH TRANSPORT WORDS...: a guest that runs a Lua script to its end
guest()
{
    width=$1
    transport=$2
    shift 2
    rm -rf "$work/guest.trace"
    timeout 100 "$parasite" record -q -F 1000 -t "$transport" \
        -o "$work/guest.trace" "$@" -- "qemu-system-$width" -accel tcg \
        -display none -no-reboot -monitor none -nic none -m 128 \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        -kernel "$build/$width/lua/lua.elf" -append prof.reports=1 \
        -initrd "${SCRIPT:-services/lua/scripts/parser.lua}" </dev/null
}

guest_is_seen()
{
    guest "$@" && [ "$(fact "$work/guest.trace" samples)" -gt 200 ] &&
        has_fact "$work/guest.trace" arch "$1" &&
        has_fact "$work/guest.trace" missing_packets 0 &&
        has_fact "$work/guest.trace" ended 1 &&
        babeltrace_agrees "$work/guest.trace"
}

code_is_the_guests()
{
    echo 'error("on purpose")' >"$work/error.lua"
    code=0
    SCRIPT=$work/error.lua guest x86_64 uart || code=$?
    same "$code" 1 && has_fact "$work/guest.trace" exit_code 1
}

guest_is_ended()
{
    echo 'while true do end' >"$work/endless.lua"
    SCRIPT=$work/endless.lua guest x86_64 uart -d 3 &&
        [ "$(fact "$work/guest.trace" samples)" -gt 100 ] &&
        babeltrace_agrees "$work/guest.trace"
}

if [ "${GUESTS:-yes}" = yes ] && [ -r "$image" ] && [ -r "$other" ]; then
    for transport in uart debugcon virtio serial shm; do
        for width in i386 x86_64; do
            is "$width sends by $transport" guest_is_seen "$width" "$transport"
        done
    done
    is 'folded stacks of a guest agree' folded_agrees "$work/guest.trace"
    is 'and so does its pprof' pprof_agrees "$work/guest.trace"
    is 'the exit code is the guest'\''s' code_is_the_guests
    is 'a guest is ended after its time' guest_is_ended
fi
echo "1..$number"
