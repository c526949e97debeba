#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check.sh [BUILD]: what can be said about the sources without running them.
# One line for each check, and "N passed, N failed" at the end.
set -u

build=${1:-build}
clang=$build/clang
log=$build/check.log
passed=0
failed=0
mkdir -p "$build"

# check WHAT COMMAND...: the command's output is shown when it fails
check()
{
    what=$1
    shift
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $what"
    else
        failed=$((failed + 1))
        echo "FAILED  $what:"
        tail -n 30 "$log" | sed 's/^/        /'
    fi
}

sources()
{
    git ls-files --cached --others --exclude-standard -- "$@" |
        while read -r file; do
            [ ! -f "$file" ] || echo "$file"
        done
}

scripts()
{
    sources | while read -r file; do
        case $(head -n 1 "$file") in
        '#!/bin/sh'* | '#!/usr/bin/env bash'* | '#!/bin/bash'*) echo "$file" ;;
        esac
    done
}

formatted()
{
    sources '*.c' '*.h' | xargs clang-format-14 --dry-run -Werror
}

shell_fine()
{
    scripts | xargs shellcheck
}

# every room at both widths, each with its own -I paths only
builds_with()
{
    make -k --no-print-directory CC="$1" BUILD="$2" objects lib
}

# each public header by itself, seen from a room that may include it
headers_alone()
{
    sources 'arch/include/*.h' 'drivers/*.h' 'kernel/include/*.h' \
        'profiler/include/*.h' | while read -r header; do
        gcc -std=gnu11 -ffreestanding -fsyntax-only -Wall -Wextra -Werror \
            -Wno-pragma-once-outside-header -x c -Iarch/include \
            -Ikernel/include -Iprofiler/include "$header" || echo bad
    done 2>&1 | (! grep .)
}

# what the profiler needs and gives, in OBJECT
exports_fine()
{
    grep -v -e '^#' -e '^$' profiler/port.symbols | sort >"$log.allowed"
    nm -u "$1" | sed 's/^ *U //' | sort >"$log.needed"
    echo "allowed (<) and needed (>):"
    # memcpy and its kin may be called by the compiler, and need not be
    sed -i '/^mem/d' "$log.allowed"
    sed -i -E '/^mem(cpy|move|set|cmp)$/d' "$log.needed"
    diff "$log.allowed" "$log.needed" || return 1
    echo "exported without prof_:"
    (! nm -g --defined-only "$1" | awk '{ print $3 }' | grep -v '^prof_')
}

# Files of one line for the test runner have no room for comments.
licensed()
{
    sources | grep -vE '^LICENSE$|/ldflags$|^tests/guest/[^/]*/[a-z]+2?$' |
        while read -r file; do
            grep -qI . "$file" || continue
            head -n 5 "$file" |
                grep -q 'SPDX-License-Identifier: Apache-2.0' ||
                echo "no SPDX line: $file"
        done | (! grep .)
}

# words that promise what is not there
finished()
{
    words='TO''DO|FIX''ME|\bXX''X\b|\bHA''CK\b|place''holder|not ''implemented'
    sources '*.c' '*.h' '*.asm' '*.sh' '*.ld' '*.lua' '*.pml' Makefile .ci |
        (! xargs grep -nE "$words")
}

short_enough()
{
    sources Makefile '*.c' '*.h' '*.asm' | xargs wc -l |
        awk '$2 == "Makefile" && $1 > 250 || $2 != "total" && $1 > 500' |
        (! grep .)
}

# no line of the sources has more than 80 columns
narrow_enough()
{
    sources Makefile '*.mk' '*.c' '*.h' '*.asm' '*.inc' '*.S' '*.ld' '*.sh' |
        LC_ALL=C.UTF-8 xargs grep -nE '^.{81,}' | (! grep .)
}

# each "make ..." of the documents is one that make knows
documented()
{
    sources '*.md' | xargs -r grep -hoE '^    make( [A-Za-z_]+(=[^ ]*)?)+' |
        while read -r command; do
            $command -n >/dev/null 2>&1 || echo "does not work: $command"
        done | (! grep .)
}

# A map of a document points at what exists.
linked()
{
    sources '*.md' | while read -r page; do
        grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//' |
            while read -r target; do
                [ -e "$(dirname "$page")/$target" ] ||
                    echo "$page: no such file: $target"
            done
    done | (! grep .)
}

check 'C is formatted as .clang-format says' formatted
check 'shell scripts pass shellcheck' shell_fine
check 'gcc builds every room at both widths' builds_with gcc "$build"
check 'clang builds every room at both widths' builds_with clang-14 "$clang"
check 'public headers compile alone' headers_alone
for width in i386 x86_64; do
    for from in "$build" "$clang"; do
        check "needs and exports of $from/$width/profiler.o" \
            exports_fine "$from/$width/profiler.o"
    done
done
check 'every file names its licence' licensed
check 'nothing is left unfinished' finished
check 'files are short enough' short_enough
check 'lines are narrow enough' narrow_enough
check 'commands in the documents exist' documented
check 'links in the documents lead somewhere' linked
rm -f "$log" "$log".*

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
