# SPDX-License-Identifier: Apache-2.0
"""tests/plan.txt: which tests there are, and how many checks each makes.

A line has the number of checks, roughly how long the test takes in seconds,
and its name. A test that is not there, that makes another number of checks,
or that is there and was not run, is a failure. `make test-plan` writes the
file."""

from pathlib import Path

PATH = "tests/plan.txt"
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
#
# What must be run: checks, seconds (for the order only), test. Written by
# `make test-plan`, read by tests/harness/plan.py.
"""


def read(path=PATH):
    """{name: (checks, seconds)}"""
    entries = {}
    if Path(path).exists():
        for line in Path(path).read_text(encoding="ascii").splitlines():
            if line and not line.startswith("#"):
                checks, seconds, name = line.split(None, 2)
                entries[name] = int(checks), int(seconds)
    return entries


def write(entries, path=PATH):
    lines = [
        f"{checks:4} {seconds:4} {name}\n"
        for name, (checks, seconds) in sorted(entries.items())
    ]
    Path(path).write_text(HEAD + "".join(lines), encoding="ascii")


def updated(entries, existing, done):
    """(entries) with those results in (done), {name: (checks, seconds)},
    without tests that are not (existing). A duration is kept while it is of
    the right order, so that the file changes with the tests only."""
    new = {n: e for n, e in entries.items() if n in existing}
    for name, (checks, seconds) in done.items():
        known = new.get(name, (0, 0))[1]
        about = max(1, round(seconds))
        if known and (
            abs(about - known) <= 10 or known / 2 <= about <= known * 2
        ):
            about = known
        new[name] = checks, about
    return new


def problem(entries, name, results):
    """What is wrong with the number of checks that were made, or None."""
    if name not in entries:
        return "not in tests/plan.txt (make test-plan adds it)"
    wanted = entries[name][0]
    if results.done != wanted:
        return (
            f"{results.done} checks, while tests/plan.txt has {wanted} "
            "(make test-plan, if that is right)"
        )
    return None
