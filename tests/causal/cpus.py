# SPDX-License-Identifier: Apache-2.0
"""Programs on two CPUs of which a part really is faster, beside those in which
it is on a virtual clock for each CPU, and beside one clock, which is about the
first CPU: the guest causal_cpus. Without an instruction counter, which is not
fair to several CPUs; so these ways of running take turns, and intervals say
what the host leaves open."""

import re
from dataclasses import dataclass
from math import sqrt

from harness.guest import Guest, GuestError

CPUS = 2
OFF = "prof.start=off prof.every=0 prof.drain=10000"
BLOCKS, VISITS = 32, 100  # of a row, and of each of its eight turns
GROUPS = 16  # of blocks: what is left out at a time
STUDENT = 2.131  # 95 %, with one degree of freedom less than groups
ERROR_MAX = 2.0  # percentage points, or the interval of the error
# As unlikely as 4.5 standard errors of a normal distribution, if the standard
# error has 15 degrees of freedom. In intervals:
EVER = 6.75 / STUDENT
TURNS = r"(\d+) (\d+) "
BLOCK = re.compile(rf"^# {TURNS * 4}(\d+) (\d+) (\w+) (.*)$", re.M)
HEADING = (
    f"{'program, part':28} {'%':>3} {'truth':>15} {'a clock for each':>16} "
    f"{'off by':>15} {'one clock':>9} {'slower':>7}"
)


@dataclass
class Block:
    """Cycles and units of work as it is, really faster, as it is with clocks,
    and faster on them; cycles of the first CPU in the part."""

    cycles: tuple
    visits: tuple
    first: int


def period(blocks, way):
    return sum(each.cycles[way] for each in blocks) / sum(
        each.visits[way] for each in blocks
    )


def gain(blocks, way, faster):
    return 100 * (1 - period(blocks, faster) / period(blocks, way))


def jackknife(blocks, figure):
    """The figure, and its interval to either side."""
    size = len(blocks) / GROUPS
    without = [
        figure(blocks[: int(i * size)] + blocks[int((i + 1) * size) :])
        for i in range(GROUPS)
    ]
    mean = sum(without) / GROUPS
    spread = sum((each - mean) ** 2 for each in without)
    return figure(blocks), STUDENT * sqrt(spread * (GROUPS - 1) / GROUPS)


class Row:
    """One part of one program at one speed-up."""

    def __init__(self, name, percent, blocks):
        self.name, self.percent = name, percent
        self.truth = jackknife(blocks, lambda of: gain(of, 0, 1))
        self.predicted = jackknife(blocks, lambda of: gain(of, 2, 3))
        self.error = jackknife(
            blocks, lambda of: gain(of, 2, 3) - gain(of, 0, 1)
        )
        self.slower = -gain(blocks, 0, 2)
        self.one_clock = (
            percent
            * sum(each.first for each in blocks)
            / sum(each.cycles[2] for each in blocks)
        )

    def good(self, wider=1):
        error, interval = self.error
        return abs(error) <= max(ERROR_MAX, wider * interval)

    def __str__(self):
        figures = " ".join(
            f"{value:6.2f} +- {interval:5.2f}"
            for value, interval in (self.truth, self.predicted, self.error)
        )
        return (
            f"{self.name:28} {self.percent:3} {figures} "
            f"{self.one_clock:9.2f} {self.slower:7.2f}"
        )


def read(text):
    """The rows of what a guest has printed, in its order."""
    found = {}
    for match in BLOCK.finditer(text):
        numbers = [int(each) for each in match.groups()[:10]]
        key = f"{match[12]}: {match[11]}", numbers[9]
        block = Block(tuple(numbers[0:8:2]), tuple(numbers[1:8:2]), numbers[8])
        found.setdefault(key, []).append(block)
    return [Row(*key, blocks) for key, blocks in found.items()]


def rows(build, width, **limits):
    """Runs the guest, which must see both CPUs in the order of virtual time."""
    folder = build / "smp" / width / "test"
    with Guest(
        folder / "causal_cpus/causal_cpus.elf",
        width,
        folder / "causal_cpus-table.log",
        append=f"{OFF} causal.blocks={BLOCKS} causal.visits={VISITS}",
        args=["-smp", str(CPUS)],
        **limits,
    ) as guest:
        if guest.end() != 0:
            raise GuestError(guest.text())
        return read(guest.text())
