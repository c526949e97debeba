# SPDX-License-Identifier: Apache-2.0
"""A stream of three CPUs whose every tick is known: what ran in parallel, who
waited for a lock that another one held, and who had interrupts off."""

from .proc import run
from .stream import CLOCK_HZ, TEXT, Stream

MS = CLOCK_HZ // 1000
US = CLOCK_HZ // 1_000_000
NAMES = ("main", "work", "lock", "holder", "serial", "hold_irqs", "inner")
NAMES += ("lock_other",)  # begins as another name does
FUNCTION_BYTES = 64  # of each function of the image
ERROR, UNKNOWN = 2000, 2**32 - 1  # cycles, at 2 GHz

# Nodes from 1 on: parent, function.
STACKS = ((0, "main"), *((1, name) for name in NAMES[1:6]), (6, "inner"))
STACKS += ((1, "lock_other"),)
WORK, LOCK, HOLDER, SERIAL, HOLD, INNER, OTHER = range(2, 9)
IDLE, NONE = 0, None

# How many ticks, what each CPU does in them, how late CPU 1 is.
PHASES = (
    (100, (WORK, WORK, WORK), 5),
    (1, (WORK, OTHER, WORK), 5),
    (199, (WORK, WORK, WORK), 5),
    (200, (SERIAL, IDLE, IDLE), 5),
    (100, (HOLDER, LOCK, LOCK), 5),
    (50, (HOLDER, LOCK, WORK), 5),
    (10, (LOCK, LOCK, LOCK), 5),
    (20, (IDLE, LOCK, IDLE), 5),
    (10, (IDLE, IDLE, HOLD), 5),
    (20, (IDLE, IDLE, INNER), 5),
    (40, (WORK, LOCK, IDLE), 300),  # too late to be joined
    (25, (LOCK, WORK, NONE), 5),  # a tick did not come to all
    (10, (WORK, WORK, WORK), 5),
)
OFF = {(0, 50)}  # CPU, tick: with interrupts off, beside all of hold_irqs
MERGED, DUPLICATES = 25, 3


def _ticks():
    """(what each CPU does, how late CPU 1 is) of each tick."""
    for count, doing, late in PHASES:
        yield from [(doing, late)] * count


def _put_cpu(made, cpu, marks):
    error = cpu * ERROR if marks or cpu < 2 else UNKNOWN
    made.event("cpu", number=cpu, offset=-1000 * cpu, error=error)
    for number, (doing, late) in enumerate(_ticks()):
        what = doing[cpu]
        if what is NONE:
            continue
        made.time = (number + 2) * MS + US * (0, late, 8)[cpu]
        if marks and (what in (HOLD, INNER) or (cpu, number) in OFF):
            made.event("irqs_off")
        if what == IDLE:
            made.event("idle")
        else:
            made.sample(what)
    if cpu == 2:
        made.event("nmi", duplicates=DUPLICATES, merged=MERGED)


def cpus(marks=True, count=3):
    """The bytes of the stream; without (marks) nobody has interrupts off, and
    nobody knows how wrong the clock of CPU 2 is."""
    made = Stream()
    made.begins()
    for i, (parent, name) in enumerate(STACKS):
        made.node(i + 1, parent, TEXT + NAMES.index(name) * FUNCTION_BYTES + 8)
    for cpu in range(count):
        made.on_cpu(cpu, MS)
        _put_cpu(made, cpu, marks)
    made.on_cpu(0, (sum(phase[0] for phase in PHASES) + 3) * MS)
    made.event("bye")
    return made.data()


def wild():
    """Times that no guest has. Those of CPU 1 go back by 2 ms while it has
    interrupts off; CPU 0's go on to the largest ones."""
    made = Stream()
    made.begins()
    made.node(1, 0, TEXT + 8)

    def sample_off(time):
        made.time = time
        made.event("irqs_off")
        made.sample(1)

    made.on_cpu(1, 2000 * MS)
    made.sample(1)
    sample_off(2005 * MS)
    made.on_cpu(1, 2003 * MS)
    sample_off(2003 * MS)
    for time in (6000 * MS, 2**63):
        made.on_cpu(0, time)
        sample_off(time)
    return made.data()


FUNCTION = """\
.globl {0}
.type {0}, @function
{0}:
    .skip 63, 0x90
    ret
.size {0}, 64
"""


def image(folder):
    """Made in (folder): what the samples are of."""
    made, source = folder / "image", folder / "image.s"
    source.write_text(".text\n" + "".join(map(FUNCTION.format, NAMES)))
    run(
        *("gcc", "-nostdlib", "-static", "-no-pie", "-o", made),
        *("-Wl,-Ttext=0x100000", "-Wl,--build-id=none", "-Wl,-e,main"),
        *("-Wl,-z,noexecstack", source),
    )
    return made
