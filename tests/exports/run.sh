#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: what parasite export writes, read by the tools it is for. Each
# must come, for every function, to the numbers of our own report. Traces are of
# a made-up stream over an image whose names are made to do harm, and of a guest
# at each width. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
mkdir -p "$work"
work=$(cd "$work" && pwd)
cd "$here/../.." || exit 1
build=$work/..
parasite=$build/host/parasite
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
PROFILER_CLI=@firefox-devtools/profiler-cli@0.10.0
# shellcheck source=tests/tap.sh
. tests/tap.sh

# What is looked at, for the report and the exports alike.
choice=

# export_as FORMAT TRACE [OPTIONS]: to $work/x
export_as()
{
    format=$1
    from=$2
    shift 2
    # shellcheck disable=SC2086 # a list of options
    "$parasite" export -q -f "$format" -o "$work/x" $choice "$@" "$from"
}

# totals FORMAT: of what is on stdin
totals()
{
    python3 tests/exports/totals.py "$1"
}

# our_totals report|report_ns TRACE
our_totals()
{
    # shellcheck disable=SC2086 # a list of options
    "$parasite" report -q --json $choice "$2" | totals "$1"
}

# same_as_ours KIND TRACE: $work/theirs is what the report says
same_as_ours()
{
    our_totals "$1" "$2" >"$work/ours" || return 1
    [ "$(wc -l <"$work/ours")" -gt 20 ] && diff "$work/ours" "$work/theirs"
}

folded_agrees()
{
    export_as folded "$1" && totals folded <"$work/x" |
        tr ':' ';' >"$work/theirs" || return 1
    our_totals report "$1" | tr ':' ';' | diff - "$work/theirs"
}

# All boxes of flamegraph.pl's picture, each with a name and samples.
flamegraph_draws()
{
    export_as folded "$1" &&
        perl "$flamegraph" --minwidth 0 "$work/x" >"$work/flame.svg" &&
        python3 -c 'import sys, xml.dom.minidom
text = xml.dom.minidom.parse(sys.argv[1])
print(len(text.getElementsByTagName("title")))
assert not text.getElementsByTagName("img")' "$work/flame.svg"
}

pprof_agrees()
{
    export_as pprof "$1" || return 1
    HOME=$work go tool pprof -top -unit count -nodefraction=0 \
        -nodecount=100000 "$work/x" 2>"$work/pprof.err" |
        totals pprof >"$work/theirs"
    same_as_ours report "$1"
}

perf_script_agrees()
{
    export_as perf "$1" &&
        perf script -i "$work/x" -F period,ip,sym,dso --max-stack 2048 |
        totals perf_script >"$work/theirs"
    same_as_ours report "$1"
}

# With time as the weight, too.
perf_report_agrees()
{
    export_as perf "$1" --weight time &&
        perf script -i "$work/x" -F period,ip,sym,dso --max-stack 2048 |
        totals perf_script >"$work/theirs"
    same_as_ours report_ns "$1" || return 1
    perf report -i "$work/x" --stdio --no-children -g none -t '|' \
        -F period,sym,dso | totals perf_report >"$work/theirs"
    our_totals report_ns "$1" | awk -F '\t' '$2 > 0 {
        print $1 "\t" $2 "\t0" }' | diff - "$work/theirs"
}

# The shares of a function's instructions, in perf annotate, and as counted by
# babeltrace2: hexadecimal addresses with percentages.
annotate_agrees()
{
    export_as perf "$1" && perf annotate -i "$work/x" --stdio -s "$2" |
        sed -n 's/^ *\([0-9]*\.[0-9]*\) *: *\([0-9a-f]*\):.*/\2 \1/p' |
        awk '$2 > 0' | sort >"$work/theirs"
    babeltrace2 "$1" >"$work/events" || return 1
    symbol=$(nm -S "$3" | awk -v name="$2" '$4 == name { print $1, $2 }')
    python3 tests/exports/shares.py "$symbol" <"$work/events" >"$work/ours" &&
        [ "$(wc -l <"$work/ours")" -gt 5 ] &&
        diff "$work/ours" "$work/theirs"
}

profiler_cli()
{
    PROFILER_CLI_SESSION_DIR=$sessions node "$profiler_cli" "$@"
}

