# SPDX-License-Identifier: Apache-2.0
"""Profiles against the truth. Guests run by the instruction counter, where the
timer's ticks come at exact virtual times and a run repeats to the instruction,
with a plugin that counts what is executed in each function; so profile and
truth are of the same run.

Several CPUs run in real time, where their own program says what they do
(cpus.py).

Each run is compared by itself; the last part judges all of them together, and
writes a picture and a table into its folder. With FULL=1 all scripts run at
several rates, all generated programs and both servers at both widths, and
`make renew-docs` may put both into docs.
TRUTH_RUNS='i386-lua-* *-split-*' makes only those runs; docs stay as they are
then. TRUTH_SEED=1 samples at other times."""

import cpus
from guests import Sampled, accounts, python
from harness.suite import FULL, WIDTHS
from workloads import (
    SOME,
    SUBJECTS,
    TimerRun,
    judged,
    runs,
    timed,
    timer_runs,
)

RUNS = tuple(f"{width}-{subject}" for width in WIDTHS for subject in SUBJECTS)
TIMED = tuple(f"{width}-timers" for width in WIDTHS)
PARTS = (
    *RUNS,
    *(f"{width}-{of}" for width in WIDTHS for of in ("accounts", "cpus")),
    *TIMED,
    "judged",
)
# how many CPUs there are, in `make test` and in all; more than eight share the
# logical destinations of an NMI
SOME_CPUS = {"i386": (2,), "x86_64": (4,)}
MANY_CPUS = {"i386": (9,), "x86_64": (16,)}
AFTER = {"judged": (*RUNS, *TIMED)}


def make(s, one):
    s.work.joinpath(f"{one.name}.compared").unlink(missing_ok=True)
    one.make(s, one.name)


def test_accounts(s, width):
    s.holds(
        f"{width}: the accounts hold every tick, whatever happens",
        *(accounts, s, width, 997),
    )


def test_runs(s, width, subject):
    for one in runs(width, subject):
        s.holds(one.what, make, s, one)


def run_timers(s, run, status=0):
    """Its .timers, what timers.py says of it."""
    one = Sampled(s, run.name, run.width, "test/timer_share_is_true", 1000)
    one.watch(
        f"prof.start=off prof.every=0 prof.seed={one.seed} {run.words}",
        status=status,
    )
    done = python(
        "timers.py",
        "compare",
        *(one.image, one.file("json"), one.parasite.path, one.file("trace")),
    )
    one.file("timers").write_bytes(done.data)


def test_timers(s, width):
    for one in timer_runs(width):
        what = f"{width}: work that timers start is counted: {one.words}"
        s.holds(what, run_timers, s, one)
    # There such work is over before the next sample.
    with s.test(f"{width}: and is missed where the kernel's tick starts it"):
        wrong = TimerRun(width, "long", "tick", "work=long alarm=tick")
        run_timers(s, wrong, 1)
        python("timers.py", "doubt", s.work / f"{wrong.name}.timers")


def test_judged(s):
    found = judged(s.work.parent)
    steady = [path for path, one in found.items() if one.steady]

    def holds(what, test, paths=tuple(found), shown=False):
        with s.test(what):
            said = python("judge.py", test, *paths)
            for line in said.lines() if shown else ():
                s.note(line)

    holds("every tick is a sample, and every call was followed", "ticks")
    holds("instructions are nanoseconds", "time", steady)
    holds("no stack is one that never was", "chains")
    holds(
        "shares miss the truth by chance alone, no more and no less",
        "chance",
        shown=True,
    )
    holds(
        "intervals are as wide as they must be for samples of this kind",
        "promise",
        shown=True,
    )
    holds(
        "and no function is favoured by all runs together",
        "bias",
        shown=True,
    )
    holds(
        "and the test finds out errors that are too small or too large",
        "doubt",
    )
    holds("nor does it where ideal samplers are judged", "calm", shown=True)
    by_timers = timed(s.work.parent)
    if by_timers:
        with s.test("work that timers start has its share"):
            for line in python("timers.py", "judge", *by_timers).lines():
                s.note(line)
    with s.test("a picture and a table are made"):
        table = python("judge.py", "table", *found).out
        if by_timers:
            table += "\n" + python("timers.py", "table", *by_timers).out
        (s.work / "table").write_text(table, encoding="utf-8")
        python("docs.py", s.work, *found, *by_timers)
        whole = s.work / "whole"  # for `make renew-docs`
        whole.unlink(missing_ok=True)
        if FULL and SOME == ["*"]:
            whole.write_text(
                "\n".join(map(str, [*found, *by_timers])), encoding="utf-8"
            )


def suite(s):
    if s.part == "judged":
        test_judged(s)
        return
    width, subject = s.part.split("-")
    if subject == "accounts":
        test_accounts(s, width)
    elif subject == "cpus":
        for count in (2, 4, 8) if FULL else SOME_CPUS[width]:
            cpus.some(s, width, count)
        for count in (9, 16) if FULL else MANY_CPUS[width]:
            cpus.many(s, width, count)
    elif subject == "timers":
        test_timers(s, width)
    else:
        test_runs(s, width, subject)
