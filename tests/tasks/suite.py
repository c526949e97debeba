# SPDX-License-Identifier: Apache-2.0
"""Traces of objects: what parasite says of them, and whether other tools read
the same. Streams that make_tasks wrote, right ones and wrong ones."""

import collections
import json
import re
import struct
import sys
from pathlib import Path

from harness.command import Command, event_counts
from harness.made_profile import interrupted
from harness.stream import CRC, sealed
from harness.suite import check, run
from clocks import clocks_are_aligned, clocks_are_shifted
from page import Page
from stream import CONTENT, END, Made

sys.path.append(str(Path(__file__).parent.parent / "exports"))
import catapult  # noqa: E402  pylint: disable=wrong-import-position

PARTS = ("print", "check", "export", "wait", "several")
EVENTS = 20000
WRONG = {
    "created_twice": r"handler_0 \d+ is created a second time",
    "never_created": r"\w+ \d+ was never created, and no loss is marked in",
    "ended_twice": r"handler_0 \d+ ends a second time: it was resolved",
    "read_early": r"handler_0 \d+ is read before it is resolved",
    "runs_ended": r"handler_0 \d+ runs after its end: it was cancelled",
    "not_nested": r"handler_0 \d+ has not returned to \[event loop\], which",
    "no_name": r"name 999 is used and never defined",
}


class Trace:
    """A trace of what make_tasks wrote, or of other packets."""

    def __init__(self, s, name="made", data=None):
        self.s, self.parasite = s, Command(s)
        self.made = Made(s, EVENTS, 1)
        self.path = s.work / f"{name}.trace"
        self.record(data or self.made.data)

    def record(self, data):
        self.parasite.record(self.path, "-q", "-", data=bytes(data))

    def checked(self, status=0):
        return self.parasite("info", "--check", self.path, status=status)

    def export(self, kind):
        out = self.s.work / f"x.{kind}"
        self.parasite("export", "-q", "-f", kind, "-o", out, self.path)
        return out


# ---- print


def script_agrees(trace):
    """Each event is a line, with names."""
    says, found = trace.made.says, collections.Counter()
    text = trace.parasite("script", "-q", trace.path).out
    for line in text.splitlines():
        kind = re.search(r" \d+\.\d{7} \[000\] (\w+):", line)
        found[kind[1] if kind else ""] += 1
    check.same(found["create"], says["objects"])
    check.same(found["irq_enter"], says["irqs"])
    check.same(found["irq_exit"], says["irqs"])
    check.same(found["counter"], says["counters"])
    check.same(found["fail"], says["failed"])
    check.same(found["wake"], says["irqs"])
    check.has(
        text,
        r"^the first 1 0\.\d+ \[000\] create: promise handler_\d+ 2 "
        r"\(services/made/part_\d\.c:\d+\)$",
    )
    check.has(text, r"^\[irq 48\] 0\.\d+ \[000\] wake: handler_\d+ \d+ by ")
    check.has(text, r"^handler_\d+ \d+ 0\.\d+ .* suspend: waits for the disk$")
    check.has(text, r"fail: handler_\d+ \d+: refused$")
    check.has(text, r"counter: queue = \d+$")
    check.has(text, r"pause: collected, 400 ns$")


def babeltrace_agrees(trace):
    """It reads as many events of each kind as the script has."""
    lines = trace.parasite("script", "-q", trace.path).out
    kinds = re.findall(r"^.* \d+\.\d{7} \[000\] (\w+):", lines, re.M)
    ours = collections.Counter(kinds)
    theirs = event_counts(trace.path)
    for kind in "create read try_read resolve fail switch suspend".split():
        check.same(theirs[kind], ours[kind], kind)
    check.same(theirs["irq_enter"], trace.made.says["irqs"])


def tasks_are_rows(trace):
    """report --task and its tree; a flame graph has the same roots."""
    rows = trace.parasite.rows(trace.path, "--task")
    names = {row["task"] for row in rows}
    check.true({"[no task]", "handler_3"} <= names, f"{names}")
    tree = trace.parasite("report", "-q", "--task", "-g", trace.path).out
    check.has(tree, r"^ *[0-9.]+% +[0-9.]+%  \[task handler_3\]$", count=1)
    shares = {row["task"]: row["self_percent"] for row in rows}
    share = float(re.search(r"([0-9.]+)% .*task handler_3\]$", tree, re.M)[1])
    check.near(share, shares["handler_3"], 0.01)
    picture = trace.s.work / "x.svg"
    trace.parasite("flame", "-q", "--task", "-o", picture, trace.path)
    check.contains(picture.read_text(encoding="utf-8"), "[task handler_3]")


