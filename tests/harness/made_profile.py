# SPDX-License-Identifier: Apache-2.0
"""Streams whose every event is known: samples of the image of pages/suite.py,
a program that hangs, and one with interrupts."""

from .stream import CLOCK_HZ, TEXT, Stream

MS = CLOCK_HZ // 1000
FUNCTION_BYTES = 64  # of each function of the image
OFFSET = 8  # of a sample in its function; 2 is after "out"
DEEPEST = 1500
PORT = 3
OWN = 16  # the function prof_drain
AHEAD = 5 * CLOCK_HZ  # the clock outside
INSIDE_MS = 1952  # from the first sample to the last
TASK, PROMISE, MUTEX, CALLBACK = 1, 2, 10, 14  # kinds of objects

# Nodes from 1 on: parent, function, offset, samples in each half. The functions
# are main, work, helper, port, recurse and those with hard names.
STACKS = (
    (0, 0, OFFSET, (50, 50)),  # 1 main
    (1, 1, OFFSET, (300, 0)),  # 2 main;work
    (2, 2, OFFSET, (100, 0)),  # 3 main;work;helper
    (1, 2, OFFSET, (0, 150)),  # 4 main;helper
    (1, 3, 2, (100, 100)),  # 5 main;port, after an out
    (1, 3, OFFSET, (20, 20)),  # 6 main;port, elsewhere
    (1, 4, OFFSET, (30, 30)),  # 7 main;recurse
    (7, 4, OFFSET, (30, 30)),  # 8 main;recurse;recurse
    (8, 2, OFFSET, (20, 20)),  # 9 main;recurse;recurse;helper
    (1, 5, OFFSET, (100, 100)),  # hard names from here on
    (1, 6, OFFSET, (80, 80)),
    (1, 7, OFFSET, (60, 60)),
    (1, 8, OFFSET, (40, 120)),
    (1, 9, OFFSET, (30, 130)),
    (1, 10, OFFSET, (20, 80)),
)


def address(function, offset=OFFSET):
    return TEXT + function * FUNCTION_BYTES + offset


