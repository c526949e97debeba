# SPDX-License-Identifier: Apache-2.0
"""`parasite flame` of two traces: one guest, sampled by its own profiler and
from outside at once, on one clock. The guest (tests/guest/profiler/both_sides)
works before its profiler samples, with interrupts off, and hangs at last. With
two CPUs the other one is halted meanwhile, and both are sampled, each by its
own local APIC's timer."""

import re
import shutil
import signal

from harness.command import Command
from harness.suite import WIDTHS, Failed, background, check, given_time
from page import Page

SEVERAL = {f"{width}-cpus": (width, 2) for width in WIDTHS}
PARTS = (*WIDTHS, *SEVERAL)
LEAST = 12  # samples of a function from outside
PARTS_OF_IT = {  # function: why only the outside sees it
    "work_early": "before its first sample",
    "work_masked": "interrupts off",
    "hang": "after its last sample",
}


class Both:
    def __init__(self, s):
        self.s, self.parasite = s, Command(s)
        self.width, self.cpus = SEVERAL.get(s.part, (s.part, None))
        self.image = s.image(self.width, "test/both_sides", self.cpus)
        self.inside, self.outside = s.work / "in.trace", s.work / "out.trace"

    def record(self, seconds, outside=None):
        """Both traces of a run until it has hung for a while; its parts take
        a tenth of so many seconds, without pauses."""
        outside = outside or self.outside
        stream, console = self.s.work / "stream", self.s.work / "console"
        shutil.rmtree(outside, ignore_errors=True)
        console.write_text("")
        machine = self.parasite.machine(
            *(self.width, "test/both_sides"),
            "prof.start=off prof.out=e9 prof.hz=1000 prof.every=0 "
            f"part={seconds * 100}{' prof.tick=lapic' * bool(self.cpus)}",
            *("-debugcon", f"file:{stream}", "-serial", f"file:{console}"),
            cpus=self.cpus,
        )
        words = (
            "attach",
            "--timeout",
            120,
            "-F",
            300,
            "--pause-budget",
            "30%",
            "-o",
            outside,
        )
        with background(
            *(self.s.parasite, *words, *machine), log=self.s.work / "attach.log"
        ) as sampling:
            sampling.soon(
                lambda: "both: hangs" in console.read_text(errors="replace"),
                "the end of the guest's work",
            )
            there = self.samples(outside)
            sampling.soon(
                lambda: self.samples(outside) > there + 3 * LEAST,
                "samples of where it hangs",
            )
            sampling.signal(signal.SIGINT)
            sampling.end()
        self.parasite.record(
            *(self.inside, "-q", "-k", self.image, f"file:{stream}")
        )

    def samples(self, trace):
        return self.parasite.info(trace)["samples"] or 0

    def drawn(self, *words, **options):
        page = self.s.work / "both.html"
        said = self.parasite("flame", "-o", page, *words, **options).err
        return Page(page) if not options.get("status") else None, said

    def look(self, seconds):
        self.record(seconds)
        page, said = self.drawn(self.inside, self.outside)
        kinds = page.kinds_of_functions()
        for function, why in PARTS_OF_IT.items():
            found = kinds.get(function, {})
            total = sum(found.values())
            if total < LEAST:
                raise Failed(f"{function}: {total} samples; {said}")
            check.true(found.get(why, 0) >= 0.9 * total, f"{function}: {found}")
            check.has(said, rf"only outside: .*{why} [0-9.]+ %")
        return page, said


def clocks(page, said):
    """What is said of the clock is what the page knows, and plausible."""
    found = re.search(r"by (\d+) readings: .* ([\d.]+) ms \(median", said)
    check.true(found, said)
    head = page.head["both"]
    check.same(int(found[1]), head["readings"])
    check.near(float(found[2]), head["error"] / 1e4, 0.01)
    check.true(0 < head["error"] <= head["worst"], head)
    check.same(head["ended"], False)
    times = page.changes("outside.time")
    check.true(times == sorted(times))
    check.between(times[-1], 0, page.head["clocks"] + 1)


def windows(page):
    """Without samples inside: at the beginning, at the end, and in between."""
    names = page.head["both"]["kinds"]
    kinds = [names[kind] for kind in page.plain("window.kind")]
    starts = page.changes("window.from")
    ends = [
        start + length
        for start, length in zip(starts, page.plain("window.length"))
    ]
    check.same(kinds[0], "before its first sample")
    check.same(starts[0], 0)
    check.same(kinds[-1], "after its last sample")
    check.true(ends[-1] >= page.head["clocks"], ends)
    check.contains(kinds, "interrupts off")
    inside = page.changes("sample.time")
    for kind, start, end in zip(kinds, starts, ends):
        within = [time for time in inside if start < time < end]
        check.true(not within, f"{kind}: {len(within)} samples")


def each_cpu(page):
    """Both sides have samples of both CPUs, all that works is on the first one,
    and the times without samples inside are each CPU's own."""
    outside = page.plain("outside.cpu")
    inside = page.plain("sample.cpu")
    check.same(sorted(set(outside)), [0, 1])
    check.same(sorted(set(inside)), [0, 1])
    names = page.outside_functions()
    works = {*PARTS_OF_IT, "work_seen"}
    check.same({cpu for cpu, name in zip(outside, names) if name in works}, {0})
    lost = {cpu: 0 for cpu in outside}
    times = page.changes("sample.time")
    for cpu, start, length in zip(
        page.plain("window.cpu"),
        page.changes("window.from"),
        page.plain("window.length"),
    ):
        lost[cpu] += 1
        within = [
            time
            for time, of in zip(times, inside)
            if of == cpu and start < time < start + length
        ]
        check.true(not within, f"CPU {cpu}: {len(within)} samples")
    # before the first one, and after the last
    check.true(min(lost.values()) >= 2, lost)


def mistakes(s, both):
    with s.test("traces that are not both sides are refused"):
        _, said = both.drawn(both.inside, both.inside, status=1)
        check.has(said, "neither .* has readings of the other's clock")
        for words in (
            (both.inside, both.outside, both.inside),
            ("--svg", both.inside, both.outside),
            ("--wait", both.inside, both.outside),
            ("--time", "0,1", both.inside, both.outside),
            ("--diff", both.inside, both.inside, both.outside),
        ):
            both.drawn(*words, status=2)

    with s.test("traces of two boots have no common clock"):
        both.record(1, both.s.work / "other.trace")
        _, said = both.drawn(both.inside, both.outside, status=1)
        check.has(said, "not of the same boot")


def suite(s):
    both = Both(s)
    with s.test("what only the outside sees is found"):
        page, said = given_time(both.look)
        s.measured(f"{said.strip().splitlines()[-2]}")
    with s.test("how far the clocks agree is stated"):
        clocks(page, said)
    if both.cpus:
        s.holds("both sides have each CPU", each_cpu, page)
        return
    with s.test("times without samples inside are marked"):
        windows(page)
    with s.test("the order of the traces does not matter"):
        again, same = both.drawn(both.outside, both.inside)
        check.same(same.splitlines()[1:], said.splitlines()[1:])
        check.same(again.head["both"], page.head["both"])
    if both.width == "x86_64":  # only the host is asked
        mistakes(s, both)
