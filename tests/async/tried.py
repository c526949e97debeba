# SPDX-License-Identifier: Apache-2.0
"""docs/timeline/try: its pages are those that the command makes of its streams,
and its streams have what the demos do today. `make docs` renews both."""

import re
import sys
from pathlib import Path

from harness.payload import Payload
from harness.suite import check, run
from sequence import sequence

sys.path.insert(0, "tools/build")
import timeline_docs

FOLDER = Path("docs/timeline/try")
BY_DEVICES = ("udp", "tcp")  # what else they do is up to when packets come
PAYLOAD = re.compile(r'(octet-stream">)[^<]*')


def differences(folder, made):
    """The names of files that differ from those just (made), but for how the
    payload was compressed."""
    found = []
    for name, text in made.items():
        there = (folder / name).read_text(encoding="utf-8")
        if PAYLOAD.sub(r"\1", there) != PAYLOAD.sub(r"\1", text):
            found.append(name)
    return found


def same_payload(one, other):
    one, other = Payload(one), Payload(other)
    return one.head == other.head and one.columns == other.columns


def pages_are_current(s):
    """Of each demo that can be tried; a change of the code is found."""
    work = s.work.resolve()
    for demo in timeline_docs.TRIED:
        made = timeline_docs.files_of(s.build, FOLDER, demo, work)
        check.same(differences(FOLDER, made), [], "make docs")
        (work / "made.html").write_text(made[f"{demo}.html"], "utf-8")
        check.true(
            same_payload(FOLDER / f"{demo}.html", work / "made.html"),
            f"{demo}.html: make docs",
        )
    made["enums.js"] += " "
    check.same(differences(FOLDER, made), ["enums.js"])


def kinds_of(demo, text):
    """What happened, without numbers."""
    lines = {re.sub(r"\d+", "N", line) for line in sequence(text)}
    if demo in BY_DEVICES:
        plain = re.compile(" (create|counter):")
        lines = {line for line in lines if plain.search(line)}
    return sorted(lines)


def streams_are_current(s, demos):
    """Beside the recordings that this suite has made of the same demos."""
    for demo in demos:
        fresh = run(s.parasite, "script", "-q", s.work / f"{demo}.trace").out
        kept = run(s.parasite, "script", "-q", FOLDER / f"{demo}.stream").out
        wanted = kinds_of(demo, fresh)
        check.true(len(wanted) > 1, f"{demo}: {wanted}")
        check.same(kinds_of(demo, kept), wanted, f"{demo}: make docs")
