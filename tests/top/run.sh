#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: `parasite top` on guests that run, in a terminal of tmux and as
# plain text: every key, every width of the screen, and a guest that restarts.
# Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
mkdir -p "$work"
work=$(cd "$work" && pwd)
build=$work/..
parasite=$build/host/parasite
# shellcheck source=tests/tap.sh
. tests/tap.sh

# boot: the guest at $work/s.sock, a third of its time asleep
boot()
{
    rm -f "$work/pid" "$work/s.sock"
    boot_with "prof.out=virtio" \
        -chardev "socket,id=s,path=$work/s.sock,server=on,wait=off" \
        -device virtio-serial-pci -device virtconsole,chardev=s
}

# boot_with OPTIONS ARGUMENTS...
boot_with()
{
    options=$1
    shift
    timeout 600 "qemu-system-$width" -accel tcg -display none -no-reboot \
        -monitor none -nic none -m 128 -serial null -pidfile "$work/pid" \
        -kernel "$build/$width/split/split.elf" \
        -append "prof.every=0 split.idle=33 $options" "$@" \
        </dev/null >"$work/qemu.out" 2>&1 &
    soon test -s "$work/pid" >/dev/null
}

halt()
{
    kill "$(cat "$work/pid")"
    wait
}

# A terminal that is told to end may take its socket away later; so each has
# one of its own.
terminals=0
terminal()
{
    env -u TMUX tmux -L "parasite-$$-$terminals" -f /dev/null "$@"
}

# Nobody stays behind, whatever ends this script.
clean_up()
{
    terminal kill-server 2>/dev/null
    [ ! -s "$work/pid" ] || kill "$(cat "$work/pid")" 2>/dev/null
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# opens COLUMNS WORDS...: top in a terminal; what it leaves is in $work/left
opens()
{
    columns=$1
    shift
    terminal kill-server 2>/dev/null
    terminals=$((terminals + 1))
    rm -f "$work/left"
    # shellcheck disable=SC2016 # for the shell in there
    terminal new-session -d -x "$columns" -y 20 env LANG=C.UTF-8 \
        TERM=screen-256color "$@" sh -c \
        'trap : INT; "$0" "$@" 2>'"$work/said.top"'; echo "$?" >'"$work/left" \
        "$parasite" top --delay 0.5 -k "$build/$width/split/split.elf" \
        "unix:$work/s.sock"
    shows '^ *[0-9.]*%.* leaf_a( |$)'
}

look()
{
    terminal capture-pane -p >"$work/screen"
    cat "$work/screen"
}

on_screen()
{
    look | grep -qE -e "$1"
}

not_on_screen()
{
    look >"$work/look" && ! grep -qE -e "$1" "$work/look"
}

# shows PATTERN: soon, a line of the screen fits it; lacks: none does
shows()
{
    soon on_screen "$1" && return 0
    cat "$work/screen"
    return 1
}

lacks()
{
    soon not_on_screen "$1" && return 0
    cat "$work/screen"
    return 1
}

keys()
{
    terminal send-keys "$@"
}

# rows: names of the list, from the top
rows()
{
    look | LC_ALL=C sed 's/[^ -~].*//; s/ *$//' |
        sed -n 's/^ *[0-9.]*% .*  \([^ ].*\)$/\1/p'
}

# first ROW: it is the uppermost one, soon
is_first()
{
    same "$(rows | head -n 1)" "$1"
}

# A stack's outermost functions share their total; the frame of _start is one.
sorts()
{
    keys t && shows '\*Total' && shows '% .* (service_main|arch_start) ' &&
        soon total_falls &&
        keys n && shows '\*Function' && soon is_first '[idle]' &&
        keys s && shows '\*Self' &&
        { soon is_first '[idle]' || soon is_first leaf_a; }
}

total_falls()
{
    look | awk '$1 ~ /%$/ { if (seen && $2 + 0 > last + 0.005) bad = 1
            last = $2 + 0; seen = 1 } END { exit bad || !seen }'
}

filters()
{
    keys / && shows '^ /_' && keys 'leaf_[ab' && keys Enter &&
        shows 'Unmatched|brackets' && keys ']$' Enter &&
        shows 'only /leaf_\[ab\]\$/' && lacks 'leaf_c|idle\]' &&
        same "$(rows | sort | tr '\n' ' ')" 'leaf_a leaf_b ' &&
        keys / x Escape && shows 'only /leaf_\[ab\]\$/' &&
        keys / && keys -N 20 BSpace && keys Enter && lacks 'only /' &&
        shows 'leaf_c'
}

hides_idle()
{
    keys i && lacks '\[idle\]' && shows 'leaf_a' && keys i && shows '\[idle\]'
}

