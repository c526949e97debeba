# SPDX-License-Identifier: Apache-2.0
"""The curves of curves.txt: what each one shows, and its bounds."""

from collections import namedtuple
from pathlib import Path

# name as in the JSON lines; words; unit; meaning of x; bounds (fit.py), each a
# pair; noisy: a time of this host, which differs from run to run.
Curve = namedtuple("Curve", "name words unit x bounds noisy")


def command(name, words, x, power):
    """The cost of one command, in three units."""
    for unit, suffix, what, more in (
        ("instructions", "_instructions", "", 0),
        ("s", "_seconds", ": time", 0.1),
        ("KiB", "_held", ": most memory held", 0),
    ):
        bounds = (("power", power + more),)
        yield Curve(name + suffix, words + what, unit, x, bounds, unit == "s")


def read(path):
    """[(title, [Curve])]"""
    groups = []
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("["):
            group_x, title = line[1:].split("] ")
            groups.append((title, []))
        elif line and not line.startswith("#"):
            name, words, unit, bounds, *x = line.split(" | ")
            bounds = tuple(
                (kind, float(limit))
                for kind, limit in map(str.split, bounds.split(", "))
            )
            x = x[0] if x else group_x
            groups[-1][1].extend(
                command(name, words, x, bounds[0][1])
                if unit == "command"
                else [Curve(name, words, unit, x, bounds, False)]
            )
    return groups


GROUPS = read(Path(__file__).with_name("curves.txt"))
CURVES = [curve for _, group in GROUPS for curve in group]
