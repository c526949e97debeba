# SPDX-License-Identifier: Apache-2.0
"""Many tasks with the recorder on, readers that join late, memory that is
refused, and promises that nobody awaits: in images."""

import json
import re

from harness.command import Command, boot_and_record
from harness.suite import FULL, check, given_time, run
from missing import CROWD

QUIET = "prof.start=off prof.every=0"
MOST = 100000
MANY = {"i386": 20000, "x86_64": MOST if FULL else 20000}
FLIGHT_KB = 16384  # for MOST, of their last events only
SOME = 300  # that a late reader finds
DISK = [
    "-blockdev",
    "driver=null-co,node-name=d,size=1048576,read-zeroes=on",
    "-device",
    "virtio-blk-pci,drive=d",
]


def trace_of(s, image, name, append, **options):
    """Of the image without samples; and its console."""
    return boot_and_record(
        *(s, s.part, image, f"{s.part}-{name}", f"{QUIET} {append}"), **options
    )


def checked(s, trace):
    found = json.loads(run(s.parasite, "info", "--check", "-j", trace).out)
    check.same(found["problems"], [])
    return found


def tasks_of(s, trace):
    """What is known of tasks, by site."""
    found = json.loads(run(s.parasite, "tasks", "-j", trace).out)
    return {site["site"]: site for site in found["sites"]}, found


# ---- many tasks


def many_are_recorded(s):
    """Each is in the stream, from its beginning to its end."""
    many = MANY[s.part]
    trace, said = trace_of(
        *(s, CROWD, "many"),
        f"prof.trace=stream prof.trace_kb=65536 crowd={many}",
        memory=640,
    )
    check.has(said, rf"^crowd: the sum is {many * (many + 1) // 2}$")
    found = checked(s, trace)
    check.same(found["losses"], [])
    check.true(found["events"] > 9 * many, found["events"])
    member = tasks_of(s, trace)[0]["member"]
    check.same((member["count"], member["resolved"]), (many, many))
    check.same(member["runs"], 2 * many)
    size = sum(file.stat().st_size for file in trace.glob("stream-*"))
    check.true(size < 8 * found["events"], f"{size} bytes")


def many_are_remembered(s):
    """The ring of a flight recorder has room for their last events only. The
    dump knows every one of them."""
    many = MANY[s.part]
    room = FLIGHT_KB * many // MOST
    trace, said = trace_of(
        *(s, CROWD, "flight"),
        f"prof.trace=flight prof.trace_kb={room} crowd={many}",
        memory=640,
    )
    check.has(said, rf"^crowd: {many + 1} tasks wait$")
    found = checked(s, trace)
    check.true(found["events"] < 3 * many, found["events"])
    member = tasks_of(s, trace)[0]["member"]
    check.same((member["count"], member["open"]), (many, many))


# ---- who joins late


def joins(s, target, image, seconds):
    """What a reader learns who was not there when the tasks began."""
    trace = s.work / f"{s.part}-late.trace"
    Command(s).record(trace, "-q", "-k", image, "-d", seconds, target)
    checked(s, trace)
    sites, found = tasks_of(s, trace)
    for name in ("member", "gate", "counts"):
        check.contains(sites, name)
    member = sites["member"]
    check.same((member["count"], member["open"]), (SOME, SOME))
    check.contains(member["file"], "trace_crowd/main.c")
    check.same(sites["gate"]["open"], 1)
    check.same(sites["counts"]["count"], 1)
    check.true(sites["counts"]["runs"] > 3, sites["counts"])
    check.has(found["missing"], r"^the trace begins after [\d,]+ events")
    text = run(s.parasite, "script", "-q", trace).out
    check.same(len(re.findall(r" alive: task member \d+ \(", text)), SOME)
    check.has(text, r"^counts \d+ .* counter: laps = \d+$")
    check.lacks(text, r" create: task member ")


def late(s, channel, words, out):
    """Two readers, one after the other, neither of them from the beginning."""
    with s.guest(
        *(s.part, CROWD, f"{s.part}-late-{out}"),
        append=f"{QUIET} prof.out={out} prof.trace=stream crowd={SOME} "
        "ms=3600000",
        channels={"stream": channel},
        args=words,
    ) as guest:
        guest.wait_line(f"^crowd: {SOME + 1} tasks wait$")
        image, target = s.image(s.part, CROWD), guest.address("stream")
        for _ in range(2):
            given_time(lambda seconds: joins(s, target, image, seconds))
        guest.interrupt()


def late_by_virtio(s):
    late(
        s,
        "unix",
        ["-device", "virtio-serial-pci"]
        + ["-device", "virtconsole,chardev=stream"],
        "virtio",
    )


def late_by_uart(s):
    late(s, "tcp", ["-serial", "chardev:stream"], "uart2")


# ---- no memory


def refused_in_turn(s):
    """Of tasks, stacks, promises and what waits: nothing is left behind, and
    what was recorded keeps the rules."""
    trace, said = trace_of(
        *(s, "test/trace_refused", "refused"), "prof.trace=stream", args=DISK
    )
    count = check.has(
        said, r"^refused: (\d+) in turn; 0 left, 0 errors$"
    ).group(1)
    check.true(int(count) > 60, count)
    check.lacks(said, "^promise: ")
    check.same(checked(s, trace)["losses"], [])
    text = run(s.parasite, "script", "-q", trace).out
    rounds = re.findall(r" counter: refused = (\d+)$", text, re.M)
    check.same(len(rounds), int(count) + 1)
    check.has(text, " fail: .*: no memory$")


def refused_at_boot(s):
    """Those of the recorder: the image runs without what has no memory, and
    says so."""
    recorders = 0
    for number in range(1, 20):
        with s.guest(
            *(s.part, "test/trace_refused", f"{s.part}-boot-{number}"),
            append=f"prof.every=0 prof.trace=stream prof.trace_kb=256 "
            f"prof.trace_stacks=32 prof.loop=8 boot={number}",
            icount=0,
        ) as guest:
            check.same(guest.end(), 0)
            said = guest.text()
        total = check.has(said, rf"^refused: {number} of (\d+) at boot$")
        if int(total.group(1)) < number:
            break
        recorders += said.count("\nprof: no recorder of tasks: ")
    check.true(number > 2, "allocations")
    check.same(recorders, 1, "without its memory")


# ---- nobody awaits


def forgotten_are_named(s):
    """Each with its place in the source, and a limited number of lines."""
    trace, said = trace_of(
        s, "test/trace_forgotten", "forgotten", "prof.trace=stream"
    )
    at = r"made at tests/guest/trace/trace_forgotten/main.c:\d+,"
    check.has(
        said,
        rf"^promise: unheard \(\d+\), {at} failed, and nobody awaited it: "
        "on purpose$",
        count=1,
    )
    check.has(
        said,
        rf"^promise: forgotten \(\d+\), {at} was neither awaited nor freed$",
        count=1,
    )
    check.has(said, rf"^promise: sleep \(\d+\), {at} was neither", count=7)
    check.has(said, "^promise: and 12 more$", count=1)
    check.lacks(said, "given up|looked at|^promise: awaited")
    checked(s, trace)
    sites = tasks_of(s, trace)[0]
    check.same(sites["forgotten"]["resolved"], 1)
