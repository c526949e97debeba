# SPDX-License-Identifier: Apache-2.0
"""tests/plan.txt: which tests there are, and how many checks each makes.

A line has the number of checks, the approximate duration in seconds, and the
name of the test; "*" in it stands for both widths, where the number of checks
is the same. It is a failure if a test is not in the plan, if it makes a
different number of checks, or if it is in the plan and does not exist.
`make test-plan` writes the file."""

import re
from pathlib import Path

from . import host

PATH = "tests/plan.txt"
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
#
# What must be run: checks, seconds (for the order only), test ("*": i386 and
# x86_64, or unit32 and unit64). Written by `make test-plan`, read by
# tests/harness/plan.py.
"""


def widths_of(name):
    """The two names that (name) with a "*" stands for."""
    two = ("32", "64") if name.startswith("unit") else ("i386", "x86_64")
    return [name.replace("*", width, 1) for width in two]


def any_width(name):
    """(name) with "*" for its width; itself if it has none."""
    return re.sub(r"i386|x86_64|(?<=^unit)(?:32|64)", "*", name, count=1)


def read(path=PATH):
    """{name: (checks, seconds)}"""
    entries = {}
    if Path(path).exists():
        for line in Path(path).read_text(encoding="ascii").splitlines():
            if line and not line.startswith("#"):
                checks, seconds, name = line.split(None, 2)
                for each in widths_of(name) if "*" in name else [name]:
                    entries[each] = int(checks), int(seconds)
    return entries


def folded(entries):
    """(entries) with one for both widths, where they make as many checks."""
    new = dict(entries)
    for name in entries:
        both = any_width(name)
        two = widths_of(both)
        if "*" not in both or not all(each in new for each in two):
            continue
        (checks, seconds), (others, seconds_too) = (new[each] for each in two)
        if checks == others:
            new[both] = checks, max(seconds, seconds_too)
            for each in two:
                del new[each]
    return new


def write(entries, path=PATH):
    lines = [
        f"{checks:4} {seconds:4} {name}\n"
        for name, (checks, seconds) in sorted(folded(entries).items())
    ]
    Path(path).write_text(HEAD + "".join(lines), encoding="ascii")


def updated(entries, existing, done):
    """(entries) updated with (done), {name: (checks, seconds)}, without tests
    that are not (existing). A duration is kept if it is of the right order of
    magnitude, so that the file changes only with the tests."""
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
    """What is wrong with the number of checks, or None."""
    if name not in entries:
        return "not in tests/plan.txt (add it with make test-plan)"
    wanted = entries[name][0]
    cut_short = any(host.NO_32_BIT in why for why in results.skipped)
    if cut_short and results.done <= wanted:
        return None
    if results.done != wanted:
        return (
            f"{results.done} checks, while tests/plan.txt has {wanted} "
            "(if that is right: make test-plan)"
        )
    return None
