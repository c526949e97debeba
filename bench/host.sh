#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# host.sh BUILD [SAMPLES [TURNS]]: the same samples as a trace and as a
# perf.data file, read by `parasite report` and `perf report --stdio` in turns:
# time, maximum memory, size of the file. perf is Debian's linux-perf. Writes
# lines of JSON to BUILD/bench/host.jsonl and prints them.
set -eu

build=${1:?usage: host.sh BUILD [SAMPLES [TURNS]]}
samples=${2:-1000000}
turns=${3:-3}
results=$build/bench/host.jsonl
work=$build/bench/host
image=$(realpath "$build/x86_64/lua/lua.elf")
parasite=$build/host/parasite
mkdir -p "$work"
rm -rf "$work"/trace "$work"/*.took
: >"$results"
# shellcheck source=bench/lines.sh
. bench/lines.sh

gcc -std=gnu11 -O2 -Iprofiler/include -o "$work/make_stream" \
    tests/tool/make_stream.c
nm "$image" | awk '$2 ~ /[Tt]/ && $3 !~ /\./ { print $1 }' |
    head -n 400 >"$work/addresses"
BUILD_ID=$(readelf -n "$image" | sed -n 's/.*Build ID: //p')
export BUILD_ID
"$work/make_stream" "$samples" 1 "$work/addresses" >"$work/packets"
"$parasite" record -q -k "$image" -o "$work/trace" "$work/packets"
"$parasite" export -q -f perf -o "$work/perf.data" "$work/trace"

# took WHAT COMMAND...: appends a line "NS KILOBYTES" to WHAT.took
took()
{
    what=$1
    shift
    began=$(date +%s%N)
    /usr/bin/time -f %M -o "$work/took" "$@" >"$work/out" 2>"$work/err"
    echo "$(($(date +%s%N) - began)) $(cat "$work/took")" >>"$work/$what.took"
}

# compared NAME FIELD WHAT OF UNIT: the ratio of WHAT to OF in each turn; its
# median and middle half
compared()
{
    paste -d ' ' "$work/$3.took" "$work/$4.took" |
        awk -v field="$2" '{ print $field / $(field + 2) }' | sort -g |
        awk '{ all[NR] = $1 }
            END {
                quarter = int((NR - 1) / 4)
                printf "%.4g %.4g %.4g\n", all[int((NR + 1) / 2)],
                    all[1 + quarter], all[NR - quarter]
            }' >"$work/ratio"
    read -r value low high <"$work/ratio"
    keep host "$1" "$value" "$5" "$low" "$high"
}

for _ in $(seq "$turns"); do
    rm -rf "$work/trace"
    took record "$parasite" record -q -k "$image" -o "$work/trace" \
        "$work/packets"
    took report "$parasite" report -q -i "$work/trace"
    took graph "$parasite" report -q -g -i "$work/trace"
    took perf perf report --stdio -i "$work/perf.data"
    echo "$samples 1000" >>"$work/unit.took"
done
ours=$(wc -c <"$work/trace/stream")
theirs=$(wc -c <"$work/perf.data")
keep host report_samples "$samples"
keep host report_file_bytes "$(echo "$ours $samples" |
    awk '{ printf "%.3f", $1 / $2 }')" 'bytes a sample'
keep host report_file_perf "$(echo "$theirs $ours" |
    awk '{ printf "%.2f", $1 / $2 }')" ratio
compared report_time_perf 1 perf report ratio
compared report_graph_time_perf 1 perf graph ratio
compared report_memory_perf 2 perf report ratio
compared report_graph_memory_perf 2 perf graph ratio
compared record_ns_a_sample 1 record unit ns
compared report_ns_a_sample 1 report unit ns
compared report_graph_ns_a_sample 1 graph unit ns
compared report_megabytes 2 report unit MB
compared report_graph_megabytes 2 graph unit MB
rm "$work/perf.data" "$work/packets"
cat "$results"
