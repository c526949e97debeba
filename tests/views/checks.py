# SPDX-License-Identifier: Apache-2.0
"""What must be true of the JSON that the views write."""

import collections
import os
import re

from harness.suite import check, run


def news(diff, wanted):
    """Exactly the functions of (wanted), {symbol: points}, are news, and the
    true change lies in the interval of each."""
    rows = {row["symbol"]: row for row in diff["rows"]}
    found = {name for name, row in rows.items() if row["news"]}
    check.same(found, set(wanted), [rows[name] for name in found])
    for name, points in wanted.items():
        row = rows[name]
        check.between(points, row["low"], row["high"], name)
        check.true(row["low"] > 0 or row["high"] < 0, row)


def _selves(rows, key):
    """Of functions, without [idle] and the like."""
    return {
        key(row): row["self"]
        for row in rows
        if row["self"] > 0 and not row["symbol"].startswith("[")
    }


def totals(annotate, report, lines):
    """Instructions and lines add up to the report's rows, by symbol and by
    symbol and line."""
    by_symbol, by_line = collections.Counter(), collections.Counter()
    for function in annotate["functions"]:
        name = function["symbol"]
        by_symbol[name] += function["self"]
        for what in ("instructions", "lines"):
            for key in ("self", "self_ns"):
                parts = sum(part[key] for part in function[what])
                check.same(parts, function[key], (name, what, key))
        for line in function["lines"]:
            where = f"{os.path.basename(line['file'])}:{line['line']}"
            by_line[name, where if line["file"] else ""] += line["self"]
    check.same(
        dict(by_symbol), _selves(report["rows"], lambda row: row["symbol"])
    )
    ours = {key: own for key, own in by_line.items() if own > 0}
    check.same(
        ours, _selves(lines["rows"], lambda row: (row["symbol"], row["line"]))
    )
    check.true(len(ours) > 15, len(ours))


#: objdump's own names for what has two, and what it writes before or after
SAME = {"cs": "nop", "data16": "nop", "xchg": "nop", "repz": "rep"}


def code(annotate, objdump):
    """The same addresses, all of them, and the same mnemonics."""
    ours = {
        int(one["address"], 16): one["text"].split()[0]
        for one in annotate["functions"][0]["instructions"]
    }
    theirs = {
        int(address, 16): SAME.get(name, name)
        for address, name in re.findall(
            r"^ *([0-9a-f]+):\t(\S+)", objdump, re.M
        )
    }
    check.true(len(ours) > 50, len(ours))
    check.same(list(ours), sorted(theirs))
    check.same(
        {hex(at): name for at, name in ours.items()},
        {hex(at): theirs[at] for at in ours},
    )


def inlined(annotate, image):
    """The functions at each instruction are addr2line's."""
    ours = {
        int(one["address"], 16): one.get("inlined", [])
        for function in annotate["functions"]
        for one in function["instructions"]
    }
    asked = "\n".join(map(hex, ours))
    said = run("addr2line", "-afi", "-e", image, data=asked).out
    theirs = {}
    for part in re.split(r"^(?=0x[0-9a-f]+$)", said, flags=re.M)[1:]:
        names = re.findall(r"^(?!0x)(\S+)\n\S+:", part, re.M)
        theirs[int(part.split()[0], 16)] = names[:-1]
    differ = {
        hex(at): (names, theirs[at])
        for at, names in ours.items()
        if names != theirs[at]
    }
    check.same(differ, {})
    check.true(any(len(names) > 1 for names in ours.values()))


def perf(annotate, text):
    """perf annotate's shares of instructions, which are of time, are ours."""
    function = annotate["functions"][0]
    theirs = {
        int(address, 16): float(share)
        for share, address in re.findall(
            r"^ *([0-9.]+) +: +([0-9a-f]+):", text, re.M
        )
        if float(share) > 0
    }
    ours = {
        int(one["address"], 16): 100 * one["self_ns"] / function["self_ns"]
        for one in function["instructions"]
        if one["self_ns"] > 0
    }
    check.same(set(ours), set(theirs))
    for address, share in ours.items():
        off = abs(share - theirs[address])
        check.true(off < 0.0051, f"{address:x} is off by {off}")


def names(document, wanted):
    """Each of the names is a symbol in it."""
    rows = document.get("functions") or document["rows"]
    there = {row["symbol"] for row in rows}
    for name in wanted:
        check.true(name in there, name[:80])
