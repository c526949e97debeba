#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: parasite diff and annotate (FOLDER/../host/parasite) on guests
# that it boots and on streams that were made. Guests run under -icount, where
# a run repeats to the instruction; another rate is another set of samples.
# Prints TAP. GUESTS=no takes the traces of the last run.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
build=$work/..
parasite=$build/host/parasite
RATES='911 953 997 1021'

mkdir -p "$work"
# shellcheck source=tests/tap.sh
. tests/tap.sh

# guest WIDTH SERVICE RATE TRACE WORDS...: boots and records it
guest()
{
    width=$1
    image=$build/$1/$2/$2.elf
    rate=$3
    trace=$4
    shift 4
    rm -rf "$trace"
    timeout 100 "$parasite" record -q -F "$rate" -o "$trace" -- \
        "qemu-system-$width" -accel tcg -icount shift=0,sleep=off \
        -rtc clock=vm -display none -no-reboot -monitor none -nic none \
        -m 128 -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        -kernel "$image" -append "$*" \
        -initrd services/lua/scripts/parser.lua </dev/null >"$work/console"
}

all_guests()
{
    for rate in $RATES; do
        for service in split lua; do
            guest "$1" $service "$rate" "$work/$1.$service.$rate" \
                prof.reports=1
        done
        guest "$1" split "$rate" "$work/$1.base.$rate" prof.reports=3
        guest "$1" split "$rate" "$work/$1.changed.$rate" prof.reports=3 \
            split.weights=4,2,3,1
    done
}

if [ "${GUESTS:-yes}" = yes ]; then
    all_guests i386
    all_guests x86_64
fi
base=$work/x86_64.base.997
steady=$work/x86_64.steady
changed=$work/x86_64.changed.997

# ---- diff

# The rates in a ring, each against the next.
nothing_new()
{
    before=1021
    for rate in $RATES; do
        "$parasite" diff --json --confidence 99.9 "$work/$1.$2.$before" \
            "$work/$1.$2.$rate" >"$work/diff.json" || return 1
        python3 tests/views/check.py news "$work/diff.json" || return 1
        before=$rate
    done
}

# In truth leaf_b gets a tenth less and leaf_c a tenth more.
change_is_news()
{
    for rate in $RATES; do
        "$parasite" diff --json --confidence 99.9 "$work/$1.base.$rate" \
            "$work/$1.changed.$rate" >"$work/diff.json" || return 1
        python3 tests/views/check.py news "$work/diff.json" \
            leaf_b=-9.97 leaf_c=9.97 || return 1
    done
}

# Of two images, the widths: a leaf is the same by its name.
widths_match_by_name()
{
    "$parasite" diff --confidence 99.9 "$work/i386.base.997" "$changed" \
        >"$work/diff.txt" &&
        cat "$work/diff.txt" &&
        grep -q ' leaf_c$' "$work/diff.txt" &&
        grep -q ' leaf_b$' "$work/diff.txt" &&
        ! grep -q 'leaf_[ad]$' "$work/diff.txt"
}

# Totals of the functions above the leaves do not change.
total_is_another_table()
{
    "$parasite" diff --total --json "$base" "$changed" >"$work/diff.json" &&
        python3 tests/views/check.py news "$work/diff.json" \
            leaf_b=-9.97 leaf_c=9.97 &&
        "$parasite" diff --total --all "$base" "$changed" >"$work/diff.txt" &&
        grep -E '^ *9[0-9]\.[0-9]+% .*\(noise\) level_2$' "$work/diff.txt"
}

noise_is_grey()
{
    "$parasite" diff --all --color always "$base" "$changed" >"$work/diff.txt"
    cat "$work/diff.txt"
    escape=$(printf '\033')
    grep -q "^$escape\[31m.* leaf_c$escape\[m\$" "$work/diff.txt" &&
        grep -q "^$escape\[32m.* leaf_b$escape\[m\$" "$work/diff.txt" &&
        grep -q "^$escape\[90m.*(noise) leaf_a$escape\[m\$" "$work/diff.txt" &&
        "$parasite" diff --all "$base" "$changed" >"$work/diff.txt" &&
        ! grep -q "$escape" "$work/diff.txt"
}

growth_fails()
{
    ends_with 3 "$parasite" diff --fail-above 5 "$base" "$changed" \
        2>"$work/err" && grep -q 'leaf_c grew by [5-9]' "$work/err" &&
        ends_with 0 "$parasite" diff --fail-above 12 "$base" "$changed" &&
        ends_with 0 "$parasite" diff --fail-above 5 "$base" "$base" &&
        ends_with 0 "$parasite" diff "$base" "$changed"
}

few_samples_are_told()
{
    ends_with 0 "$parasite" diff --fail-above 1 --time 0,0.05 "$base" \
        "$changed" 2>"$work/err" && cat "$work/err" &&
        grep -q 'so few samples' "$work/err"
}

for width in i386 x86_64; do
    for service in split lua; do
        is "$width: $service, run again, is no news" nothing_new $width $service
    done
    is "$width: what changed is news, and nothing else" change_is_news $width