# functions_of THREAD: what profiler-cli says of a thread of the loaded profile
functions_of()
{
    profiler_cli thread functions --session "$session" --thread "t-$1" \
        --include-idle --limit 0 --json
}

# Starts what `profiler-cli load` starts, which waits for it half a second only;
# it is there when it answers. Whoever asks after it has said where it is, but
# before it listens, takes it for dead and removes its files for good: so it
# gets time before each question, and another session where that was too short.
load_firefox()
{
    for wait in 1 3 9; do
        session=$number.$wait
        PROFILER_CLI_SESSION_DIR=$sessions node "$profiler_cli" --daemon "$1" \
            --session "$session" >"$work/daemon.log" 2>&1 &
        daemon=$!
        tries=4
        while [ "$tries" -gt 0 ]; do
            tries=$((tries - 1))
            sleep "$wait"
            ! functions_of 0 >"$work/answer" 2>&1 || return 0
        done
        cat "$work/daemon.log" "$work/answer"
        kill "$daemon" 2>/dev/null
    done
    return 1
}

firefox_agrees()
{
    # shellcheck disable=SC2086 # a list of options
    "$parasite" export -q -o "$work/x.json.gz" $choice "$1" &&
        load_firefox "$work/x.json.gz" || return 1
    threads=$(gzip -dc "$work/x.json.gz" | python3 -c 'import json, sys
print(len(json.load(sys.stdin)["threads"]))')
    thread=0
    while [ "$thread" -lt "$threads" ]; do
        functions_of "$thread"
        thread=$((thread + 1))
    done >"$work/x.said"
    profiler_cli stop "$session"
    kill "$daemon" 2>/dev/null
    wait "$daemon"
    totals firefox <"$work/x.said" >"$work/theirs"
    same_as_ours report "$1"
}

chrome_agrees()
{
    export_as chrome "$1" && totals chrome <"$work/x" >"$work/theirs" &&
        same_as_ours report "$1" &&
        totals chrome_ns <"$work/x" >"$work/theirs" &&
        same_as_ours report_ns "$1"
}

catapult_agrees()
{
    export_as chrome "$1" &&
        python3 tests/exports/catapult.py "$work/x" >"$work/theirs"
    same_as_ours report_ns "$1"
}

perfetto_agrees()
{
    export_as perfetto "$1" &&
        protoc --decode=Trace -Itests/exports perfetto.proto <"$work/x" \
            >"$work/x.said" || return 1
    echo 'fields that perfetto.proto does not know:'
    ! grep -E '^ *[0-9]+[:{ ]' "$work/x.said" &&
        totals perfetto <"$work/x.said" >"$work/theirs" &&
        same_as_ours report "$1"
}

callgrind_agrees()
{
    export_as callgrind "$1" || return 1
    for inclusive in no yes; do
        callgrind_annotate --threshold=100 --show=samples --auto=no \
            --inclusive="$inclusive" "$work/x" || return 1
    done 2>"$work/callgrind.err" >"$work/x.said"
    totals callgrind <"$work/x.said" >"$work/theirs"
    same_as_ours report "$1" && ! grep . "$work/callgrind.err"
}

# all_agree WHAT TRACE
all_agree()
{
    is "$1: folded stacks" folded_agrees "$2"
    is "$1: flamegraph.pl draws them" flamegraph_draws "$2"
    is "$1: go tool pprof" pprof_agrees "$2"
    is "$1: perf script" perf_script_agrees "$2"
    is "$1: perf report, by time" perf_report_agrees "$2"
    is "$1: profiler-cli of the Firefox Profiler" firefox_agrees "$2"
    is "$1: slices of Chrome's format, samples and time" chrome_agrees "$2"
    if command -v chromium >/dev/null && command -v go >/dev/null; then
        is "$1: Chrome's trace viewer, by time" catapult_agrees "$2"
    fi
    is "$1: protoc reads Perfetto's packets" perfetto_agrees "$2"
    is "$1: callgrind_annotate" callgrind_agrees "$2"
}

# ---- profiler-cli, fetched once

fetch_profiler_cli()
{
    [ -r "$profiler_cli" ] || npm install --prefix "$work/npm" --silent \
        --no-audit --no-fund --ignore-scripts "$PROFILER_CLI"
    [ -r "$profiler_cli" ]
}

profiler_cli=$work/npm/node_modules/@firefox-devtools/profiler-cli
profiler_cli=$profiler_cli/dist/profiler-cli.js
# a socket is made there, whose path may have 108 characters
sessions=$(mktemp -d)
trap 'rm -rf "$sessions"' EXIT
is 'profiler-cli can be fetched' fetch_profiler_cli

# ---- a stream over an image of nasty names

image=$work/names.elf
made=$work/made.trace
make_made()
{
    python3 tests/exports/names.py >"$work/names.s" &&
        as -o "$work/names.o" "$work/names.s" &&
        ld --build-id -Ttext=0x200000 -e plain_0 -o "$image" "$work/names.o" &&
        gcc -std=gnu11 -O1 -Iprofiler/include -o "$work/make_stream" \
            tests/tool/make_stream.c || return 1
    nm "$image" | awk '$2 == "T" && $3 !~ /^_/' >"$work/symbols"
    awk '{ print $1 }' "$work/symbols" >"$work/addresses"
    BUILD_ID=$(readelf -n "$image" | sed -n 's/.*Build ID: //p') \
        "$work/make_stream" --all 20000 1 "$work/addresses" >"$work/packets" &&
        rm -rf "$made" &&
        "$parasite" record -q -k "$image" -o "$made" "$work/packets"
}

# Without its second packet some stacks are not known, nor how long it took.
lost=$work/lost.trace
make_lost()
{
    {
        head -c 4096 "$work/packets"
        tail -c +8193 "$work/packets"
    } >"$work/packets.lost"
    rm -rf "$lost"
    "$parasite" record -q -k "$image" -o "$lost" "$work/packets.lost" &&
        "$parasite" report -q "$lost" | grep -F '[stack unknown]'
}

# export_is_json FORMAT EXPRESSION: what it is of said, the parsed file
export_is_json()
{
    export_as "$1" "$made" && python3 -c 'import json, sys
said = json.loads(open(sys.argv[1], "rb").read().decode("utf-8", "strict"))
assert eval("(" + sys.argv[2] + ")")' "$work/x" "$2"
}

# Names with a line's end, a terminal's colours, and bytes that are no UTF-8.
damaged_names_are_mended()
{
    objcopy --redefine-sym "plain_1=$(printf 'two\nlines\r\tand a tab')" \
        --redefine-sym "plain_2=$(printf '\033[31mred\001')" \
        --redefine-sym "plain_3=$(printf 'a\377b\300\200c\355\240\200d')" \
        "$image" "$work/damaged.elf" || return 1
    choice="-k $work/damaged.elf"
    export_is_json firefox 'said["shared"]["stringArray"].count(
        "a\ufffdb\ufffd\ufffdc\ufffd\ufffd\ufffdd") == 1' &&
        export_is_json chrome '{"two\nlines\r\tand a tab",
            "\x1b[31mred\x01"} <=
                {e.get("name") for e in said["traceEvents"]}' &&
        export_as callgrind "$made" &&
        callgrind_annotate "$work/x" 2>"$work/callgrind.err" >"$work/x.said" &&
        ! grep . "$work/callgrind.err" &&
        grep -q 'two lines.*and a tab' "$work/x.said" &&
        export_as perfetto "$made" &&
        protoc --decode=Trace -Itests/exports perfetto.proto <"$work/x" \
            >"$work/x.said"
    code=$?
    choice=
    return $code
}

