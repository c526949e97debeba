# SPDX-License-Identifier: Apache-2.0
"""check.py WHAT ...: looks at what the views wrote as JSON.

news DIFF [SYMBOL=POINTS...]: exactly these functions are news, and the true
change lies in the interval of each

totals ANNOTATE REPORT LINES: instructions and lines add up to the report's rows,
by symbol and by symbol and line

code ANNOTATE OBJDUMP: the same addresses and mnemonics

inlined ANNOTATE IMAGE: the functions at each instruction are addr2line's

perf ANNOTATE TEXT: perf annotate's shares of instructions are ours

names DOCUMENT <NAMES: each of the names is a symbol in it
"""

import collections
import json
import os
import re
import subprocess
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def news(path, *wanted):
    rows = {row["symbol"]: row for row in read(path)["rows"]}
    truth = dict(word.split("=") for word in wanted)
    found = {name for name, row in rows.items() if row["news"]}
    for name in found:
        print(rows[name])
    assert found == set(truth), f"news: {found}, not {set(truth)}"
    for name, points in truth.items():
        row = rows[name]
        assert row["low"] <= float(points) <= row["high"], f"{points}: {row}"
        assert row["low"] > 0 or row["high"] < 0


def totals(annotate, report, lines):
    by_symbol = collections.Counter()
    by_line = collections.Counter()
    for function in read(annotate)["functions"]:
        name = function["symbol"]
        by_symbol[name] += function["self"]
        for what in "instructions", "lines":
            for key in "self", "self_ns":
                parts = sum(part[key] for part in function[what])
                assert parts == function[key], (name, what, key)
        for line in function["lines"]:
            place = f"{os.path.basename(line['file'])}:{line['line']}"
            by_line[name, place if line["file"] else ""] += line["self"]
    rows = {row["symbol"]: row["self"] for row in read(report)["rows"]
            if row["self"] > 0 and not row["symbol"].startswith("[")}
    assert rows == dict(by_symbol), (rows, by_symbol)
    rows = {(row["symbol"], row["line"]): row["self"]
            for row in read(lines)["rows"]
            if row["self"] > 0 and not row["symbol"].startswith("[")}
    ours = {key: self for key, self in by_line.items() if self > 0}
    assert rows == ours, set(rows.items()) ^ set(ours.items())
    print(len(by_symbol), "functions,", len(ours), "lines")
    assert len(ours) > 15


# objdump's own names for what has two, and what it writes before or behind.
SAME = {"cs": "nop", "data16": "nop", "xchg": "nop", "repz": "rep",
        "movabs": "movabs", "ret": "ret", "je": "je"}


def code(annotate, objdump):
    ours = {int(one["address"], 16): one["text"].split()[0]
            for one in read(annotate)["functions"][0]["instructions"]}
    theirs = {}
    with open(objdump, encoding="utf-8") as file:
        for line in file:
            match = re.match(r" *([0-9a-f]+):\t(\S+)", line)
            if match:
                theirs[int(match[1], 16)] = SAME.get(match[2], match[2])
    assert len(ours) > 50
    assert list(ours) == sorted(theirs), set(ours) ^ set(theirs)
    differ = {hex(at): (name, theirs[at]) for at, name in ours.items()
              if name != theirs[at]}
    assert not differ, differ


def inlined(annotate, image):
    ours = {}
    for function in read(annotate)["functions"]:
        for one in function["instructions"]:
            ours[int(one["address"], 16)] = one.get("inlined", [])
    said = subprocess.run(["addr2line", "-afi", "-e", image],
                          input="\n".join(map(hex, ours)), text=True,
                          capture_output=True, check=True).stdout
    theirs = {}
    for part in re.split(r"^(?=0x[0-9a-f]+$)", said, flags=re.M)[1:]:
        lines = part.split()
        theirs[int(lines[0], 16)] = re.findall(r"^(?!0x)(\S+)\n\S+:", part,
                                               re.M)[:-1]
    differ = {hex(at): (names, theirs[at]) for at, names in ours.items()
              if names != theirs[at]}
    print(len(ours), "instructions,", len(differ), "differ:",
          dict(list(differ.items())[:5]))
    assert not differ
    assert any(len(names) > 1 for names in ours.values())


def perf(annotate, text):
    function = read(annotate)["functions"][0]
    theirs = {}
    with open(text, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = re.match(r" *([0-9.]+) +: +([0-9a-f]+):", line)
            if match and float(match[1]) > 0:
                theirs[int(match[2], 16)] = float(match[1])
    ours = {int(one["address"], 16): 100 * one["self"] / function["self"]
            for one in function["instructions"] if one["self"] > 0}
    assert set(ours) == set(theirs), set(ours) ^ set(theirs)
    for address, share in ours.items():
        assert abs(share - theirs[address]) < 0.0051, hex(address)


def names(path):
    document = read(path)
    rows = document.get("functions") or document["rows"]
    there = {row["symbol"] for row in rows}
    for name in sys.stdin.buffer.read().decode().split("\n"):
        assert not name or name in there, name[:80]


if __name__ == "__main__":
    {"news": news, "totals": totals, "code": code,
     "inlined": inlined, "perf": perf,
     "names": names}[sys.argv[1]](*sys.argv[2:])
