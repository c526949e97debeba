#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/format.md, from <prof/events.def>.

usage: events_table.py          rewrites them
       events_table.py --check  says whether they are current
"""

import re
import subprocess
import sys

PAGE = "docs/format.md"
MARKS = ("<!-- events.def: {} -->\n", "<!-- end -->\n")

# The rows of the table, as lines that are easily read. Each begins with its
# macro's name; what belongs to an event follows in lines of its own.
MACROS = r"""
#define PROF_SHORT(NAME, name, tag, meaning, bits) @short name|tag|meaning bits
#define PROF_BITS(class, name, bits) @part name|bits|
#define PROF_EVENT(NAME, name, kind, meaning, fields) @event name|kind|meaning \
    fields
#define PROF_BARE(NAME, name, kind, meaning) @event name|kind|meaning
#define PROF_FIELD(type, name, meaning) @field name|type|meaning
#define PROF_OBJECT(NAME, name, number, meaning) @object name|number|meaning
#define PROF_WALK_STOP(NAME, name, number, meaning) @stop name|number|meaning
#include <prof/events.def>
"""

TAG_BITS = 2
HEAD_BYTES = 4
BRIEF = range(57, 63)
EXTENDED = 64
EXTENSION_BYTES = 2
TYPE_BYTES = {
    "uint8": 1,
    "name8": 1,
    "object_kind": 1,
    "near": 2,
    "tiny": 1,
    "int16": 2,
    "int64": 8,
    "text": 0,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "address": 8,
    "clock": 8,
    "bytes32": 32,
    "walk_stop": 2,
}


def rows():
    """[(macro, name, number or type, meaning)], in the table's order."""
    words = ["cc", "-E", "-P", "-Iprofiler/include", "-xc", "-"]
    text = subprocess.run(
        words, input=MACROS, check=True, capture_output=True, text=True
    ).stdout
    found = []
    for row in text.replace("\n", " ").split("@")[1:]:
        macro, rest = row.split(maxsplit=1)
        name, number, meaning = (part.strip() for part in rest.split("|"))
        meaning = "".join(re.findall(r'"(.*?)"', meaning))
        found.append((macro, name, number.strip("() "), meaning))
    if not found:
        raise ValueError("profiler/include/prof/events.def: no rows")
    return found


def parts(table, event, part):
    """Yields (event's row, its parts' rows)."""
    for at, row in enumerate(table):
        if row[0] != event:
            continue
        mine = []
        for other in table[at + 1 :]:
            if other[0] != part:
                break
            mine.append(other)
        yield row, mine


def short_events(table):
    yield "| event | bits | bytes | what it says |"
    yield "|---|---|---|---|"
    for (_, name, _, meaning), bits in parts(table, "short", "part"):
        shown = [f"tag {TAG_BITS}"] + [f"{bit[1]} {bit[2]}" for bit in bits]
        whole = TAG_BITS + sum(int(bit[2]) for bit in bits)
        yield f"| `{name}` | {', '.join(shown)} | {whole // 8} | {meaning} |"


def other_events(table):
    yield "| kind | event | bytes | what it says | fields |"
    yield "|---|---|---|---|---|"
    for (_, name, kind, meaning), fields in parts(table, "event", "field"):
        size = HEAD_BYTES + sum(TYPE_BYTES[field[2]] for field in fields)
        if int(kind) in BRIEF:
            size -= 1
        if int(kind) >= EXTENDED:
            size += EXTENSION_BYTES
        shown = "; ".join(f"`{field[1]}` {field[3]}" for field in fields)
        if fields and fields[-1][2] == "text":
            size = f"{size} + text"
        yield f"| {kind} | `{name}` | {size} | {meaning} | {shown} |"


def objects(table):
    yield "| kind | objects |"
    yield "|---|---|"
    for macro, name, number, meaning in table:
        if macro == "object":
            yield f"| {number} `{name}` | {meaning} |"


def walk_stops(table):
    yield "| reason | walks stopped because |"
    yield "|---|---|"
    for macro, name, number, meaning in table:
        if macro == "stop":
            yield f"| {number} `{name}` | {meaning} |"


def current(page):
    """The text of the page (page) with its tables made anew."""
    table = rows()
    for make in (short_events, other_events, objects, walk_stops):
        begin = MARKS[0].format(make.__name__)
        if page.count(begin) != 1:
            raise ValueError(f"{PAGE}: no line {begin.strip()}")
        before, rest = page.split(begin)
        _, after = rest.split(MARKS[1], 1)
        made = "".join(line + "\n" for line in make(table))
        page = before + begin + "\n" + made + "\n" + MARKS[1] + after
    return page


def main(words):
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    made = current(page)
    if words == ["--check"]:
        if made != page:
            print(f"{PAGE} is not current: run tools/build/events_table.py")
        return 0 if made == page else 1
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
