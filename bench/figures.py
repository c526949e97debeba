# SPDX-License-Identifier: Apache-2.0
"""The bench's figures: lines of JSON, and the rows that its table has.

A line has a width (i386, x86_64 or host), name and value, and optionally x (the
position on a curve), unit, low and high (the interval of a noisy figure) or
spread (high - low), goal, kind and words (as in rows.txt), and part. A goal may
also be a number that the value must be at "least" or "most" (its sense).
Results begin with a line whose "head" describes where they were measured.
Unreadable input ends the program through Bad with one line.
"""

import json
import math
import os

NUMBERS = ("value", "x", "low", "high", "spread")
WIDTHS = ("i386", "x86_64", "host")
KINDS = ("exact", "noisy")
WORDS = 38  # characters of a row for its words


class Bad(Exception):
    """A file that cannot be used: PATH:LINE: what is wrong."""


class Row:
    """A row of the table, as rows.txt declares it."""

    def __init__(self, part, kind, widths, words):
        self.part, self.kind, self.widths = part, kind, widths
        self.name, self.goal, self.unit, self.words = words

    def goal_of(self, width):
        """The goal of that width: "<= 1/2" has one for each, in order."""
        sign, _, numbers = self.goal.partition(" ")
        if "/" not in numbers:
            return self.goal
        each = dict(zip(self.widths, numbers.split("/"), strict=True))
        return f"{sign} {each[width]}"


class Group:
    """Rows under one title, all of one part and kind."""

    def __init__(self, part, kind, widths, title):
        self.part, self.kind, self.widths = part, kind, widths
        self.title = title
        self.rows = []


def lines_of(path):
    """(position, text) of each line with content."""
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield f"{path}:{number}", line.strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Bad(f"{path}: {getattr(error, 'strerror', None) or error}")


def read_groups(path):
    """The groups of rows.txt."""
    groups = []
    for where, line in lines_of(path):
        if line.startswith("#"):
            continue
        if line.startswith("["):
            head, _, title = line[1:].partition("] ")
            part, kind, *widths = head.split()
            if kind not in KINDS or not set(widths) <= set(WIDTHS):
                raise Bad(f"{where}: no such kind or width")
            groups.append(Group(part, kind, widths, title))
            continue
        words = [word.strip() for word in line.split(" | ")]
        if len(words) != 4 or not groups:
            raise Bad(f"{where}: not NAME | GOAL | UNIT | WORDS in a group")
        if len(words[3]) > WORDS:
            raise Bad(f"{where}: more than {WORDS} characters of words")
        group = groups[-1]
        kind = group.kind
        if words[0].endswith(" exact"):
            words[0], kind = words[0].removesuffix(" exact"), "exact"
        row = Row(group.part, kind, group.widths, words)
        for width in group.widths:
            bound(goal_of(row, width, where), where)
        group.rows.append(row)
    return groups


def goal_of(row, width, where):
    try:
        return row.goal_of(width)
    except ValueError:
        raise Bad(f"{where}: not a goal for each width")


def bound(goal, where):
    """(direction, number or None) of a goal."""
    words = goal.split()
    if goal in ("less", "more", "-"):
        return goal, None
    try:
        sign, number = words
        return {"<=": "less", ">=": "more"}[sign], float(number)
    except (ValueError, KeyError):
        raise Bad(f"{where}: '{goal}' is not a goal")


def verdict(figure):
    """Whether the value reaches its goal; None without a goal."""
    direction, number = bound(figure.get("goal", "-"), figure["name"])
    if number is None:
        return None
    return (
        figure["value"] <= number
        if direction == "less"
        else figure["value"] >= number
    )


def check(figure, where):
    """Raises Bad unless (figure) is one."""
    if not isinstance(figure, dict) or "name" not in figure:
        raise Bad(f"{where}: no figure: a name is missing")
    if figure.get("width") not in WIDTHS:
        raise Bad(f"{where}: {figure['name']}: no such width")
    for key in NUMBERS:
        value = figure.get(key, 0)
        if type(value) not in (int, float) or not math.isfinite(value):
            raise Bad(f"{where}: {figure['name']}: {key} is not a number")
    if "value" not in figure:
        raise Bad(f"{where}: {figure['name']}: no value")
    if figure.get("kind", "exact") not in KINDS:
        raise Bad(f"{where}: {figure['name']}: no such kind")
    bound(plain(figure).get("goal", "-"), where)


def key_of(figure):
    """What identifies a figure."""
    return (
        figure.get("part", ""),
        figure["width"],
        figure["name"],
        figure.get("x"),
    )


def plain(figure):
    """(figure) with goal and spread in their normal form."""
    goal, sense = figure.get("goal"), figure.pop("sense", None)
    if type(goal) in (int, float):
        figure["goal"] = f"{'>=' if sense == 'least' else '<='} {goal:g}"
    if "spread" in figure:
        half = figure.pop("spread") / 2
        figure["low"] = round(figure["value"] - half, 6)
        figure["high"] = round(figure["value"] + half, 6)
    return figure


def read(path):
    """(head or {}, figures in order by key) of a file."""
    head, figures = {}, {}
    for where, line in lines_of(path):
        try:
            figure = json.loads(line)
        except ValueError as error:
            raise Bad(f"{where}: not a line of JSON: {error}")
        if isinstance(figure, dict) and "head" in figure:
            head = figure["head"]
            if not isinstance(head, dict):
                raise Bad(f"{where}: no head")
            continue
        check(figure, where)
        if key_of(figure) in figures:
            raise Bad(f"{where}: {figure['name']}: a second time")
        figures[key_of(figure)] = figure
    return head, figures


def groups_of_table():
    """The groups of rows.txt in this folder, or of the file $ROWS."""
    here = os.path.dirname(os.path.abspath(__file__))
    return read_groups(os.environ.get("ROWS") or os.path.join(here, "rows.txt"))
