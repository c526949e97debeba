#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: what the command's user sees beside the numbers: exit codes,
# -q and -v, colours, spans of time, completion, and how recordings end. Prints
# TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
mkdir -p "$work"
work=$(cd "$work" && pwd)
build=$work/..
parasite=$build/host/parasite
trace=$work/x.trace
SAMPLES=20000
# shellcheck source=tests/tap.sh
. tests/tap.sh

gcc -std=gnu11 -O1 -Iprofiler/include -o "$work/make_stream" \
    tests/tool/make_stream.c || exit 1
"$work/make_stream" $SAMPLES 1 >"$work/packets"
"$parasite" record -q -o "$trace" "$work/packets" || exit 1

# said COMMAND...: runs it, its talk in $work/talk and its results in $work/out
said()
{
    "$@" >"$work/out" 2>"$work/talk"
    code=$?
    cat "$work/talk"
    return $code
}

quiet_is_quiet()
{
    for command in "record -o $work/q.trace" report script \
        'export -f folded'; do
        # shellcheck disable=SC2086 # words
        said "$parasite" $command -q "$work/packets" &&
            same "$(cat "$work/talk")" '' || return 1
    done
    ends_with 1 said "$parasite" report -q "$work/nothing" &&
        grep -q 'nothing' "$work/talk"
}

verbose_says_more()
{
    said "$parasite" report "$trace" && plain=$(grep -c '' "$work/talk")
    said "$parasite" report -v "$trace" &&
        grep -q ' packets, [0-9]* stacks' "$work/talk" &&
        [ "$(grep -c '' "$work/talk")" -gt "$plain" ]
}

closing_line_is_told()
{
    said "$parasite" record -o "$work/q.trace" "$work/packets" &&
        grep -q '^\[ parasite record: wrote [0-9.]* kB, 20,000 samples, 0 l' \
            "$work/talk"
}

# report on a terminal of its own, what it prints in $work/out
on_terminal()
{
    script -qec "$*" /dev/null </dev/null >"$work/out" 2>&1
}

colored()
{
    grep -q "$(printf '\033\\[3[12]m')" "$work/out"
}

colors_follow_the_terminal()
{
    on_terminal "$parasite report $trace" && colored || return 1
    on_terminal "NO_COLOR=1 $parasite report $trace" && ! colored &&
        on_terminal "NO_COLOR= $parasite report $trace" && colored &&
        on_terminal "$parasite report --color never $trace" && ! colored &&
        said "$parasite" report "$trace" && ! colored &&
        said "$parasite" report --color=auto "$trace" && ! colored &&
        said env NO_COLOR=1 "$parasite" report --color=always "$trace" &&
        colored
}

# span A,B SAMPLES: a sample comes each tenth of a millisecond, the first one
# so long after the beginning
span()
{
    "$parasite" report -q --json --time "$1" "$trace" >"$work/span" || return 1
    head -n 2 "$work/span"
    grep -q "^{\"samples\": $2,\$" "$work/span"
}

spans_count()
{
    span 0.5,1 5000 && span 0,0.25 2499 && span ,0.25 2499 &&
        span 1.5, 5001 && span 1.5 5001 && span 5,6 0
}

bad_spans_are_refused()
{
    for span in 1,0.5 a,b 1,2,3 1,1; do
        ends_with 2 "$parasite" report --time $span "$trace" || return 1
    done
}

# Samples 0.1 ms apart stand for 0.1 ms each, so shares by time are the same.
time_weighs()
{
    for weight in samples time; do
        "$parasite" report -q --weight $weight --time 0.5,1 "$trace" |
            sed -n 's/^ *\([0-9.]*%\) *\([0-9.]*%\) .* \([^ ]*\)$/\1 \2 \3/p' |
            sort >"$work/by.$weight" || return 1
    done
    "$parasite" export -q -f folded --weight time --time 0.5,1 "$trace" |
        awk '{ sum += $NF } END { print sum }' >"$work/sum"
    [ -s "$work/by.time" ] && diff "$work/by.samples" "$work/by.time" &&
        near_half_a_second "$(cat "$work/sum")"
}

near_half_a_second()
{
    echo "sum of weights: $1"
    awk -v sum="$1" 'BEGIN {
        exit !(sum == 5000000 || sum == 500000000 || sum == 500000)
    }'
}

# completed WORDS...: what Tab offers for the last of them
completed()
{
    PATH=$build/host:$PATH bash --norc -c '
        . tools/parasite/completion.bash
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _parasite
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | tr '\n' ' '
}

completes()
{
    same "$(completed parasite re)" 'record report ' &&
        same "$(completed parasite t)" 'tell top ' &&
        same "$(completed parasite record -t vi)" 'virtio ' &&
        same "$(completed parasite top -s '')" 'name self total ' &&
        same "$(completed parasite report --color a)" 'always auto ' &&
        same "$(completed parasite top --weight '')" 'samples time ' &&
        same "$(completed parasite tell unix:x st)" 'stacks start stop ' &&
        same "$(completed parasite tell unix:x stacks '')" 'off on ' &&
        same "$(completed parasite tell --wa)" '--wait ' &&
        same "$(completed parasite report --perc)" '--percent-limit ' &&
        same "$(completed parasite export -f pp)" 'pprof ' &&
        same "$(completed parasite report READ)" 'README.md '
}

