# SPDX-License-Identifier: Apache-2.0
"""A guest whose functions are patched while all else looks at it: what the
recorder, the sampler, the loop's guard and a panic say of it."""

import itertools
import re

from harness.command import Command
from harness.suite import check

WORDS = (
    "prof.hz=5000 prof.trace=stream prof.trace_stacks=32 prof.trace_kb=4096 "
    "prof.loop=20 prof.loop_freeze=50 prof.every=0"
)
ROUNDS = 2000
NS = {"works_half": 100000, "works_third": 60000, "works_rest": 40000}
HOOKS = "prof_patch_(entries|returns)"
COUNTER = re.compile(
    r" (\d+\.\d+) \[\d+\] counter: (real|virtual) = (\d+)$", re.M
)


class Beside:
    """A recording of one, and its console."""

    def __init__(self, s):
        self.parasite, self.path = Command(s), s.work / "beside.trace"
        done = self.parasite.record(
            *(self.path, "-q", "-t", "virtio"),
            *self.parasite.machine(
                *(s.part, "test/causal_beside", WORDS, "-serial", "stdio"),
                icount=0,
            ),
            status=101,
        )
        self.console = done.text.replace("\r", "")

    def lines(self, begin):
        """Names of functions in the lines after the one that (begin)s so."""
        text = self.console[self.console.index(begin) :].splitlines()[1:]
        rows = itertools.takewhile(lambda row: " 0x" in row, text)
        return [re.split(r" ?\+", row.split()[-1])[0] for row in rows]


def waits_have_callers(s, beside):
    picture = s.work / "beside.svg"
    beside.parasite("flame", "-q", "--wait", beside.path, "-o", picture)
    text = picture.read_text(encoding="utf-8")
    boxes = re.findall(r"<title>(.*): [\d.]+ %, ([\d,]+) wait", text)
    names = [name for name, _ in boxes]
    check.same(
        names[1:8],
        ["[task serve]", "arch_context_begin", "task_main", "serve"]
        + ["waits_inside", "task_await", "task_wait"],
    )
    count = int(dict(boxes)["waits_inside"].replace(",", ""))
    check.true(count >= ROUNDS, count)
    check.lacks(text, HOOKS)


def freezes_have_callers(beside):
    check.same(
        beside.lines("loop: held for")[:5],
        ["spins", "holds", "calls_holds", "on_hold", "run_first"],
    )


def panics_have_callers(beside):
    rows = beside.console[beside.console.index("panic: as it should") :]
    found = re.findall(r"^  #\d+ +0x[0-9a-f]+  (\S+) \+ 0x", rows, re.M)
    check.same(found[:4], ["dies", "calls_dies", "on_hold", "run_first"])
    check.lacks(rows, "incomplete")


def times_are_real(beside):
    """The recorder's, while virtual time lags more and more."""
    check.has(beside.parasite("info", "--check", beside.path).out, ": 0 prob")
    rows = COUNTER.findall(
        "\n".join(beside.parasite("script", beside.path).lines())
    )
    real = [(float(t), int(v)) for t, name, v in rows if name == "real"]
    virtual = [int(v) for _, name, v in rows if name == "virtual"]
    check.same((len(real), len(virtual)), (ROUNDS, ROUNDS))
    for at, value in real:
        off = at - real[0][0] - (value - real[0][1]) / 1e9
        check.true(abs(off) < 1e-6, (at, off))
    lags = [r - v for (_, r), v in zip(real, virtual)]
    check.true(all(a <= b + 1000 for a, b in itertools.pairwise(lags)), lags)
    check.true(lags[-1] - lags[0] > 10e6, lags)


def shares_are_true(beside):
    """In three times their interval: the program does the same again and
    again, so that its samples depend on each other, and vary by more than those
    at random."""
    found = beside.parasite.report(beside.path)
    rows = {row["symbol"]: row for row in found["rows"]}
    check.same([name for name in rows if re.match(HOOKS, name)], [])
    for name, ns in NS.items():
        truth = 100 * ROUNDS * ns / found["ns"]
        got = rows[name]["self_percent"]
        low = got - 3 * (got - rows[name]["self_percent_low"])
        high = got + 3 * (rows[name]["self_percent_high"] - got)
        check.between(truth, low, high)


def callers_are_true(beside):
    """But for a sample that hits the one instruction of an entry at which a
    function without a frame of its own has half of one."""
    right = wrong = 0
    for names, samples in beside.parasite.folded(beside.path):
        for name in ("works_half", "works_third"):
            if name not in names:
                continue
            if names[names.index(name) - 1] == "waits_inside":
                right += samples
            else:
                wrong += samples
    check.true(right > 1000, right)
    check.true(wrong <= 1, (right, wrong))


def test_beside(s):
    beside = None
    with s.test("functions are patched beside all else"):
        beside = Beside(s)
        check.has(beside.console, "^panic: as it should")
    s.holds(waits_have_callers, s, beside)
    s.holds(freezes_have_callers, beside)
    s.holds(panics_have_callers, beside)
    s.holds(times_are_real, beside)
    s.holds(shares_are_true, beside)
    s.holds(callers_are_true, beside)