def put_half(made, half, times_work, divisor):
    """The stacks in turns, each as often as its weight."""
    left = [halves[half] // divisor for *_, halves in STACKS]
    left[1] *= times_work
    left[2] *= times_work
    while any(left):
        for i, count in enumerate(left):
            if count:
                made.sample(i + 1)
                left[i] -= 1


def put_stacks(made, times, divisor, stolen):
    """Two seconds at 1,000 Hz in two halves; in between, ticks are missed and
    samples dropped."""
    for i, (parent, function, offset, _) in enumerate(STACKS):
        made.node(i + 1, parent, address(function, offset))
    made.step = MS
    put_half(made, 0, times, divisor)
    if stolen:
        made.event("stolen", clocks=90 * MS)
    made.event("miss", ticks=7)
    made.event("drop", samples=5, clocks=5 * MS)
    put_half(made, 1, times, divisor)


def put_deep(made):
    for i in range(1, DEEPEST + 1):
        made.node(i, i - 1, address(4 if i < DEEPEST else 2))
    made.step = MS
    for _ in range(100):
        made.sample(DEEPEST)


def put_outside(made, masked):
    """ "main" is seen by both, the function (masked) has interrupts off. Before
    the first sample there is only "recurse", after the last one only
    "helper"."""
    boot = 0x0909090909090909
    for i, function in enumerate((0, 1, 2, masked, 4)):
        made.node(i + 1, 0, address(function))
    for ms in range(-100, INSIDE_MS + 200, 2):
        made.time = AHEAD + ms * MS + MS // 2
        masked = 500 <= ms < 600
        if ms > 0 and ms % 10 == 0:
            newest = min(ms, INSIDE_MS) * MS
            fields = {"boot": boot, "time_of_boot": boot}
            made.event("inside", newest=newest, **fields)
        if masked:
            made.event("masked")
        where = 5 if ms <= 0 else 3 if ms > INSIDE_MS else 1
        made.sample(4 if masked else where)


def put_own(made):
    """As often as all else is sampled: prof_drain, and helper that it calls."""
    first = len(STACKS) + 1
    made.node(first, 1, address(OWN))
    made.node(first + 1, first, address(2))
    for i in range(200):
        made.sample(first + i % 2)


def profile(*options):
    """Samples as STACKS has them. (options):

    more     the stacks of "work" have twice their samples
    none     they have none
    few      each stack has a tenth
    stolen   the host has taken 90 ms of the time before the gap
    deep     only samples of "helper" below "recurse" in "recurse", as deep as
             a stack may be
    own      200 samples more of the profiler's own; from outside, these have
             interrupts off
    outside  what is sampled from outside of the same guest: from 100 ms before
             its first sample to 200 ms after its last one
    """
    outside = "outside" in options
    made = Stream(boot=8 if outside else 9)
    made.time = AHEAD - 100 * MS if outside else 0
    made.begins(500_000 if outside else 1_000_000)
    if outside:
        put_outside(made, OWN if "own" in options else PORT)
    elif "deep" in options:
        put_deep(made)
    else:
        times = 2 if "more" in options else 0 if "none" in options else 1
        divisor = 10 if "few" in options else 1
        put_stacks(made, times, divisor, "stolen" in options)
    if "own" in options and not outside:
        put_own(made)
    made.step = 0
    made.event("bye")
    return made.data()


def pending(gap=False):
    """A task waits for a promise that nobody resolves, for six seconds. A mutex
    rests, and a task of another site is done. With (gap), events are lost in
    the middle, after which nothing mentions the first task and its promise."""
    made = Stream(step=10)
    put = made.event

    def create(number, kind, site):
        put("create_wide", object=number, object_kind=kind, site=site)

    def run(number):
        put("switch_wide", task=number)

    for number, line, text in (
        (1, 12, "client@services/made/client.c"),
        (2, 30, "answer@services/made/client.c"),
        (3, 7, "lock@services/made/lock.c"),
        (4, 5, "worker@services/made/worker.c"),
        (5, 0, "asks"),
    ):
        put("site", number=number, line=line, text=text)
    run(0)
    create(1, TASK, 1)
    run(1)
    create(2, PROMISE, 2)
    put("try_read_wide", source=2)
    put("suspend_wide", why=5)
    run(0)
    create(3, MUTEX, 3)
    if gap:
        made.step = 0
        put("lost", events=17)
    made.step = 6 * CLOCK_HZ
    create(4, TASK, 4)
    made.step = 1000
    run(4)
    put("resolve_wide", object=4)
    run(0)
    return made.data()


def interrupted():
    """A disk's interrupts leave their work to a callback. The first comes while
    the loop is idle, and 6 ms later the work is begun; the second while a task
    runs, which holds the loop: 16 ms. Then the timer's ends idleness, and the
    loop creates a promise. In the end the disk's comes once more, for which
    nothing runs."""
    made = Stream(step=0)
    put = made.event

    def after(ms, name, **fields):
        made.step = ms * (CLOCK_HZ // 1000)
        put(name, **fields)

    def run(ms, number):
        after(ms, "switch_wide", task=number)

    def interrupt(ms):
        after(ms, "irq_enter", vector=43)
        after(1, "defer_wide", object=1, vector=43)
        after(1, "irq_exit", vector=43)

    for number, line, text in (
        (1, 12, "disk@services/made/disk.c"),
        (2, 30, "worker@services/made/worker.c"),
        (3, 7, "answer@services/made/worker.c"),
        (4, 0, "idle"),
    ):
        put("site", number=number, line=line, text=text)
    run(0, 0)
    put("create_wide", object=1, object_kind=CALLBACK, site=1)
    put("create_wide", object=2, object_kind=TASK, site=2)
    put("suspend_wide", why=4)
    interrupt(10)
    run(2, 0)
    run(2, 1)
    run(4, 0)
    run(1, 2)
    interrupt(5)
    run(13, 0)
    run(1, 1)
    run(4, 0)
    after(1, "suspend_wide", why=4)
    after(10, "irq_enter", vector=32)
    after(1, "irq_exit", vector=32)
    run(1, 0)
    after(5, "create_wide", object=3, object_kind=PROMISE, site=3)
    after(0, "resolve_wide", object=3)
    after(10, "read_wide", source=3)
    interrupt(1)
    run(24, 2)
    run(0, 0)
    return made.data()


# Both sides of a guest with three CPUs, of which its profiler samples two.
SEVERAL_MS, JOINS_MS, OFF_MS = 1000, 200, (400, 500)


def _inside_cpu(made, cpu, by_nmi, marked):
    for ms in range(JOINS_MS if cpu else 0, SEVERAL_MS):
        is_off = cpu == 1 and OFF_MS[0] <= ms < OFF_MS[1]
        if is_off and not by_nmi:
            continue
        made.time = ms * MS
        if by_nmi and cpu == marked and OFF_MS[0] <= ms < OFF_MS[1]:
            made.event("irqs_off")
        made.sample(4 if is_off else 1 + cpu)


def _outside_cpu(made, cpu):
    boot = 0x0909090909090909
    for ms in range(-20, SEVERAL_MS, 2):
        made.time = AHEAD + ms * MS + MS // 2
        is_off = cpu == 1 and OFF_MS[0] < ms < OFF_MS[1]
        if cpu == 0 and ms > 0 and ms % 10 == 0:
            fields = {"boot": boot, "time_of_boot": boot}
            made.event("inside", newest=ms * MS, **fields)
        if is_off:
            made.event("masked")
        early = cpu == 1 and ms < JOINS_MS
        made.sample(3 if early else 4 if is_off else (1, 2, 5)[cpu])


def several(outside=False, by_nmi=False, marked=1):
    """CPU 0 is in "main". CPU 1 joins after 200 ms; before that it is in
    "helper", then in "work", and for 100 ms with interrupts off in "port",
    which only an NMI sees: the samples of CPU (marked) at that time say so.
    CPU 2, which does not join, is in "recurse"."""
    made = Stream(boot=8 if outside else 9)
    made.time = AHEAD - 20 * MS if outside else 0
    made.begins(500_000 if outside else 1_000_000)
    for i in range(5):
        made.node(i + 1, 0, address(i))
    for cpu in range(3 if outside else 2):
        made.on_cpu(cpu, made.time if cpu == 0 else AHEAD if outside else 0)
        if outside:
            _outside_cpu(made, cpu)
        else:
            _inside_cpu(made, cpu, by_nmi, marked)
    made.on_cpu(0, made.time + MS)
    made.event("bye")
    return made.data()