INTERRUPTS = """\
#  count handled us        p99   woke   left   ran after        p99  interrupt
       1     1000.0     1000.0      1      0          -          -  irq 32
       3     2000.0     2000.0      1      3     6000.0    16000.0  irq 43, \
to disk 1
"""


def interrupts_are_summed(s):
    """How long they were handled, and when the work ran that they left; the
    last one's never did."""
    trace = Trace(s, "interrupted", interrupted())
    found = trace.parasite("tasks", "--interrupts", trace.path).out
    check.same(found, INTERRUPTS)
    found = json.loads(trace.parasite("tasks", "--json", trace.path).out)
    timer, disk = found["interrupts"]
    check.same([timer["vector"], disk["vector"]], [32, 43])
    check.same([timer["woke"], disk["woke"]], [1, 1])
    check.same(timer["ran_after"], {"count": 0, "ns": 0})
    check.same(disk["left"], 3)
    check.same(disk["ran_after"]["count"], 2)
    check.same(disk["ran_after"]["ns"], 22000000)
    check.same(disk["handled"]["longest_ns"], 2000000)
    trace = Trace(s)
    found = json.loads(trace.parasite("tasks", "--json", trace.path).out)
    check.same(
        [(i["vector"], i["count"], i["left"]) for i in found["interrupts"]],
        [(48, trace.made.says["irqs"], 0)],
    )


def million_is_small(s):
    """A million events and more, of 200,000 objects."""
    made = Made(s, 1700000, 1)
    check.true(made.says["objects"] > 200000, made.says)
    trace, used = s.work / "million.trace", s.work / "kilobytes"
    parasite = Command(s)
    parasite.record(trace, "-q", "-", data=made.data)
    run("time", "-f", "%M", "-o", used, parasite.path, "tasks", trace)
    s.note(f"{used.read_text()} KB")
    check.true(int(used.read_text()) < 500000, "kilobytes")
    run("rm", "-r", trace)


def print_part(s):
    trace = Trace(s)
    s.holds(million_is_small, s)
    s.holds(script_agrees, trace)
    s.holds(babeltrace_agrees, trace)
    s.holds(tasks_are_rows, trace)
    s.holds(interrupts_are_summed, s)


# ---- check


def nothing_is_wrong(trace):
    """Nothing is found in what is right, and all of it was looked at."""
    says = trace.made.says
    check.has(
        trace.checked().out,
        rf"^checked [0-9,]+ events of {says['objects']:,} objects in "
        r"[0-9]+ packets: 0 problems, 0 losses$",
    )
    found = json.loads(
        trace.parasite("info", "--check", "--json", trace.path).out
    )
    check.same(found["problems"], [])
    check.true(found["events"] >= says["events"])


def wrong_is_found(trace, what):
    """One line says where and what, and the exit status is 1."""
    trace.record(Made(trace.s, EVENTS, 1, what).data)
    said = trace.checked(1).out
    place = r"^CPU 0, packet \d+, event \d+, at \d\.\d{7} s: "
    check.has(said, place + WRONG[what], count=1)
    check.has(said, r"packets: 1 problems, 0 losses$")
    found = json.loads(
        trace.parasite("info", "--check", "-j", trace.path, status=1).out
    )
    check.same(found["problem_count"], 1)


def loss_is_no_problem(trace):
    """Two packets are missing: that is marked, and nothing else is found."""
    packets = trace.made.packets()
    trace.record(b"".join(packets[:9] + packets[11:]))
    said = trace.checked().out
    check.has(said, r"^lost: CPU 0, from .* to .* s: 2 packets$", count=1)
    check.has(said, r"packets: 0 problems, 1 losses$")


