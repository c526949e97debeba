# SPDX-License-Identifier: Apache-2.0
"""Where QEMU's emulator lets a guest be stopped: what that does to shares."""

import bisect
import math
from collections import Counter
from pathlib import Path

from harness.suite import background, check, given_time, run

HERE = Path(__file__).parent
LEAST = 1000  # samples
FAR = 0.3  # what no chance explains
NEAR = 0.05  # what the emulator's time an instruction may add to it


def shares(counts):
    whole = check.true(sum(counts.values()))
    return Counter({name: count / whole for name, count in counts.items()})


def plugin(s):
    made = s.work / "stops.so"
    words = ("-shared", "-fPIC", "-O2", "-Itests/truth", "-o", made)
    run("gcc", *words, HERE / "stops.c")
    return made


def functions(image):
    """(start, name) of the functions of an image, by rising start."""
    rows = [line.split() for line in run("nm", image).lines()]
    return sorted(
        (int(row[0], 16), row[2])
        for row in rows
        if row[1] in "tT" and "." not in row[2]
    )


def counted(s, image, machine, seconds):
    """Shares of the instructions of (machine), which runs (image): of those in
    each function, and of those in blocks before a block of it."""
    out = s.work / "stops.out"
    out.unlink(missing_ok=True)
    words = ("-plugin", f"{plugin(s)},out={out}")
    with background(
        *("timeout", seconds, *machine, *words), log=s.work / "stops.log"
    ) as counting:
        counting.end(124)  # it never ends by itself
    check.true(out.exists(), "it was ended before it had counted anything")
    known = functions(image)
    starts = [start for start, _ in known]
    own, before = Counter(), Counter()
    for line in out.read_text().splitlines():
        address, of_block, of_last = line.split()
        at = bisect.bisect_right(starts, int(address, 16)) - 1
        if at >= 0 and int(address, 16) < starts[-1] + 4096:
            own[known[at][1]] += int(of_block)
            before[known[at][1]] += int(of_last)
    return check_of_blocks(shares(own), shares(before))


def check_of_blocks(own, before):
    """What must be so of the two."""
    check.true(own["straight"] > FAR > own["work"] + NEAR, own)
    check.between(before["straight"], 0, NEAR, before)
    check.true(before["turns"] > FAR, before)
    return own


def sampled(attach, known, machine):
    """Shares of the samples in each of the (known) functions."""

    def found():
        counts = Counter()
        for names, samples in attach.parasite.folded(attach.trace):
            if names[-1] in known:
                counts[names[-1]] += samples
        return counts

    attach.until(lambda: found().total() >= LEAST, "-q", "-F", 4000, *machine)
    return shares(found())


def stops(s, attach, image):
    """A function that is one block has the time of what runs before it, and
    its own is that of what runs after it."""
    machine = (
        *(f"qemu-system-{s.part}", "-accel", "tcg", "-display", "none"),
        *("-monitor", "none", "-nic", "none", "-m", 16, "-kernel", image),
    )

    with s.test("QEMU's emulator stops between blocks"):
        own = given_time(lambda t: counted(s, image, machine, t))
        found = sampled(attach, own, ("--", *machine))
        s.measured(f"executed {own}, stopped at {found}")
        chance = 4.5 * math.sqrt(NEAR * (1 - NEAR) / LEAST)
        check.between(found["straight"], 0, NEAR + chance, found)
        check.true(found["work"] > FAR and found["turns"] > FAR / 2, found)
