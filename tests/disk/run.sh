#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh FOLDER: a disk image that the guest reads, turns over and writes to
# the image's second half (tests/guest/blk_reads_and_writes), looked at from
# outside; both widths, both faces of the device. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=${1:?usage: run.sh FOLDER}
build=$work/..
number=0

cd "$here/../.." || exit 1
mkdir -p "$work"

half=1048576

guest()
{
    timeout 120 "qemu-system-$1" -accel tcg -display none -no-reboot \
        -monitor none -nic none -m 128 -icount shift=0,sleep=off -rtc clock=vm \
        -device isa-debug-exit,iobase=0xf4,iosize=4 -serial stdio \
        -kernel "$build/$1/test/blk_reads_and_writes/blk_reads_and_writes.elf" \
        -append "prof.start=off prof.every=0 want=copy" \
        -blockdev "driver=file,node-name=d,filename=$work/disk" \
        -device "virtio-blk-pci,drive=d,disable-$2=on" </dev/null
}

# The first half as it was made, the second its opposite, bit by bit.
as_wanted()
{
    head -c $half "$work/disk" | cmp "$work/made" &&
        tail -c $half "$work/disk" |
        python3 -c 'import sys
sys.stdout.buffer.write(bytes(b ^ 255 for b in sys.stdin.buffer.read()))' |
            cmp "$work/made"
}

echo 1..4
head -c $half /dev/urandom >"$work/made"
for width in i386 x86_64; do
    for other in legacy modern; do
        number=$((number + 1))
        cp "$work/made" "$work/disk"
        truncate -s $((2 * half)) "$work/disk"
        log=$work/$width-without-$other.log
        what="$width, disable-$other: what is on the disk is what was written"
        guest $width $other >"$log" 2>&1
        if grep -q '^ok 3' "$log" && as_wanted >>"$log" 2>&1; then
            echo "ok $number - $what"
        else
            tail -n 25 "$log" | sed 's/^/# /'
            echo "not ok $number - $what"
        fi
    done
done