done
is 'images of two widths are matched by name' widths_match_by_name
is 'totals are another table' total_is_another_table
is 'growth is red, decline green, noise grey' noise_is_grey
is 'growth makes it fail, and only growth' growth_fails
is 'a profile too small to see it says so' few_samples_are_told
is 'one trace is bad usage' ends_with 2 "$parasite" diff "$base"
is 'three traces are bad usage' ends_with 2 "$parasite" diff "$base" \
    "$base" "$base"
is 'a confidence of 100 is bad usage' ends_with 2 "$parasite" diff \
    --confidence 100 "$base" "$base"
is 'no samples are bad data' ends_with 1 "$parasite" diff -I 'no such' \
    "$base" "$changed"

# ---- annotate

# Lines and instructions add up to the report's self, whatever is looked at.
adds_up()
{
    trace=$1
    shift
    "$parasite" annotate -q --json --percent-limit 0 -i "$trace" "$@" \
        >"$work/annotate.json" &&
        "$parasite" report -q --json -i "$trace" "$@" >"$work/report.json" &&
        "$parasite" report -q --json -s symbol,line -i "$trace" "$@" \
            >"$work/lines.json" &&
        python3 tests/views/check.py totals "$work/annotate.json" \
            "$work/report.json" "$work/lines.json"
}

