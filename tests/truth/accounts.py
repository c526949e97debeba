# SPDX-License-Identifier: Apache-2.0
"""accounts.py IMAGE CONSOLE TRUTH TICKS PARASITE TRACE: whether the closing
rows of each report on the CONSOLE of
tests/guest/profiler/ticks_are_accounted, and the TRACE of the same run,
account exactly for the ticks that the plugin counted.
Prints what it compares; ends with 1 where something differs.

Each report was printed while nothing was sampled, just before a mark of the
plugin's. What the ticks were is known as well, from where they came: idle,
unresolved, after an instruction that turns interrupts on, or in a function.
Where some were dropped, their kinds are lost and their number is not. Those in
the profiler have a row of their own, whichever of the last two they are.
"""

import json
import re
import sys

import sampled
from symbols import Functions

ROWS = "attributed", "masked", "idle", "unresolved", "dropped", "queued", "all"
NAMED = "attributed", "masked"
OWN = re.compile(r" +(\d+)    in the profiler, and in no share")


def reports(path):
    """(what, counts by the row's first word) of each part; (what, None) where
    all counts were reset."""
    found = []
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            part = re.match(r"part: (.*)$", line.rstrip("\r\n"))
            row = re.match(r" *\d+\.\d\d % +(\d+)    (\w+)", line)
            own = OWN.match(line)
            if part:
                found.append((part[1], {} if part[1] != "reset" else None))
            elif row and found and row[2] in ROWS:
                found[-1][1][row[2]] = int(row[1])
            elif own and found:
                found[-1][1]["own"] = int(own[1])
    return found


class Truth:
    """What the plugin saw."""

    def __init__(self, image, truth_path, ticks_path):
        functions = Functions(image)
        with open(truth_path, encoding="ascii") as file:
            truth = json.load(file)
        self.ticks, self.marks = truth["ticks"], truth["marks"]
        self.kinds = []
        with open(ticks_path, encoding="ascii") as file:
            for line in file:
                group = functions.group_at(int(line.split()[0], 16))
                self.kinds.append(
                    "unresolved"
                    if group is None
                    else "idle"
                    if functions.name(group) == "arch_idle"
                    else "named"
                )

    def between(self, begin, end):
        """Counts by row, from one mark to another."""
        ticks = slice(self.marks[begin][0], self.marks[end][0])
        kinds = self.kinds[ticks]
        masked = self.marks[end][1] - self.marks[begin][1]
        return {
            "all": len(kinds),
            "masked": masked,
            "idle": kinds.count("idle"),
            "unresolved": kinds.count("unresolved"),
            "attributed": kinds.count("named") - masked,
        }


def differs(said, true, dropped_before):
    """The rows that are wrong."""
    rows = [row for row in ROWS if row not in ("all", "queued")]
    wrong = []
    own = said.get("own", 0)
    in_all = sum(said[row] for row in rows) + said.get("queued", 0) + own
    if in_all != said["all"]:
        wrong.append("sum")
    for row, count in true.items():
        lost = 0 if row == "all" else said["dropped"] - dropped_before
        lost += own if row in NAMED else 0
        if not count - lost <= said[row] <= count:
            wrong.append(row)
    return wrong


def main(image, console, truth_path, ticks_path, parasite, trace):
    truth = Truth(image, truth_path, ticks_path)
    found = reports(console)
    accounts = sampled.info(parasite, trace)
    fine = len(found) == len(truth.marks) - 1 > 10
    begin = 0
    for number, (what, said) in enumerate(found, 1):
        if said is None:
            begin = number
            continue
        true = truth.between(begin, number)
        wrong = differs(said, true, 0)
        fine = fine and not wrong
        print(
            f"{what}: {said}; the plugin's: {true}"
            + (f" WRONG: {wrong}" if wrong else "")
        )
    print(
        f"trace: {accounts}, in all {sum(accounts.values())}; the "
        f"plugin's: {truth.ticks}"
    )
    assert fine
    assert sum(accounts.values()) == truth.ticks
    assert accounts["dropped"] > 0 and accounts["overflowed"] > 0


if __name__ == "__main__":
    main(*sys.argv[1:])