zooms()
{
    keys / && keys 'leaf_a$' && keys Enter && shows 'only' &&
        keys Enter && shows '^ leaf_a .* self .* total' &&
        shows '^ *[0-9.]*% .*<- level_7' && keys Enter &&
        shows '^ level_7 ' && shows '<- level_6' && shows '[-]> leaf_b' &&
        keys Escape && shows '^ leaf_a ' && keys BSpace && shows 'only' &&
        keys / && keys -N 20 BSpace && keys Enter && lacks 'only /'
}

# the name in the row that is shown in reverse
selected()
{
    escape=$(printf '\033')
    terminal capture-pane -ep | tail -n +5 | grep "$escape\[[0-9;]*7m" |
        head -n 1 | sed "s/$escape\[[0-9;]*m//g" | cut -c 29-
}

# Paused: a function that turns up above the selected one would move it.
moves()
{
    keys n p && shows '\*Function' && shows 'PAUSED' && keys Down Down j Up &&
        soon same_selected 3 && keys End && soon same_selected last &&
        keys Home && soon same_selected 1 && keys NPage && lacks '\[idle\]' &&
        keys PPage && shows '\[idle\]' && keys s p && lacks 'PAUSED'
}

# same_selected N: the N-th of the rows on the screen is the selected one
same_selected()
{
    wanted=$(rows | if [ "$1" = last ]; then tail -n 1; else sed -n "$1p"; fi)
    echo "$(selected) " | grep -qF -e " $wanted "
}

seconds()
{
    look | sed -n '1s/.* \([0-9]*\)\.[0-9] s *$/\1/p'
}

pauses()
{
    keys p && shows 'PAUSED' && before=$(look | sed -n 1p) && sleep 2 &&
        same "$(look | sed -n 1p)" "$before" && keys Space && lacks 'PAUSED' &&
        soon changed "$before"
}

changed()
{
    [ "$(look | sed -n 1p)" != "$1" ]
}

resets()
{
    keys w && shows 'since the reset' && before=$(seconds) && keys r &&
        soon at_most $((before - 1)) && shows 'leaf_a' && keys w &&
        shows 'lately'
}

at_most()
{
    [ "$(seconds)" -le "$1" ]
}

helps()
{
    keys '?' && shows 'this help' && lacks 'leaf_a' && keys s &&
        lacks 'this help' && shows 'leaf_a'
}

# no line of a narrow screen is longer than it, and each has the name
resizes()
{
    shows 'Samples/s' && terminal resize-window -x 40 -y 12 &&
        lacks 'Samples/s' && shows 'Total' && shows 'leaf_a$' &&
        same "$(awk 'length > 40' "$work/screen")" '' &&
        same "$(grep -c '' "$work/screen")" 12 &&
        terminal resize-window -x 24 -y 8 && lacks 'Total' && shows 'leaf_a' &&
        terminal resize-window -x 1 -y 1 && sleep 1 &&
        terminal resize-window -x 100 -y 20 && shows 'Samples/s' &&
        shows 'leaf_a'
}

restarts()
{
    halt && shows 'nobody is there, waiting' && boot && shows 'boot 2' &&
        lacks 'nobody is there' && shows '^ *[0-9.]*%.* leaf_a( |$)'
}

quits()
{
    keys q && soon test -s "$work/left" && same "$(cat "$work/left")" 0
}

ends_with_interrupt()
{
    opens 60 && keys C-c && soon test -s "$work/left" &&
        same "$(cat "$work/left")" 0
}

colored()
{
    terminal capture-pane -ep | grep -q "$(printf '\033\\[[0-9;]*31m')"
}

has_colors()
{
    opens 100 COLORTERM= && soon colored && keys q
}

has_none()
{
    opens 100 NO_COLOR=1 && look >/dev/null && ! colored && keys q
}

# tables WORDS...: as text, to $work/tables
tables()
{
    "$parasite" top --delay 2 -k "$build/$width/split/split.elf" "$@" \
        "unix:$work/s.sock" >"$work/tables" 2>"$work/said.top"
    code=$?
    cat "$work/said.top" "$work/tables"
    return $code
}

# The leaves' shares among one another are known.
shares_are_true()
{
    tables -n 3 -F 500 --filter '^leaf_' &&
        same "$(grep -c Symbol "$work/tables")" 3 &&
        grep -q '500.076 Hz' "$work/tables" &&
        awk '/^# .* Hz/ { delete share; sum = 0 }
            /leaf_/ { share[$4] = $1 + 0; sum += $1 }
            END {
                for (i = 1; i <= 4; i++) {
                    off = share["leaf_" substr("abcd", i, 1)] / sum
                    off -= (5 - i) / 10
                    if (sum == 0 || off > 0.05 || off < -0.05)
                        exit 1
                }
            }' "$work/tables"
}