# What objdump makes of the function's bytes has the same addresses, all of
# them, and the same mnemonics.
code_is_objdumps()
{
    symbol=${2#* }
    "$parasite" annotate -q --json -i "$1" "$symbol" >"$work/annotate.json" &&
        objdump -d -M intel --no-show-raw-insn --disassemble="$symbol" \
            "${2% *}" >"$work/objdump" &&
        python3 tests/views/check.py code "$work/annotate.json" \
            "$work/objdump"
}

# leaf.asm's loop, with the source beside it, in both forms.
# Of a period that does not vary, so that its share repeats.
loop_is_shown()
{
    guest x86_64 split 997 "$steady" prof.reports=3 prof.jitter=0
    "$parasite" annotate -q leaf_a "$steady" >"$work/text" &&
        cat "$work/text" &&
        grep -qE '^leaf_a: (39|4[0-3])\.[0-9]+% of all, ' "$work/text" &&
        grep -qE '^ +leaf.asm:28 .*xor +edx' "$work/text" &&
        grep -qE '^ +[0-9.]+% +[0-9a-f]+ +jne 0x' "$work/text" &&
        ! grep -q leaf_b "$work/text" &&
        "$parasite" annotate -q -l leaf_a "$steady" >"$work/text" &&
        cat "$work/text" && grep -qE '^ +[0-9.]+% +30 .*jnz' "$work/text" &&
        ! grep -q 'jne 0x' "$work/text"
}

callees_are_named()
{
    "$parasite" annotate -q --all luaV_execute "$work/x86_64.lua.997" \
        >"$work/text" && grep -q '^ *inlined luaV_shiftl$' "$work/text" &&
        grep -q '^ *back in luaV_execute' "$work/text" &&
        grep -q 'call 0x.* <luaD_precall>' "$work/text"
}

# Nested ones too: one in the other.
inlined_is_addr2lines()
{
    "$parasite" annotate -q --json --percent-limit 0.3 -i "$1" \
        >"$work/annotate.json" &&
        python3 tests/views/check.py inlined "$work/annotate.json" "$2"
}

limit_is_kept()
{
    "$parasite" annotate -q --percent-limit 25 "$base" >"$work/text"
    grep -E '^leaf_|^# .*more' "$work/text"
    same "$(grep -c '^leaf_' "$work/text")" 2 &&
        grep -qE '^# (29|3[0-9])\.[0-9]+% are in [0-9]+ more functions' \
            "$work/text"
}

color_is_asked_for()
{
    escape=$(printf '\033')
    "$parasite" annotate -q --color always "$base" >"$work/text" &&
        grep -q "$escape\[31m" "$work/text" &&
        NO_COLOR=1 script -qec "'$parasite' annotate -q '$base'" \
            "$work/text" >/dev/null </dev/null &&
        ! grep -q "$escape" "$work/text" &&
        script -qec "'$parasite' annotate -q '$base'" "$work/text" \
            >/dev/null </dev/null && grep -q "$escape\[31m" "$work/text"
}

# From a folder where no source is at its path.
sources_move()
{
    (
        tool=$(realpath "$parasite")
        from=$(realpath .)
        trace=$(realpath "$base")
        mkdir -p "$work/elsewhere"
        cd "$work/elsewhere" || exit 1
        "$tool" annotate leaf_a "$trace" >text 2>err && cat err &&
            same "$(grep -c 'cannot be read' err)" 1 &&
            grep -q '% .* jne 0x' text && ! grep -q 'leaf.asm.*xor' text &&
            "$tool" annotate --source "$from" leaf_a "$trace" >text &&
            grep -q 'leaf.asm.*xor' text
    )
}

att_is_att()
{
    "$parasite" annotate -q -M att leaf_a "$base" | grep -q 'xorl.*, %edx'
}

# What perf annotate shows of our own perf.data.
perf_agrees()
{
    "$parasite" export -q -f perf -o "$work/perf.data" "$1" &&
        perf annotate -i "$work/perf.data" --stdio -s "$2" >"$work/perf.txt" \
            2>/dev/null &&
        "$parasite" annotate -q --json "$2" "$1" >"$work/annotate.json" &&
        python3 tests/views/check.py perf "$work/annotate.json" "$work/perf.txt"
}

# ---- names that would do harm where they are taken for something else

hostile_image()
{
    objcopy --redefine-sym "leaf_a=$(sed -n 1p "$work/names")" \
        --redefine-sym "leaf_b=$(sed -n 2p "$work/names")" \
        --redefine-sym "leaf_c=$(sed -n 3p "$work/names")" \
        "$build/x86_64/split/split.elf" "$work/hostile.elf"
}

{
    echo '<img src=x onerror="harmed=1">&amp;'\''</script><b>'
    echo 'größe_λ→𝄞'
    printf '%10000s\n' '' | tr ' ' '<'
} >"$work/names"

names_in_json()
{
    hostile_image && "$parasite" annotate -q --json -k "$work/hostile.elf" \
        "$base" >"$work/annotate.json" &&
        python3 tests/views/check.py names "$work/annotate.json" \
            <"$work/names" &&
        "$parasite" diff --json -k "$work/hostile.elf" \
            --base-image "$work/hostile.elf" "$base" "$changed" \
            >"$work/diff.json" &&
        python3 tests/views/check.py names "$work/diff.json" <"$work/names"
}

# An escape sequence does not reach the terminal, and bytes that are no UTF-8
# do not make JSON invalid.
bytes_do_no_harm()
{
    bytes=$(printf 'a\033[31mb\377c')
    objcopy --redefine-sym "leaf_a=$bytes" "$build/x86_64/split/split.elf" \
        "$work/bytes.elf" &&
        "$parasite" annotate -q -k "$work/bytes.elf" "$base" >"$work/text" &&
        ! grep -q "$(printf '\033')" "$work/text" &&
        grep -qa '^a?\[31mb' "$work/text" &&
        "$parasite" annotate -q --json -k "$work/bytes.elf" "$base" \
            >"$work/annotate.json" &&
        printf 'a\033[31mb\357\277\275c\n' |
        python3 tests/views/check.py names "$work/annotate.json"
}

# ---- the page

driven()
{
    node tests/views/page.js "$(realpath "$work/node_modules")" "$@"
}

playwright()
{
    [ -d "$work/node_modules/playwright-core" ] ||
        npm install --no-audit --no-fund --silent --prefix "$work" \
            playwright-core@1.49.1
}

no_address()
{
    "$parasite" annotate -q -o "$work/split.html" "$base" &&
        ! grep -nE 'https?://|url\(|@import' "$work/split.html"
}

names_in_page()
{
    hostile_image &&
        "$parasite" annotate -q -k "$work/hostile.elf" -o "$work/names.html" \
            "$base" &&
        driven "$work/names.html" names "$work/names.png" <"$work/names"
}

for width in i386 x86_64; do
    for service in split lua; do
        is "$width: $service's lines and instructions add up" adds_up \
            "$work/$width.$service.997"
    done
    is "$width: instructions are objdump's" code_is_objdumps \
        "$work/$width.lua.997" "$build/$width/lua/lua.elf luaD_precall"
    is "$width: inlined functions are addr2line's" inlined_is_addr2lines \
        "$work/$width.lua.997" "$build/$width/lua/lua.elf"
    is "$width: perf annotate shows the same shares" perf_agrees \
        "$work/$width.lua.997" luaV_execute
done
is 'so do a part of the time, and shares of time' adds_up "$base" \
    --time 0.5,1.5 --weight time
is 'a loop is shown with its source' loop_is_shown
is 'inlined functions and callees are named' callees_are_named
is 'the limit hides functions, and says so' limit_is_kept
is 'colours come when asked for' color_is_asked_for
is 'sources that are missing are told of once, and found' sources_move
is "AT&T's syntax" att_is_att
is 'a function without samples is bad data' ends_with 1 "$parasite" annotate \
    kernel_main "$base"
is 'and so is one that is not there' ends_with 1 "$parasite" annotate \
    no_such_function "$base"
is 'a wrong limit is bad usage' ends_with 2 "$parasite" annotate \
    --percent-limit 101 "$base"
is 'another image is bad data' ends_with 1 "$parasite" annotate \
    -k "$build/i386/split/split.elf" "$base"
is 'JSON holds any name' names_in_json
is 'bytes of names stay harmless' bytes_do_no_harm
is 'the page holds no address' no_address
"$parasite" annotate -q -o "$work/page.html" "$work/x86_64.lua.997"
is 'playwright-core comes from npm' playwright
for check in totals mouse keyboard hash dark phone; do
    is "the page: $check" driven "$work/page.html" $check "$work/$check.png"
done
is 'the page shows any name' names_in_page
echo "1..$number"
