# SPDX-License-Identifier: Apache-2.0
"""Packets that are missing of a real recording: each command says what, and
what it makes of the rest is what it makes of the whole."""

import json
import re

from harness.command import Command, boot_and_record, packets_of
from harness.suite import check, run

CROWD = "test/trace_crowd"
TASKS = 1000


class Whole:
    """A recording of which nothing is missing, and parts of it."""

    def __init__(self, s):
        self.s, self.parasite = s, Command(s)
        name = f"{s.part}-whole"
        self.trace, _ = boot_and_record(
            *(s, s.part, CROWD, name),
            "prof.start=off prof.every=0 prof.trace=stream "
            f"prof.trace_kb=1024 crowd={TASKS}",
        )
        self.packets = packets_of((s.work / f"{name}.bin").read_bytes())
        check.true(len(self.packets) > 10, "packets")
        self.lines = self.script(self.trace)

    def without(self, numbers):
        """The trace of all packets but these."""
        name = "-".join(str(number) for number in numbers)
        trace = self.s.work / f"{self.s.part}-without-{name}.trace"
        data = b"".join(
            packet for i, packet in enumerate(self.packets) if i not in numbers
        )
        self.parasite.record(trace, "-q", "-", data=data)
        return trace

    def checked(self, trace):
        done = self.parasite("info", "--check", "-j", trace)
        found = json.loads(done.out)
        check.same(found["problems"], [])
        return found

    def script(self, trace):
        """What `script` prints: (seconds, event, numbers of objects), for what
        the recorder has recorded."""
        text = self.parasite("script", "-q", trace).out
        found = []
        for line in text.splitlines():
            who, seconds, kind, what = re.match(
                r"(.*) (\d+\.\d{7}) \[\d+\] (\w+): ?(.*)$", line
            ).groups()
            what = re.sub(r" \(\S+:\d+\)$", "", what)
            numbers = re.findall(r"\d+", f"{who} {what}")
            found.append((float(seconds), kind, tuple(numbers)))
        return found


def kept(lines):
    """Without what packets and losses bring."""
    others = ("recorded", "lost", "alive", "hello", "bye", "suspend", "switch")
    return [line[1:] for line in lines if line[1] not in others]


def is_part(part, whole):
    """All of (part) is in (whole), in that order."""
    rest = iter(whole)
    return all(line in rest for line in part)


def middle(s, whole, numbers):
    """Some are missing between others."""
    trace = whole.without(numbers)
    found = whole.checked(trace)
    places = sum(1 for n in numbers if n - 1 not in numbers)
    check.same(len(found["losses"]), places)
    check.same(sum(l["packets"] for l in found["losses"]), len(numbers))
    events = sum(loss["events"] for loss in found["losses"])
    all_events = whole.checked(whole.trace)["events"]
    # each packet says how much was recorded, and a switch after each loss who
    # runs now
    check.between(
        found["events"] + events, all_events - 2 * len(numbers), all_events
    )
    lines = whole.script(trace)
    check.same(sum(1 for line in lines if line[1] == "lost"), places)
    part = kept(lines)
    check.true(len(part) > 500, len(part))
    check.true(is_part(part, kept(whole.lines)), "lines of the rest")
    said = (
        f"{len(numbers)} packets with {events:,} events are missing, in "
        f"{places} place" + ("" if places == 1 else "s")
    )
    check.contains(whole.parasite("tasks", trace).out, f"# {said}: ")
    tasks = json.loads(whole.parasite("tasks", "-j", trace).out)
    check.same(tasks["missing"], said)
    page = s.work / f"{s.part}-missing.html"
    check.contains(
        whole.parasite("timeline", trace, "-o", page).err, f"{trace}: {said}"
    )


def knows_the_rest(whole, numbers):
    """Tasks that no missing packet is about are summed up as in the whole."""
    trace = whole.without(numbers)
    sites = json.loads(whole.parasite("tasks", "-j", trace).out)["sites"]
    members = [site for site in sites if site["site"] == "member"]
    check.same(len(members), 1)
    check.between(members[0]["count"], TASKS // 2, TASKS - 1)
    check.same(members[0]["resolved"], members[0]["count"])


def beginning(s, whole):
    """The first are missing: the reader has come late and could not ask."""
    trace = whole.without((0, 1, 2))
    found = whole.checked(trace)
    check.same(found["losses"], [])
    said = run(s.parasite, "info", "--check", trace).out
    before = check.has(said, r"the trace begins after ([\d,]+) events").group(1)
    check.true(int(before.replace(",", "")) > 1000, before)
    text = run(s.parasite, "script", "-q", trace).out
    check.has(text.splitlines()[0], rf" lost: {before} events before the trace")
    part = [line for line in kept(whole.script(trace)) if "counter" not in line]
    check.true(len(part) > 500 and is_part(part, kept(whole.lines)), "the rest")
    words = f"the trace begins after {before} events"
    check.contains(run(s.parasite, "tasks", trace).out, f"# {words}: ")
    page = s.work / f"{s.part}-missing.html"
    said = run(s.parasite, "timeline", trace, "-o", page).err
    check.contains(said, words)


def nothing(whole):
    """Of the whole, nothing is said to be missing."""
    check.same(whole.checked(whole.trace)["losses"], [])
    check.lacks(whole.parasite("tasks", whole.trace).out, "missing|begins")
    check.true(not any(line[1] == "lost" for line in whole.lines), "lost")


def missing(s):
    whole = Whole(s)
    nothing(whole)
    middle(s, whole, (4, 5))
    middle(s, whole, (3, 6, 7, 10))
    knows_the_rest(whole, (3, 4))
    beginning(s, whole)
