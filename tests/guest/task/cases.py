# SPDX-License-Identifier: Apache-2.0
"""Guest cases: tasks and promises."""

from harness.cases import case

QUIET = "prof.start=off prof.every=0"


def dies(name, how, shows):
    """A task ends the image."""
    return case(
        name,
        image="test/task_overflow",
        append=f"{QUIET} die={how}",
        exits=101,
        shows=shows,
    )


def disk(name, want, device):
    """The disk with promises, on a device without a backing file."""
    return case(
        name,
        image="test/disk",
        append=f"{QUIET} want={want}",
        icount=0,
        qemu=device,
    )


ZEROES = (
    "-blockdev driver=null-co,node-name=n,size=67108864,read-zeroes=on,"
    "latency-ns=1000000 "
)

CASES = [
    disk("disk", "works", ZEROES + "-device virtio-blk-pci,drive=n"),
    disk(
        "disk_errors_fail",
        "errors",
        ZEROES + "-blockdev driver=blkdebug,node-name=d,image=n,"
        "inject-error.0.event=none,inject-error.0.iotype=read,"
        "inject-error.0.sector=2048 -device virtio-blk-pci,drive=d",
    ),
    disk("disk_missing_fails", "none", ""),
    case(
        "loop_hog_is_named",
        image="test/loop",
        append=f"{QUIET} prof.loop=8 do=hog",
        icount=0,
        exits=0,
        shows=[
            r"^loop: held for 1(0[0-9]|10)[.][0-9] ms by hog "
            r"[(]tests/guest/task/loop/main[.]c:[0-9]+[)], task [0-9]+, at$",
            "^loop:   0x[0-9a-f]+ (burn|guest_spin|arch_tsc)[+]0x",
            "^loop:   0x[0-9a-f]+ middle[+]0x",
            "^loop:   0x[0-9a-f]+ hog[+]0x",
            "^loop:   0x[0-9a-f]+ task_main[+]0x",
            "; held for too long 2 times$",
            "; missing 0 cycles$",
        ],
    ),
    case(
        "loop_calls",
        append=f"{QUIET} prof.loop=40 prof.loop_calls=64",
        icount=0,
        qemu=ZEROES + "-device virtio-blk-pci,drive=n",
        shows=[
            "^loop: futures, from pending to done$",
            "; missing 0 cycles$",
        ],
        hides=["no room for"],
    ),
    case(
        "loop_calls_refused",
        image="test/loop_calls",
        append=f"{QUIET} prof.loop=40 prof.loop_calls=8 do=crowd",
        icount=0,
        exits=0,
        shows=[
            # tasks, their sleeps and the join share the room
            "^crowd: 4 of 12, refused 17$",
            "^loop: no room for 17 calls: prof[.]loop_calls$",
            "; missing 0 cycles$",
        ],
    ),
    case("task_never_yields", append="prof.hz=1000 prof.every=0", icount=0),
    dies(
        "task_overflow_panics",
        "overflow",
        [
            "^panic: (page|double) fault, stack overflow$",
            "^  in task digger$",
            "^  #0  0x[0-9a-f]+  dig_deeper [+] 0x",
            "^  #63 0x[0-9a-f]+  dig_deeper [+] 0x",
        ],
    ),
    dies(
        "task_panics",
        "panic",
        [
            "^panic: a task has had enough at ",
            "^  in task digger$",
            "^  #0  0x[0-9a-f]+  dig [+] 0x",
            "^  #1  0x[0-9a-f]+  task_main [+] 0x",
        ],
    ),
    dies(
        "task_faults",
        "null",
        [
            "^panic: page fault, null pointer dereference$",
            "^  in task digger$",
            "^  #0  0x[0-9a-f]+  dig [+] 0x",
            "^  #1  0x[0-9a-f]+  task_main [+] 0x",
        ],
    ),
    case("promises", append=QUIET, icount=0),
    case("sampling_moves_no_timer", append=QUIET, icount=0),
    case("tasks", append=QUIET, icount=0),
    case("tasks_many", append=QUIET, qemu="-m 640"),
]