rows_are_summed_up()
{
    tables -n 4 --rows 2 -s total --weight time &&
        grep -q 'in [0-9]* more functions' "$work/tables" &&
        [ "$(grep -c '%  *[0-9.]*%' "$work/tables")" -ge 4 ]
}

refusal_is_told()
{
    ends_with 1 tables --send fly && grep -q 'not a command' "$work/said.top"
}

other_image_is_refused()
{
    ends_with 1 "$parasite" top --stdio -n 3 --delay 1 \
        -k "$build/$width/lua/lua.elf" "unix:$work/s.sock" \
        >"$work/refusal" 2>&1
    cat "$work/refusal"
    grep -q 'is not the image' "$work/refusal" &&
        ends_with 0 "$parasite" top --stdio -n 3 --delay 1 --force \
            -k "$build/$width/lua/lua.elf" "unix:$work/s.sock"
}

boot_ram()
{
    rm -f "$work/pid"
    boot_with prof.out=shm -machine memory-backend=ram -object \
        "memory-backend-file,id=ram,size=128M,share=on,mem-path=$work/ram"
}

# Shared RAM: the same file with another guest in it, then another file.
ram_is_followed()
{
    rm -f "$work/ram"
    boot_ram
    "$parasite" top --delay 1 -n 40 --rows 5 \
        -k "$build/$width/split/split.elf" "shm:$work/ram" \
        >"$work/tables" 2>"$work/said.top" &
    watcher=$!
    soon grep -q ' leaf_a$' "$work/tables" && halt_guest && boot_ram &&
        soon grep -q '^# boot 2' "$work/tables" && halt_guest &&
        rm "$work/ram" && boot_ram && soon grep -q '^# boot 3' "$work/tables" &&
        soon table_has_leaf
    code=$?
    kill "$watcher"
    halt_guest
    rm -f "$work/ram"
    tail -n 20 "$work/tables"
    return $code
}

table_has_leaf()
{
    tail -n 9 "$work/tables" | grep -q ' leaf_a$'
}

halt_guest()
{
    guest=$(cat "$work/pid")
    kill "$guest"
    while kill -0 "$guest" 2>/dev/null; do sleep 0.1; done
}

# A guest that is started, in a terminal and not, and its exit code.
started()
{
    echo 'local t = os.time() while os.time() - t < 4 do end' \
        'error("on purpose")' >"$work/error.lua"
    set -- "$parasite" top "$@" --delay 0.5 -t virtio -F 1000 -- \
        "qemu-system-$width" -accel tcg -display none -no-reboot -monitor none \
        -nic none -m 128 -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        -kernel "$build/$width/lua/lua.elf" -append prof.every=0 \
        -initrd "$work/error.lua"
    ends_with 1 "$@" >"$work/tables" 2>"$work/said.top"
    code=$?
    cat "$work/said.top" "$work/tables"
    [ "$code" -eq 0 ] && grep -q 'luaV_execute' "$work/tables" &&
        grep -q 'on purpose' "$work/said.top"
}

for width in ${WIDTHS:-i386 x86_64}; do
    boot
    is "$width: top shows what the guest does" opens 100
    is "$width: s, t and n sort" sorts
    is "$width: / filters, and says what is wrong with a pattern" filters
    is "$width: i hides the idle CPU" hides_idle
    is "$width: Enter shows callers and callees, Esc goes back" zooms
    is "$width: arrows, pages, Home and End move" moves
    is "$width: p pauses" pauses
    is "$width: r resets, w shows what came since then" resets
    is "$width: ? helps" helps
    is "$width: the screen may change its size" resizes
    is "$width: a guest that restarts is followed" restarts
    is "$width: q quits with 0" quits
    is "$width: so does Ctrl-C" ends_with_interrupt
    is "$width: shares have colours" has_colors
    is "$width: NO_COLOR takes them away" has_none
    is "$width: without a terminal there are tables, which are true" \
        shares_are_true
    is "$width: what a table leaves out is summed up" rows_are_summed_up
    is "$width: a command that the guest refuses ends it with 1" refusal_is_told
    is "$width: another image is refused, unless forced" other_image_is_refused
    terminal kill-server 2>/dev/null
    halt
    is "$width: shared RAM is followed through restarts" ram_is_followed
    is "$width: a guest behind -- ends it with its own code" started --stdio
done
is 'nobody there is bad data' ends_with 1 "$parasite" top "unix:$work/none.sock"
is 'no target is bad usage' ends_with 2 "$parasite" top
is 'a bad key to sort by is bad usage' ends_with 2 "$parasite" top -s x y
is 'a bad filter is bad usage' ends_with 2 "$parasite" top --filter '(' y
is 'no iterations are bad usage' ends_with 2 "$parasite" top -n 0 y
is 'an unknown terminal is told' ends_with 1 env TERM=none script -qec \
    "$parasite top $work/s.sock" /dev/null
echo "1..$number"