def late_is_no_problem(trace):
    """The first half is missing."""
    packets = trace.made.packets()
    trace.record(b"".join(packets[len(packets) // 2 :]))
    check.has(trace.checked().out, r"packets: 0 problems, 0 losses$")


def wrong_time_is_found(trace):
    """A packet says that it ends before its last event."""
    packets = trace.made.packets()
    end = struct.unpack_from("<Q", packets[5], END)[0]
    struct.pack_into("<Q", packets[5], END, end - 100)
    sealed(packets[5])
    trace.record(b"".join(packets))
    check.has(
        trace.checked(1).out,
        r"^CPU 0, packet 5, event \d+, .*: the event is later than its "
        r"packet's end$",
        count=1,
    )


def unreadable_is_found(trace):
    """The last event of a packet is cut."""
    packets = trace.made.packets()
    bits = struct.unpack_from("<I", packets[5], CONTENT)[0] - 8
    packets[5] = packets[5][: bits // 8]
    struct.pack_into("<II", packets[5], CONTENT, bits, bits)
    check.true(len(packets[5]) > CRC)
    sealed(packets[5])
    trace.record(b"".join(packets))
    check.has(
        trace.checked(1).out,
        r"^CPU 0, packet 5, .*: the rest of the packet cannot be read$",
        count=1,
    )


def check_part(s):
    trace = Trace(s)
    s.holds(nothing_is_wrong, trace)
    for what in WRONG:
        s.holds(f"{what} is found", wrong_is_found, trace, what)
    s.holds(loss_is_no_problem, trace)
    s.holds(late_is_no_problem, trace)
    s.holds(wrong_time_is_found, trace)
    s.holds(unreadable_is_found, trace)


# ---- export


def arrows(text):
    """How many edges of the script lead to a run or from a resolution."""
    return len(re.findall(r" read: ", text))


def chrome_agrees(trace):
    """Chrome's viewer finds all arrows between slices, and all counters."""
    found = catapult.read(
        trace.export("chrome").read_bytes(), trace.s.work / "browser.log"
    )
    says = trace.made.says
    text = trace.parasite("script", "-q", trace.path).out
    reads = arrows(text)
    check.same(found["counters"], {"queue": says["counters"]})
    check.same(found["arrows"], found["flows"])
    check.true(found["arrows"] > 2 * reads, f"arrows, of {reads} reads")
    check.true(found["slices"] >= says["objects"], "slices")
    check.true(found["runs"]["irq 48"] > 0)


def interrupts_lead_on(s):
    """To the loop that they wake, and to the run that does what they left. The
    loop has a lane. Times are ms."""
    trace = Trace(s, "led", interrupted())
    events = json.loads(trace.export("chrome").read_bytes())["traceEvents"]
    lanes = {
        event["tid"]: event["args"]["name"].split(" [")[0]
        for event in events
        if event["name"] == "thread_name"
    }
    begun = {e["id"]: e for e in events if e["ph"] == "s"}
    found = {
        (
            *(end["name"], lanes[begun[end["id"]]["tid"]]),
            *(begun[end["id"]]["ts"] / 1000, lanes[end["tid"]]),
            end["ts"] / 1000,
        )
        for end in events
        if end["ph"] == "f"
    }
    check.same(
        {arrow for arrow in found if arrow[0] in ("defer", "wake")},
        {
            ("defer", "interrupts", 11, "tasks", 16),
            ("defer", "interrupts", 27, "tasks", 42),
            ("wake", "interrupts", 10, "event loop", 14),
            ("wake", "interrupts", 57, "event loop", 59),
        },
    )
    loop = [
        (event["name"], event["ts"] / 1000, event["dur"] / 1000)
        for event in events
        if event["ph"] == "X" and lanes[event["tid"]] == "event loop"
    ]
    check.same([one for one in loop if one[0] == "idle"], IDLE)
    check.same(sum(ms for name, _, ms in loop if name == "running"), 47)
    text = run(
        *("protoc", "--decode=Trace", "-Itests/exports", "perfetto.proto"),
        data=trace.export("perfetto").read_bytes(),
    ).out
    check.has(text, r'name: "event loop \[cpu 0\]"')
    flows = re.findall(r"^    flow: (\d+)$", text, re.M)
    check.same(len(flows), len(begun))


IDLE = [("idle", 0, 14), ("idle", 47, 12)]


def perfetto_agrees(trace):
    """protoc finds them too; each flow begins once and ends once."""
    text = run(
        *("protoc", "--decode=Trace", "-Itests/exports", "perfetto.proto"),
        data=trace.export("perfetto").read_bytes(),
    ).out
    check.lacks(text, r"^\s*\d+[:{ ]")
    begun, ended = (
        re.findall(rf"^    {name}: (\d+)$", text, re.M)
        for name in ("flow", "flow_end")
    )
    check.same(len(set(begun)), len(begun))
    check.same(begun, ended)
    chrome = json.loads(trace.export("chrome").read_bytes())["traceEvents"]
    count = collections.Counter(event["ph"] for event in chrome)
    check.same(len(begun), count["s"])
    types = collections.Counter(re.findall(r"^    type: (\d)$", text, re.M))
    check.same(types["1"], types["2"])
    check.same(types["1"], count["b"] + count["X"])
    check.same(types["4"], trace.made.says["counters"])


def part_of_time(trace):
    """--time cuts slices and leaves out what is outside."""
    out = trace.s.work / "x.json"
    trace.parasite(
        *("export", "-q", "-f", "chrome", "--time", "0.01,0.02", "-o", out),
        trace.path,
    )
    events = json.loads(out.read_bytes())["traceEvents"]
    times = [e["ts"] for e in events if e["ph"] in "bexXsfC"]
    check.true(len(times) > 1000, "events")
    check.true(min(times) >= 10000 and max(times) <= 20000)


def export_part(s):
    trace = Trace(s)
    s.holds(chrome_agrees, trace)
    s.holds(perfetto_agrees, trace)
    s.holds(interrupts_lead_on, s)
    s.holds(part_of_time, trace)


# ---- what tasks waited for


def waits_of(trace, *words):
    """The samples of flame --wait: (clocks, names) each."""
    path = trace.s.work / "wait.html"
    trace.parasite("flame", "-q", "--wait", *words, "-o", path, trace.path)
    return Page(path).samples


def waits_are_sums(trace):
    """By site and state they are the sums of `parasite tasks`."""
    ours = collections.Counter()
    for clocks, names in waits_of(trace):
        ours[names[0], names[-1]] += clocks * 100
    theirs = {}
    text = trace.parasite("tasks", "-q", "--json", trace.path).out
    for site in json.loads(text)["sites"]:
        for state in ("waiting", "ready"):
            if site["kind"] == "task" and site[f"{state}_ns"] > 0:
                row = f"[task {site['site']}]", f"[{state}]"
                theirs[row] = site[f"{state}_ns"]
    check.true(len(theirs) > 20, "sites")
    check.same(dict(ours), theirs)


def waits_are_split(trace):
    """Each stack says why and for what; a wake splits it in two."""
    counts = collections.Counter()
    for clocks, names in waits_of(trace):
        check.same(len(names), 4)
        check.same(names[1], "waits for the disk")
        check.true(re.fullmatch(r"\[for handler_\d+\]", names[2]), names[2])
        check.true(clocks > 0)
        counts[names[-1]] += 1
    check.same(counts["[waiting]"], trace.made.says["waits"])
    check.near(counts["[ready]"], trace.made.says["irqs"], 5)


def waits_are_chosen(trace):
    """The options that choose samples choose waits."""
    every = waits_of(trace)
    few = waits_of(trace, "-I", "handler_3]$")
    check.same(few, [one for one in every if re.search(r"_3\]'", str(one[1]))])
    some = waits_of(trace, "-t", "handler_3")
    check.true(0 < len(some) < len(few))
    inside = waits_of(trace, "--time", "0.01,0.02")
    check.true(0 < len(inside) < len(every))
    check.true(max(clocks for clocks, _ in inside) <= 100000)
    for words in (("--diff", trace.path), ("--exits", "."), ("-C", "0")):
        trace.parasite("flame", "-q", "--wait", *words, trace.path, status=2)


def several_part(s):
    s.holds("clocks are aligned by packets", clocks_are_aligned, s)
    s.holds("clocks are shifted by hand", clocks_are_shifted, s)


def wait_part(s):
    trace = Trace(s)
    s.holds(waits_are_sums, trace)
    s.holds(waits_are_split, trace)
    s.holds(waits_are_chosen, trace)


def suite(s):
    globals()[f"{s.part}_part"](s)