# is_as NAME FORMAT: without -f it is the same
is_as()
{
    echo "$1"
    export_as "$2" "$made" &&
        "$parasite" export -q -o "$work/$1" "$made" &&
        case $1 in
        *.pb.gz) cmp "$work/x" "$work/$1" ;;
        *.gz) gzip -dc "$work/$1" | cmp - "$work/x" ;;
        *) cmp "$work/x" "$work/$1" ;;
        esac
}

suffixes_decide()
{
    is_as y.folded folded && is_as y.txt folded && is_as y.pb.gz pprof &&
        is_as y.pprof pprof && is_as y.data perf && is_as y.perf perf &&
        is_as y.json firefox && is_as y.json.gz firefox &&
        is_as y.trace.json chrome && is_as y.trace.json.gz chrome &&
        is_as y.perfetto-trace perfetto && is_as y.pftrace perfetto &&
        is_as y.callgrind callgrind && is_as callgrind.out.7 callgrind
}

FORMATS='folded pprof perf firefox chrome perfetto callgrind'

full_disk_is_told()
{
    for format in $FORMATS; do
        ends_with 1 "$parasite" export -q -f "$format" -o /dev/full "$made" \
            2>"$work/x.err" || return 1
        grep -q '/dev/full: cannot be written' "$work/x.err" || return 1
    done
}

