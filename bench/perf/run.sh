#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD: the cost of a sample of Linux perf and of our sampler, both on
# the same work in the same machine, and what they say of a program in step
# with them. Prints a table and writes BUILD/bench/perf.jsonl. Takes five
# minutes where a core is idle. perf is measured on x86_64 only: Debian's cloud
# kernel is for that width, and so is the machine's perf that is put into its
# guest. That guest is booted three times: one run takes times, which are
# instructions under -icount; one is counted by a plugin of QEMU, which
# separates the kernel from perf's own process and does not count an idle CPU;
# and so is one on four
# CPUs. bench/irqs_off is run on four CPUs by both.
#
# Status 1 if a goal is missed or rows are missing; what could not be fetched
# or did not run is named, the rest is measured all the same.
set -eu

build=${1:?usage: run.sh BUILD}
here=$(dirname "$0")
logs=$build/bench/perf
source=build/source/perf-guest # beside the other fetched sources
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/*.marks

# The work as a Linux program, of the guest's own objects. They are linked
# without the labels in the leaves, which perf would take for functions; and to
# addresses where no other program is, by which the plugin knows it.
BEGIN=7000000
END=8000000
OFF_ROUNDS=1000 # of bench/irqs_off, on each CPU
work()
{
    objects=$build/x86_64/obj/services/split
    gcc -std=gnu11 -O2 -Wall -Wextra -Werror -fno-omit-frame-pointer \
        -fno-optimize-sibling-calls -static -no-pie -z noexecstack \
        "-Wl,-Ttext-segment=0x$BEGIN" \
        -o "$logs/work" "$here/linux/work.c" "$objects/levels.o" \
        "$objects/x86_64/leaf.o"
    strip -w -N 'leaf_?.*' "$logs/work"
}

# The module, built outside of Linux's tree with its headers.
module()
{
    folder=$(realpath "$logs")/module
    off=$(realpath "$here/../irqs_off")
    rm -rf "$folder"
    mkdir "$folder"
    cp "$here/linux/irqs_off.c" "$folder"
    echo 'obj-m := irqs_off.o' >"$folder/Kbuild"
    if ! MAKEFLAGS='' make -C "$source/headers" "M=$folder" \
        "KCFLAGS=-I$off" modules >"$logs/module.log" 2>&1; then
        echo "perf/run.sh: no module, see $logs/module.log" >&2
        return 1
    fi
}

guest()
{
    "$here/fetch.sh" "$source" && work && module &&
        "$here/initramfs.sh" "$logs/initramfs" "$logs/work" \
            "$logs/module/irqs_off.ko" "$source"
}

# linux LOG KERNEL'S_WORDS [QEMU'S_WORDS...]
linux()
{
    log=$1
    words=$2
    shift 2
    "$here/boot.sh" 900 x86_64 -kernel "$source/vmlinuz" \
        -initrd "$logs/initramfs" -append "console=ttyS0 quiet panic=-1 \
hz=1000 units=1000 $words" "$@" >"$logs/$log"
}

timed()
{
    linux linux.log "rdinit=/init reps=5 rounds=25000 step_rounds=1000 \
step_units=24900 step_period=1000000 phases=5"
}

# marks FILE: QEMU's words for the plugin, which writes to FILE
marks()
{
    mark=$(nm "$logs/work" | sed -n 's/ T work_mark$//p')
    echo "$logs/marks.so,out=$logs/$1,mark=$mark,work=$BEGIN+$END"
}

# Nothing is at random, so that a run repeats to the instruction.
counted()
{
    gcc -std=gnu11 -O2 -fPIC -shared -Wall -Wextra -Werror \
        -o "$logs/marks.so" "$here/host/marks.c" &&
        linux counted.log "rdinit=/counted short=25000 long=100000 nokaslr \
norandmaps" -seed 1 -plugin "$(marks counted.marks)"
}

# perf on four CPUs, by the host's time. Where the host is busy the kernel's
# test of the PIT sees too few of its ticks, and panics.
on_cpus()
{
    CPUS=4 linux cpus.log "rdinit=/cpus cpus=4 short=5000 long=20000 \
off_rounds=$OFF_ROUNDS nokaslr norandmaps no_timer_check" \
        -plugin "$(marks cpus.marks)"
}

# image WIDTH LOG IMAGE WORDS: it ends through debug-exit with code 0, which
# QEMU makes 1.
image()
{
    "$here/boot.sh" 600 "$1" -device isa-debug-exit,iobase=0xf4,iosize=4 \
        -append "prof.start=off prof.every=0 $4" -kernel "$3" >"$logs/$2" ||
        [ $? = 1 ]
}

ours()
{
    image "$1" "$1.log" "$build/$1/bench/perf/perf.elf" \
        'perf.reps=5 perf.rounds=25000' &&
        CPUS=4 image "$1" "$1.off.log" \
            "$build/smp/$1/bench/irqs_off/irqs_off.elf" \
            "prof.tick=nmi prof.hz=1000 rounds=$OFF_ROUNDS"
}

status=0
if ! guest || ! timed || ! counted || ! on_cpus; then
    echo "perf/run.sh: Linux perf was not measured, rows are missing" >&2
    status=1
fi
for width in i386 x86_64; do
    if ! ours "$width"; then
        echo "perf/run.sh: our guest failed, see $logs/$width.log" >&2
        status=1
    fi
done
size "$build"/*/profiler.o >"$logs/size"
python3 "$here/table.py" "$logs" "$build/bench/perf.jsonl" || status=1
exit "$status"
