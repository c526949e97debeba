# SPDX-License-Identifier: Apache-2.0
"""Traces of other recorders, written here, in every command that reads events
of tasks."""

import json
import re

from harness.command import Command
from harness.recorders import LOOP, Eio, Mirage, fiber, ring
from harness.suite import check, run


def mirage():
    """A bind that waits for a promise, which a thread of the loop resolves."""
    made = Mirage()
    made.put("creates", LOOP, 1, "task")
    made.put("label", 1, "the answer")
    made.put("creates", LOOP, 2, "bind")
    made.put("try_read", 2, 1)
    made.put("increase", LOOP, 3, "sent")
    made.put("increase", LOOP, 4, "sent")
    made.put("switch", LOOP)
    made.next_packet()
    made.put("gc", 250_000, after=2_000_000_000)
    made.put("fulfills", LOOP, 1)
    made.put("read", 2, 1)
    made.put("creates", 2, 3, "map")
    made.put("becomes", 2, 3)
    made.put("counter", 2, -5, "queue")
    made.next_packet()
    made.put("fails", 2, 3, "Not_found")  # by now 2 is 3
    made.put("creates", 77, 4, "condition")  # 77 is from before
    made.put("signal", 77, 4)
    made.put("switch", LOOP, after=500)
    return made


MIRAGE_SAYS = r"""
\[event loop\] 0.0+ .* create: promise the answer 1
.* label: the answer 1: the answer
.* create: bind bind 2
bind 2 .* try_read: the answer 1
.* counter: sent = 3
.* counter: sent = 7
.* pause: GC, .*
\[event loop\] 2.0.* resolve: the answer 1
bind 2 2.0.* read: the answer 1
bind 2 .* create: map map 3
bind 2 .* become: bind 2 .* map 3
map 3 .* counter: queue = -5
map 3 .* fail: map 3: Not_found
.* alive: other other 4
other 4 .* create: condition condition 5
other 4 .* signal: .*condition 5.*
"""


def eio():
    """A main fiber in its context, which starts a second one; each waits. A
    third runs in another domain, whose events come later than they were."""
    made = Eio()
    made.event(Eio.BEGIN, ring(0), "eio", "cc", id=1, type="root")
    made.wake(2)
    made.event(Eio.INSTANT, ring(0), "eio", "create-fiber", after=0, id=2, cc=1)
    made.name(2, "main")
    made.event(Eio.BEGIN, fiber(2), "eio", "cc", id=3, type="switch")
    made.wake(4)
    made.event(
        Eio.INSTANT, fiber(2), "eio", "create-fiber", after=0, id=4, cc=3
    )
    made.event(Eio.BEGIN, fiber(4), "eio.suspend", "read")
    made.wake(2)
    made.event(Eio.INSTANT, fiber(2), "eio", "log", message="half way")
    made.event(Eio.BEGIN, fiber(2), "eio.suspend", "await")
    made.event(Eio.BEGIN, ring(0), "eio", "suspend-domain")
    made.event(Eio.END, ring(0), "eio", "suspend-domain", after=3_000_000_000)
    made.event(Eio.BEGIN, ring(0), "gc", "minor")
    made.event(Eio.BEGIN, ring(0), "gc", "minor_local_roots")
    made.event(Eio.END, ring(0), "gc", "minor_local_roots")
    made.event(Eio.END, ring(0), "gc", "minor", after=7000)
    made.wake(4)
    made.event(Eio.INSTANT, fiber(4), "eio", "error", id=4, message="Exit")
    made.event(Eio.INSTANT, fiber(4), "eio", "exit-fiber", id=4)
    made.wake(2)
    made.event(Eio.END, fiber(2), "eio", "cc")
    made.event(Eio.INSTANT, fiber(2), "eio", "exit-fiber", id=2)
    made.time -= 1_000_000_000
    made.wake(9, cpu=1)
    made.event(Eio.BEGIN, fiber(9), "eio.suspend", "sleep")
    return made


EIO_SAYS = r"""
\[event loop\] 0.0+ \[000\] create: scope root 1
\[event loop\] .* create: task half way 2
.* label: half way 2: main
half way 2 .* create: scope switch 3
half way 2 .* create: task task 4
task 4 .* switch: task 4
task 4 .* suspend: read
half way 2 .* label: half way 2: half way
half way 2 .* suspend: await
\[event loop\] .* suspend: suspend-domain
.* 2.0.* \[001\] switch: other 5
other 5 .* suspend: sleep
.* 3.0.* \[000\] pause: minor, .*
task 4 .* fail: task 4: Exit
half way 2 .* resolve: switch 3
half way 2 .* resolve: half way 2
"""


