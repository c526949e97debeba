# SPDX-License-Identifier: Apache-2.0
"""Profiles against the truth. Guests run by the instruction counter, where the
timer's ticks come at exact virtual times and a run repeats to the instruction,
with a plugin that counts what is executed in each function; so profile and
truth are of the same run.

Each run is compared by itself; the last part judges all of them together, and
writes a picture and a table into its folder. With FULL=1 all scripts run at
several rates, all generated programs and both servers at both widths, and
`make renew-docs` may put both into docs.
TRUTH_RUNS='i386-lua-* *-split-*' makes only those runs; docs stay as they are
then. TRUTH_SEED=1 samples at other times."""

from guests import accounts, python
from harness.suite import WIDTHS
from workloads import FULL, SOME, SUBJECTS, judged, runs

RUNS = tuple(f"{width}-{subject}" for width in WIDTHS for subject in SUBJECTS)
PARTS = (*RUNS, *(f"{width}-accounts" for width in WIDTHS), "judged")
AFTER = {"judged": RUNS}


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
    with s.test("a picture and a table are made"):
        table = python("judge.py", "table", *found).out
        (s.work / "table").write_text(table, encoding="utf-8")
        python("docs.py", s.work, *found)
        whole = s.work / "whole"  # for `make renew-docs`
        whole.unlink(missing_ok=True)
        if FULL and SOME == ["*"]:
            whole.write_text("\n".join(map(str, found)), encoding="utf-8")


def suite(s):
    if s.part == "judged":
        test_judged(s)
        return
    width, subject = s.part.split("-")
    if subject == "accounts":
        test_accounts(s, width)
    else:
        test_runs(s, width, subject)
