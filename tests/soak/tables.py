# SPDX-License-Identifier: Apache-2.0
"""The tables that a guest prints, held against themselves."""

import re

HEAD = re.compile(r"--- profile: (\d+) samples in ")
ROW = re.compile(r"(?: *\d+\.\d\d %)+ +(\d+) [ ?!]* ?0x[0-9a-f]+")
MORE = re.compile(r"(?: *\d+\.\d\d %)+ +(\d+) +in \d+ more functions?")
CLOSING = re.compile(r" *(\d+)\.(\d\d) % +(\d+)    (\w+)")
OWN = re.compile(r" +(\d+)    in the profiler, and in no share$")
IN_FUNCTIONS = ("attributed", "masked", "unresolved")


def tables(lines):
    """Each whole table in (lines), as a list of its lines."""
    table = None
    for line in lines:
        if line.startswith("--- profile: "):
            table = []
        if table is None:
            continue
        table.append(line)
        if line == "---":
            yield table
            table = None


def wrong(table):
    """What does not add up in (table), None if all does."""
    head = HEAD.match(table[0])
    if head is None:
        return None  # no samples yet
    if "   -----" not in table:
        return f"no closing rows: {table[0]}"
    bar = table.index("   -----")
    ticks, shares, given = {}, 0, None
    for line in table[bar + 1 :]:
        match = OWN.match(line)
        if match is not None:
            ticks["own"] = int(match[1])
            continue
        match = CLOSING.match(line)
        if match is None:
            break
        share = int(match[1] + match[2])
        if match[4] == "all":
            given = (share, int(match[3]))
            break
        shares += share
        ticks[match[4]] = int(match[3])
    if given is None:
        return f"no sum of the closing rows: {table[0]}"
    if sum(ticks.values()) != given[1] or given[1] != int(head[1]):
        return f"{ticks} do not come to {given[1]} of {head[1]}"
    if (shares, given[0]) != (10000, 10000):
        # nothing has a share where no time has passed
        return f"shares come to {shares}, not to {given[0]} of 10000"
    matches = (ROW.match(line) or MORE.match(line) for line in table[1:bar])
    rows = sum(int(match[1]) for match in matches if match)
    wanted = sum(ticks.get(name, 0) for name in IN_FUNCTIONS)
    if rows != wanted:
        return f"functions come to {rows} samples, the accounts to {wanted}"
    return None