def says(text, patterns):
    """Lines that fit (patterns), in this order."""
    at = 0
    for pattern in patterns.strip().splitlines():
        found = re.compile(f"^{pattern}$", re.M).search(text, at)
        check.true(found, f"{pattern} in\n{text[at:]}")
        at = found.end()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def sealed(packets):
    """With checksums that are right (struct prof_packet)."""
    done = b""
    while packets:
        content, total = (
            int.from_bytes(packets[at : at + 4], "little") // 8
            for at in (44, 48)
        )
        packet, packets = packets[:total], packets[total:]
        head = packet[:60] + bytes(4) + packet[64:]
        crc = crc32c(head[:content]).to_bytes(4, "little")
        done += packet[:60] + crc + packet[64:]
    return done


class Imports:
    def __init__(self, s):
        self.s, self.parasite = s, Command(s)

    def file(self, name, data):
        path = self.s.work / name
        path.write_bytes(data)
        return path

    def is_read(self, name, data, script, objects):
        """In all commands."""
        path = self.file(name, data)
        says(self.parasite("script", path).out, script)
        checked = json.loads(
            self.parasite("info", "--check", "--json", path).out
        )
        check.same(checked["problems"], [])
        check.same(checked["objects"], objects)
        check.same(self.parasite.info(path)["garbage_bytes"], 0)
        for ending in ("html", "svg"):
            drawn = self.s.work / f"{name}.{ending}"
            self.parasite("timeline", "-q", path, "-o", drawn)
            check.true(drawn.stat().st_size > 0, ending)

    def has_turned(self):
        """A ring whose oldest packet is not the first, and whose numbers are
        about to begin again."""
        for turn in range(3):
            data = mirage().data(first=65534, turn=turn)
            self.is_read(f"turn{turn}.ctf", data, MIRAGE_SAYS, 5)

    def is_lost(self):
        """The second of three packets, which has become zeros."""
        data = mirage().data()
        path = self.file("lost.ctf", data[:4096] + bytes(4096) + data[8192:])
        checked = json.loads(
            self.parasite("info", "--check", "--json", path).out
        )
        check.same(len(checked["losses"]), 1)
        check.same(self.parasite.info(path)["garbage_bytes"], 4096)

    def is_cut(self, name, data, least):
        """Whatever is there is read, or it is said why not."""
        for count in range(least, len(data), 11):
            path = self.file(name, data[:count])
            ran = self.parasite("info", path, status=None)
            check.true(ran.status in (0, 1), f"{count} bytes: {ran.err}")
            if ran.status == 1:
                check.has(ran.err, "contains no packets|without any event")

    def is_moved(self):
        """Traces without a time of day are moved by hand only."""
        one, other = (
            self.file(name, mirage().data()) for name in ("a.ctf", "b.ctf")
        )
        page = self.s.work / "both.html"
        ran = self.parasite(
            *("timeline", one, other, "--shift", f"{other}=-1.5", "-o", page)
        )
        check.has(ran.err, "not aligned: no packets, no time of day at boot")
        check.has(ran.err, f"{one}: moved by 1.5000000 s")
        check.lacks(ran.err, f"{other}: moved")
        for word in ("1", "c.ctf=1", f"{one}=", f"{one}=soon", f"{one}=nan"):
            ran = self.parasite("timeline", one, "--shift", word, status=2)
            check.has(ran.err, "^parasite timeline: --shift")

    def is_aligned(self):
        """A guest that booted 4 s after another: the seconds in its HELLO are
        replaced, and its packets' checksums by a recorder's that are right."""
        early = run(self.s.build / "host" / "make_tasks", 1000, 1).data
        second = b"\x00\xf1\x53\x65" + bytes(4)  # 1,700,000,000
        check.true(second in early, "a time of day")
        one = self.file("early.packets", early)
        late = early.replace(second, b"\x04" + second[1:])
        other = self.file("late.packets", sealed(late))
        ran = self.parasite(
            *("timeline", one, other, "-o", self.s.work / "aligned.html")
        )
        check.has(ran.err, "by the time of day at boot, to the second only")
        check.has(ran.err, f"{other}: moved by 4.0000000 s")

    def says_why(self):
        nothing = Mirage().data()
        for name, data in (("none.ctf", nothing), ("none.fxt", Eio().data())):
            ran = self.parasite("timeline", self.file(name, data), status=1)
            check.has(ran.err, "without any event that can be read")


def suite(s):
    imports = Imports(s)
    s.holds(
        "what mirage-profile wrote is read",
        *(imports.is_read, "net.ctf", mirage().data(), MIRAGE_SAYS, 5),
    )
    s.holds("its ring begins with the oldest packet", imports.has_turned)
    s.holds("what is lost in it is marked", imports.is_lost)
    s.holds(
        "what eio-trace wrote is read",
        *(imports.is_read, "eio.fxt", eio().data(), EIO_SAYS, 5),
    )
    s.holds(
        "a trace that is cut is read up to there",
        *(imports.is_cut, "cut.ctf", mirage().data(512), 30),
    )
    s.holds(
        "records that are cut are left out",
        *(imports.is_cut, "cut.fxt", eio().data(), 8),
    )
    s.holds("a trace without events says so", imports.says_why)
    s.holds("a trace is moved against another", imports.is_moved)
    s.holds("guests are aligned by the time of day", imports.is_aligned)