pipes_are_files()
{
    for format in $FORMATS; do
        export_as "$format" "$made" || return 1
        "$parasite" export -q -f "$format" "$made" | cat >"$work/piped"
        cmp "$work/x" "$work/piped" || return 1
    done
}

million_is_streamed()
{
    grep plain_ "$work/symbols" | awk '{ print $1 }' >"$work/addresses.plain"
    "$work/make_stream" 1000000 1 "$work/addresses.plain" >"$work/packets" &&
        rm -rf "$work/million.trace" &&
        "$parasite" record -q -o "$work/million.trace" "$work/packets" ||
        return 1
    for format in $FORMATS; do
        command time -f '%M' -o "$work/kilobytes" "$parasite" export -q \
            -k "$image" --force -f "$format" -o /dev/null \
            "$work/million.trace" || return 1
        echo "$format: $(cat "$work/kilobytes") KB"
        [ "$(cat "$work/kilobytes")" -lt 65536 ] || return 1
    done
}

is 'a stream over nasty names is made' make_made
all_agree 'nasty names' "$made"
is 'a packet is lost' make_lost
all_agree 'a packet is lost' "$lost"
choice='--time 0.5,1.25 -X plain_1[0-9]$ -I ^plain_'
all_agree 'a part of the stacks and the time' "$made"
choice='-C 1'
is 'nothing chosen is a Firefox profile with no threads' export_is_json \
    firefox 'not said["threads"]'
is 'and a Chrome trace with no slices' export_is_json chrome \
    'len(said["traceEvents"]) == 1'
for format in folded pprof perf perfetto callgrind; do
    is "and can be $format" export_as "$format" "$made"
done
choice=

is 'names that are no text do no harm' damaged_names_are_mended
is 'the name of a file says its format' suffixes_decide
is 'an unknown format is bad usage' ends_with 2 "$parasite" export -f nothing \
    "$made"
is 'an unknown name is bad usage' ends_with 2 "$parasite" export \
    -o "$work/x.nothing" "$made"
is 'a full disk is told, for each format' full_disk_is_told
is 'what is piped is what is in a file' pipes_are_files
is 'a million samples need no more than 64 MB' million_is_streamed
is 'parasite open serves what it should, to whom it should' \
    python3 tests/exports/served.py "$parasite" "$made" "$work"

# ---- guests

# make_guest WIDTH: a script of lua that runs to its end, on a clock that counts
# instructions, so that a busy host does not make for fewer samples
make_guest()
{
    rm -rf "$work/$1.trace"
    timeout 100 "$parasite" record -q -F 1000 -o "$work/$1.trace" -- \
        "qemu-system-$1" -accel tcg -display none -no-reboot -monitor none \
        -nic none -m 128 -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        -kernel "$build/$1/lua/lua.elf" -append prof.reports=1 \
        -initrd services/lua/scripts/parser.lua \
        -icount shift=3,sleep=off -rtc clock=vm </dev/null
}

# For perf each label of an assembler's loop is a function, for us it is none:
# the image without them, which has the same build-id.
without_labels()
{
    readelf -sW "$build/$1/lua/lua.elf" |
        awk '$4 == "NOTYPE" && $5 == "LOCAL" && $8 !~ /\./ { print $8 }' \
            >"$work/labels"
    objcopy --strip-symbols="$work/labels" "$build/$1/lua/lua.elf" \
        "$work/$1.elf"
}

for width in i386 x86_64; do
    is "a guest of $width is recorded" make_guest "$width"
    is "its image can do without labels" without_labels "$width"
    choice="-k $work/$width.elf"
    all_agree "$width" "$work/$width.trace"
    is "$width: perf annotate shows the instructions' shares" annotate_agrees \
        "$work/$width.trace" luaV_execute "$build/$width/lua/lua.elf"
done
echo "1..$number"
