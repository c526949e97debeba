# SPDX-License-Identifier: Apache-2.0
"""docs/async.md against recordings: each line that it shows of one is in one
made here, in the same order, but for times and numbers."""

import re
from pathlib import Path

from harness.suite import check, run

PAGE = Path("docs/async.md")
EVENT = re.compile(r"^ {4}(\S.*?) +\d+\.\d{7} \[000\] (.*)$")
SITE = re.compile(r"^ +(\d+)(?: +\d+\.\d{3}){2}  (\w+) +(.*)$")
ACT = re.compile(r"^ {4}(\[event loop\]|timer \d+|join \d+) ([a-z]+: .*)$")


def plain(text):
    """Without the numbers of objects, and of lines. What the disk has done is
    found by the loop, with or without an interrupt."""
    text = re.sub(r":\d+\)", ":)", text)
    text = re.sub(r"^(disk \d+|\[event loop\]) ", "[loop] ", text)
    return re.sub(r"(?<!= )\b\d+\b", "N", text)


def in_order(wanted, found, what):
    rest = iter(found)
    for line in wanted:
        check.true(line in rest, f"{what}: not there, or too late: {line}")


def events_of(script):
    return [
        plain(f"{who} {event}")
        for who, event in re.findall(
            r"^(\S.*?) \d+\.\d{7} \[000\] (.*)$", script, re.M
        )
    ]


def rows_of(tasks):
    """{(count, kind, site)} of the command's own table."""
    return {
        (row[0], row[7], plain(row[8]))
        for row in (
            line.split(None, 8)
            for line in tasks.splitlines()
            if re.match(r" +\d", line)
        )
    }


def shown(pattern, lines):
    return [found.groups() for line in lines if (found := pattern.match(line))]


def page_is_true(s):
    """The traces are those that the tests of these demos have made."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    script, tasks = (
        {
            demo: run(s.parasite, *words, s.work / f"{demo}.trace").out
            for demo in ("disk", "disk-fixed", "join")
        }
        for words in (("script", "-q"), ("tasks",))
    )
    events = [
        plain(f"{who} {what}")
        for who, what in shown(EVENT, page)
        if not who.startswith("[irq ")
    ]
    check.true(len(events) > 15, "events on the page")
    in_order(events, events_of(script["disk"]), "disk")
    acts = [plain(f"{who} {what}") for who, what in shown(ACT, page)]
    check.true(len(acts) > 4, "events of the join")
    in_order(acts, events_of(script["join"]), "join")
    for demo, begin in (("disk", "async: disk: "), ("disk-fixed", "-fixed: r")):
        at = next(i for i, line in enumerate(page) if begin in line)
        until = page.index("", at)
        rows = shown(SITE, page[at:until])
        check.true(len(rows) == 4, f"rows of {demo}")
        found = rows_of(tasks[demo])
        for count, kind, site in rows:
            check.true(
                (count, kind, plain(site)) in found, f"{demo}: {count} {site}"
            )
