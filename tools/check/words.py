# SPDX-License-Identifier: Apache-2.0
"""Words that do not belong into the tree."""

import os
import re

from sources import ALL, Failed, is_text, matching, read

HERE = os.path.dirname(os.path.abspath(__file__))

# What may hold such words: the list itself, what was renamed, and names and
# texts of others that tests compare with.
EXEMPT = (
    "tools/check/words",
    "CHANGES.md",
    "LICENSE",
    "tests/names/",
    "docs/truth.html",
    "docs/growth.html",
)

# A subcommand of the host command is called so. Tests have its command line in
# quotes, and name it after the host that runs it.
SUBCOMMAND = re.compile(
    r"parasite\*? tell|_tell\b|\btell\.c|\"tell[ \"]|\*TELL\*|# TELL|"
    r"\{by\} tell ends|"
    r"tell:(?:stacks|loop)|= tell"
)

UNFINISHED = "TO" "DO|FIX" "ME|XX" "X|HA" "CK|place" "holder|not " "implemented"


def banned():
    """[(expression, better word, folders or "")] of the list."""
    rules = []
    for line in read(f"{HERE}/words").splitlines():
        word, arrow, better = line.partition(" -> ")
        if arrow and not line.startswith("#"):
            before, after = r"(?<![A-Za-z'])", r"(?![A-Za-z])"
            rule = re.compile(f"{before}(?:{word}){after}", re.I)
            better, _, folders = better.partition(" in ")
            rules.append((rule, better, tuple(folders.split()) or ""))
    if not rules:
        raise Failed("words: empty list")
    return rules


def private():
    """sources and documents use the field's words"""
    rules = banned()
    found = []
    for name in ALL:
        if name.startswith(EXEMPT) or not is_text(name):
            continue
        text = SUBCOMMAND.sub(lambda use: "-" * len(use.group()), read(name))
        for rule, better, folders in rules:
            if not name.startswith(folders):
                continue
            for match in rule.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: {match.group()} -> {better}")
    return found


def unfinished():
    """nothing is left unfinished"""
    rule = re.compile(rf"\b(?:{UNFINISHED})\b")
    patterns = "*.c *.h *.cpp *.asm *.sh *.py *.js *.ld *.lua *.pml Makefile"
    return [
        f"{name}:{number}: {line.strip()}"
        for name in matching(*patterns.split(), ".ci/*")
        for number, line in enumerate(read(name).splitlines(), 1)
        if rule.search(line)
    ]