every_command_completes_its_options()
{
    for command in $("$parasite" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
        case $command in demangle) continue ;; esac
        completed parasite "$command" --h | grep -q -- '--help' || {
            echo "$command"
            return 1
        }
    done
}

helps_have_examples()
{
    for command in $("$parasite" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
        "$parasite" "$command" --help 2>&1 |
            grep -qE "^ +(parasite $command|.*\| *parasite $command)" || {
            echo "no example: $command"
            return 1
        }
    done
}

usage_is_2()
{
    for words in '' 'nothing' 'record' 'record --nothing' 'report -C x' \
        'report -s x' 'report --weight x' 'report -I (' 'tell' 'top' \
        'record -F 0 x' 'record -d -1 x' 'record --depth 128 x' \
        'record -t x -- y' 'record a b' 'record a -- b' 'export -f x'; do
        # shellcheck disable=SC2086 # words
        ends_with 2 "$parasite" $words || return 1
    done
}

bad_data_is_1()
{
    : >"$work/empty"
    for words in "report $work/empty" "report $work/none" "info $work/none" \
        "script $work/empty" "export -f folded $work/empty" \
        "record -o $work/q.trace $work/none" "top --stdio -n 1 $work/empty" \
        "record -k README.md -o $work/q.trace $work/packets" \
        "tell unix:$work/none stop"; do
        # shellcheck disable=SC2086 # words
        ends_with 1 "$parasite" $words || return 1
    done
}

# fact NAME: what info says of the trace that was made last
fact()
{
    "$parasite" info --json "$work/q.trace" |
        sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p"
}

# A log with time stamps in front, carriage returns, and torn off at its end.
pasted_log_is_read()
{
    "$work/make_stream" --text $SAMPLES 1 | awk '{
        printf "[%8.3f] %s\r\n", NR / 10, $0 }' | head -c -300 >"$work/pasted"
    said "$parasite" record -o "$work/q.trace" "console:$work/pasted" &&
        same "$(fact missing_packets)" 0 &&
        [ "$(fact samples)" -gt $((SAMPLES * 9 / 10)) ]
}

# guest WIDTH SCRIPT: started and recorded
guest()
{
    width=$1
    echo "$2" >"$work/script.lua"
    rm -f "$work/pid"
    "$parasite" record -q -F 1000 -o "$work/guest.trace" -- \
        "qemu-system-$width" -accel tcg -display none -no-reboot -monitor none \
        -nic none -m 128 -pidfile "$work/pid" \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        -kernel "$build/$width/lua/lua.elf" -append prof.every=0 \
        -initrd "$work/script.lua" </dev/null
}

ended_whole()
{
    babeltrace2 "$work/guest.trace" >"$work/events" &&
        [ "$(grep -c sample "$work/events")" -gt 100 ]
}

# Ctrl-C reaches recorder and guest alike, as it does on a terminal.
interrupt_ends_whole()
{
    # shellcheck disable=SC2016 # for the shell in there
    BUILD=$build WIDTH=$1 WORK=$work timeout --foreground -s INT 6 \
        sh -c 'exec "$BUILD/host/parasite" record -q -F 1000 \
            -o "$WORK/guest.trace" -- "qemu-system-$WIDTH" -accel tcg \
            -display none -no-reboot -monitor none -nic none -m 128 \
            -kernel "$BUILD/$WIDTH/lua/lua.elf" -append prof.every=0 \
            -initrd services/lua/scripts/parser.lua' </dev/null
    code=$?
    echo "code $code"
    { [ "$code" -eq 124 ] || [ "$code" -eq 0 ]; } && ended_whole
}

killed_guest_ends_whole()
{
    (sleep 4 && kill -KILL "$(cat "$work/pid")") &
    code=0
    guest "$1" 'while true do local t = {} for i = 1, 99 do t[i] = i end end' ||
        code=$?
    wait
    same "$code" 126 && ended_whole
}

is '-q says nothing but errors' quiet_is_quiet
is '-v says more' verbose_says_more
is 'record closes with one line' closing_line_is_told
is 'colours are for terminals, and NO_COLOR is honoured' \
    colors_follow_the_terminal
is 'spans of time are cut out' spans_count
is 'what is no span is bad usage' bad_spans_are_refused
is 'time weighs as samples do where they are as far apart' time_weighs
is 'bash completes commands, options and values' completes
is 'each command completes its options' every_command_completes_its_options
is 'each --help has an example' helps_have_examples
is 'bad usage is 2' usage_is_2
is 'bad data is 1' bad_data_is_1
is 'help is 0' ends_with 0 "$parasite" --help
is 'a pasted log is read' pasted_log_is_read
for width in i386 x86_64; do
    is "$width: Ctrl-C leaves a whole trace" interrupt_ends_whole $width
    is "$width: so does a guest that is killed" killed_guest_ends_whole $width
done
echo "1..$number"
