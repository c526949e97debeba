#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: which addresses count as "in the hypervisor", at both widths:
# of functions made up for it, and of every instruction of real images, where
# objdump is asked the same. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
cd "$here/../.." || exit 1
build=$work/..
objects=$build/host/obj/tools/parasite
mkdir -p "$work"
# shellcheck source=tests/tap.sh
. tests/tap.sh

gcc -std=gnu11 -Iprofiler/include -o "$work/check" tests/exits/exits_check.c \
    "$objects"/exits.o "$objects"/image.o "$objects"/memory.o \
    "$objects"/metadata.o "$objects"/talk.o -lcapstone -lelf || exit 1

# One function for each rule, at multiples of 16; what counts in it is behind
# the mark, as offsets.
made()
{
    cat <<'EOF'
.text
.macro function name
    .balign 16, 0x90
    .globl \name
    .type \name, @function
\name:
.endm
function f0 # 1 2: begins, ends
    nop; out %al, %dx; nop; ret
function f1 # : its last byte looks like hlt
    mov $0xf4f4f4f4, %eax; nop; ret
function f2 # : and so does a displacement
    lea 0x6cec6cec(%ebx), %eax; ret
function f3 # 0 2: with a prefix
    rep insb; nop; ret
function f4 # 0 2
    cpuid; nop; ret
function f5 # 0 1: the end of a function that stops
    hlt; ret
function f6 # 3 5 7: one behind the other
    nop; nop; nop; rdmsr; wrmsr; nop; ret
function f7 # : nothing at all
    nop; mov %eax, %ebx; pause; ret
function device_write # 0 1 2: by its name
    nop; nop; ret
function f9 # 0 1 3: a jump to the next one is looked through
    out %al, %dx; jmp 1f; 1: nop; jmp 2f; nop; 2: ret
.balign 16, 0x90
EOF
}

# Addresses that the comments of made() list.
listed()
{
    made | awk '/^function f|^function d/ {
        sub(/:.*/, "")
        for (i = 4; i <= NF; ++i)
            printf "%x\n", 1048576 + 16 * count + $i
        ++count
    }' | sort
}

# made_fits WIDTH-OPTION
made_fits()
{
    made >"$work/made.s"
    gcc "$1" -nostdlib -static -no-pie -Wl,-Ttext=0x100000 -Wl,-e,f0 \
        -Wl,-z,noexecstack -Wl,--build-id=none -o "$work/made" \
        "$work/made.s" || return 1
    listed >"$work/wanted"
    # the first bytes of each function, not what fills it up
    seq 0 9 | while read -r function; do
        seq 0 7 | while read -r offset; do
            printf '%x\n' $((1048576 + 16 * function + offset))
        done
    done | "$work/check" "$work/made" '^device_' | sort |
        awk '!/8[3-7]$/' >"$work/got"
    [ -s "$work/wanted" ] && diff "$work/wanted" "$work/got"
}

# What objdump says: instructions that leave, and those behind one in the same
# function. Labels with a dot are no functions.
by_objdump()
{
    objdump -d --no-show-raw-insn "$1" | awk '
        /^[0-9a-f]+ </ { if ($2 !~ /\./) after = 0; next }
        /^ *[0-9a-f]+:\t/ {
            address = $1
            sub(":", "", address)
            print address >all
            split($0, part, "\t")
            sub(/^((rep|repz|repnz|lock|data16|cs|ds) +)+/, "", part[2])
            split(part[2], word, /[ ]+/)
            leaves = word[1] ~ /^(in|out|ins[bwl]?|outs[bwl]?|hlt|cpuid)$/ ||
                     word[1] ~ /^(rdmsr|wrmsr|xsetbv|invd|vmm?call)$/ ||
                     word[1] ~ /^(monitor|mwait)$/
            if (leaves || after)
                print address
            after = leaves
        }' all="$work/all" | sort
}

agrees_with_objdump()
{
    by_objdump "$1" >"$work/wanted"
    "$work/check" "$1" <"$work/all" | sort >"$work/got"
    wc -l "$work/wanted"
    [ "$(wc -l <"$work/wanted")" -gt 50 ] && diff "$work/wanted" "$work/got"
}

refused()
{
    ! "$work/check" /bin/sh </dev/null 2>&1 | grep -q Sanitizer
    ! "$work/check" "$0" </dev/null
}

is 'rules hold on i386' made_fits -m32
is 'rules hold on x86_64' made_fits -m64
for width in i386 x86_64; do
    for name in lua split; do
        image=$build/$width/$name/$name.elf
        is "objdump agrees about $width $name" agrees_with_objdump "$image"
    done
done
is 'what is no image is refused' refused
echo "1..$number"
