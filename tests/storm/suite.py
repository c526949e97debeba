# SPDX-License-Identifier: Apache-2.0
"""The recorder of tasks at its limits, in images of both widths: storms of
nested interrupts, rings that are full, dumps in the middle of everything. What
comes out keeps the rules of traces, and what is missing is counted and marked.
Time is instructions, so that each run is the same."""

import functools
import json
import re

from harness.command import Command, packets_of
from harness.suite import WIDTHS, check, run

PARTS = WIDTHS
IMAGE = "test/trace_storm"
SMALL = "prof.trace_kb=24"  # a ring of 256 events
LARGE = "prof.trace_kb=1024"


class Recording:
    """One run of do=(what) with the options (append), and what is in it; an
    instruction takes 2**(shift) ns."""

    def __init__(self, s, what, append, name=None, code=0, shift=0):
        self.s, self.width = s, s.part
        self.name = name or what
        self.packets = s.work / f"{self.name}.bin"
        self.packets.unlink(missing_ok=True)
        with s.guest(
            *(self.width, IMAGE, f"{self.name}"),
            append=f"prof.start=off prof.every=0 prof.out=e9 do={what} "
            + append,
            icount=shift,
            stream=self.packets,
        ) as guest:
            self.code = guest.end()
            if code is not None:
                check.same(self.code, code)
            self.said = guest.text()
        self.trace = s.work / f"{self.name}.trace"
        Command(s).record(
            *(self.trace, "-q", f"file:{self.packets}"),
            *("-k", s.image(self.width, IMAGE)),
        )
        self.text = run(
            *(s.parasite, "script", "-q", self.trace), status=None
        ).out

    def stat(self, name):
        return int(check.has(self.said, rf"^storm: .*{name} (\d+)").group(1))

    def count(self, context):
        """How many values (context) has recorded, 0 being the thread."""
        return self.stat(f"counter {context}:")

    def values(self, name):
        """Those that arrived, each of which is whole."""
        found = []
        for value in re.findall(rf" counter: {name} = (\d+)$", self.text, re.M):
            high, low = divmod(int(value), 1 << 32)
            check.same(high, low, "halves of a value")
            found.append(low)
        check.same(found, sorted(set(found)), f"values of {name}")
        return found

    def names(self):
        return ["thread"] + [f"depth {i}" for i in range(1, 5)]

    def checked(self):
        """Nothing is wrong with the trace; its losses."""
        done = run(self.s.parasite, "info", "--check", "-j", self.trace)
        found = json.loads(done.out)
        check.same(found["problems"], [])
        return found["losses"]


def nested(text):
    """The deepest nesting of interrupts."""
    depth = most = 0
    for kind in re.findall(r" (irq_enter|irq_exit): ", text):
        depth += 1 if kind == "irq_enter" else -1
        most = max(most, depth)
    check.same(depth, 0)
    return most


def storm_loses_nothing(s):
    """With room for it every event of a storm arrives, once and whole."""
    found = Recording(s, "storm", f"prof.trace=stream {LARGE}")
    check.same(found.checked(), [])
    check.same(found.stat("lost"), 0)
    for context, name in enumerate(found.names()):
        count = found.count(context)
        check.true(count > 100, name)
        check.same(found.values(name), list(range(1, count + 1)), name)
    check.same(nested(found.text), 4)
    again = Recording(s, "storm", f"prof.trace=stream {LARGE}", "storm-again")
    check.same(found.text, again.text)


def says_losses(s, found, lost):
    """Each summary says how many, and which option keeps them."""
    words = rf"{lost:,} events of tasks lost.*; prof\.trace_kb=2048 keeps them"
    parasite = Command(s)
    again = parasite.record(s.work / "again.trace", f"file:{found.packets}")
    check.has(again.err, words)
    check.same(parasite.info(found.trace)["lost_events"], lost)
    check.has(
        run(s.parasite, "tasks", found.trace).text,
        r"; prof\.trace_kb=2048 keeps what the guest overwrote",
    )


@functools.cache
def full(s):
    """A ring that interrupts overflow again and again."""
    return Recording(s, "full", f"prof.trace=stream {SMALL}")


def full_ring_is_marked(s):
    """Each loss is marked where it is, and they add up to what is missing."""
    found = full(s)
    losses = found.checked()
    lost = sum(loss["events"] for loss in losses)
    check.same(lost, found.stat("lost"))
    check.true(lost > 20000 and len(losses) > 20, f"{lost} in {len(losses)}")
    says_losses(s, found, lost)
    for name in found.names()[:3]:
        check.true(len(found.values(name)) > 0, name)
    arrived = len(re.findall(" (?:counter|irq_enter|irq_exit): ", found.text))
    check.same(arrived + lost, found.stat("recorded"))


def without_mark(packets, events):
    """The packets without the first LOST of so many events; as bytes."""
    head, number = 72, events.to_bytes(4, "little")
    kept, removed = bytearray(), 0
    for packet in map(bytearray, packets_of(packets)):
        content = int.from_bytes(packet[44:48], "little") // 8
        at = packet.find(number, head, content)
        while at >= head + 4 and packet[at - 4] != 52 << 2 | 3:
            at = packet.find(number, at + 1, content)
        if at >= head + 4 and not removed:
            del packet[at - 4 : at + 4]
            del packet[content - 8 :]
            removed += 1
            for field in (44, 48):
                packet[field : field + 4] = (len(packet) * 8).to_bytes(
                    4, "little"
                )
            packet[60:64] = bytes(4)
            packet[60:64] = crc32c(packet).to_bytes(4, "little")
        kept += packet
    check.same(removed, 1)
    return bytes(kept)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def missing_mark_is_found(s):
    """The same recording, of which one mark is taken away."""
    found = full(s)
    most = max(loss["events"] for loss in found.checked())
    trace = s.work / "no-mark.trace"
    data = without_mark(found.packets.read_bytes(), most)
    Command(s).record(trace, "-q", "-", data=data)
    said = run(s.parasite, "info", "--check", trace, status=1).out
    check.has(
        said,
        # the switch after it is taken for one that was recorded
        rf": {most - 1} events are missing before, and not marked as lost$",
    )


def trigger_keeps_the_moment(s):
    """An interrupt triggers a dump, which ends with that moment; then the
    recorder goes on."""
    found = Recording(s, "trigger", f"prof.trace=flight {SMALL} at=20")
    found.checked()
    at = check.has(found.said, r"^storm: triggered at (\d+) and (\d+)$")
    # the thread may have counted what it had not begun to record
    check.between(
        found.values("thread")[-1], int(at.group(1)) - 1, int(at.group(1))
    )
    check.same(found.values("depth 1")[-1], int(at.group(2)))
    check.has(found.said, "^storm: it goes on$")
    check.same(found.stat("dumps"), 1)


def dumps_in_a_storm(s):
    """A flight recorder is dumped while interrupts overwrite it: each dump has
    what the last one has not."""
    found = Recording(s, "dump", f"prof.trace=flight {SMALL}")
    losses = found.checked()
    check.same(found.stat("dumps"), 20)
    check.same(len(re.findall(r" history:", found.text)), 20)
    check.true(sum(loss["events"] for loss in losses) > 0, "none overwritten")
    values = [len(found.values(name)) for name in found.names()]
    check.true(sum(values) > 50 and values[0] > 20, f"{values}")


def interrupt_after_each_instruction(s):
    """Each call of the recorder is interrupted after each of its instructions,
    by one that records as well."""
    found = Recording(s, "steps", f"prof.trace=stream {LARGE}")
    check.same(found.checked(), [])
    check.true(found.count(1) > 4000, "steps")
    check.same(found.values("depth 1"), list(range(1, found.count(1) + 1)))
    check.same(found.values("thread"), list(range(1, 21)))
    check.same(len(re.findall(r" create: promise a label ", found.text)), 20)
    check.same(len(re.findall(r" resolve: a label ", found.text)), 20)


def additions_are_complete(s):
    """Interrupts after each instruction of an addition add to the same counter,
    of more than 32 bits: each sum has all steps before it, and is whole; those
    of interrupts, which nothing interrupts, rise; the last one has all. On i386
    the interrupt between an addition's halves may miss a carry."""
    found = Recording(s, "added", f"prof.trace=stream {LARGE}")
    check.same(found.checked(), [])
    count = found.stat("additions")
    check.true(count > 200, count)
    steps = re.findall(
        r"^(\S+) .* counter: all contexts = (\d+)$", found.text, re.M
    )
    sums = [int(text) - ((1 << 32) - 100) for _, text in steps]
    check.same(len(sums), 1 + count)
    check.same([sums[0], sums[-1]], [0, count])
    if s.part == "i386" and min(sums) < 0:
        at = sums.index(min(sums))
        sums[at] += 1 << 32
    for i, total in enumerate(sums):
        check.between(total, i, count)
    of_irqs = [total for (who, _), total in zip(steps, sums) if who == "[irq"]
    check.same(len(of_irqs), count - 10)
    check.same(of_irqs, sorted(set(of_irqs)), "sums of interrupts")


def panic_within_an_event(s):
    """A panic comes after an instruction of the recorder: all that was recorded
    is dumped, and the event in the making is lost, with a mark. It comes by
    instructions, whatever the time: with longer ones the boot, which waits for
    clocks, takes fewer."""
    ends = set()
    for at in range(2, 80, 5):
        found = Recording(
            *(s, "panic", f"prof.trace=flight {SMALL} at={at}"),
            *(f"panic-{at}", None),
            shift=4,
        )
        if found.code == 0:
            break  # there are not so many instructions
        check.same(found.code, 101)
        losses = [loss["events"] for loss in found.checked()]
        thread = found.values("thread")
        check.same(found.values("depth 1"), list(range(1, at + 1)))
        check.true(thread[-1] in (100, 101))
        ends.add((tuple(losses), thread[-1]))
    check.same(ends, {((), 100), ((1,), 100), ((), 101)})


def identity_survives(s):
    """The ring has overwritten all but the last events of a task: the dump has
    its name and where it was created."""
    found = Recording(s, "wrap", f"prof.trace=flight {SMALL}")
    found.checked()
    alive = check.has(
        found.text,
        r" alive: task early bird (\d+) "
        r"\(tests/guest/trace/trace_storm/main.c:\d+\)$",
    )
    check.lacks(found.text, r" create: task ")
    check.has(found.text, rf" switch: early bird {alive.group(1)}$")
    said = run(s.parasite, "tasks", "-q", found.trace).out
    check.has(said, "early bird|born first")


def long_names_are_cut(s):
    """Names of 10,000 bytes: constant ones and others."""
    found = Recording(s, "names", "prof.trace=stream")
    found.checked()
    n = "n" * 117
    check.has(found.text, rf" create: task {n[:50]}m+\.\.\. \d+ ")
    check.has(found.text, rf" create: promise {n[:50]}m+\.\.\. \d+ ")
    check.has(found.text, rf" label: .*: {n}\.\.\.$", count=1)
    check.has(found.text, r" label: .*: n{50}m{67}\.\.\.$", count=1)
    check.same(found.stat("cut"), 2)
    check.true(found.packets.stat().st_size < 2000, "bytes")


def suite(s):
    for what, function in (
        ("a storm of nested interrupts loses nothing", storm_loses_nothing),
        ("a full ring's losses are marked", full_ring_is_marked),
        ("a mark that is missing is found", missing_mark_is_found),
        ("an interrupt triggers a dump", trigger_keeps_the_moment),
        ("it is dumped in a storm", dumps_in_a_storm),
        (
            "an interrupt after each instruction",
            interrupt_after_each_instruction,
        ),
        ("additions within an addition", additions_are_complete),
        ("a panic in the middle of an event", panic_within_an_event),
        ("objects survive the ring's end", identity_survives),
        ("names of 10,000 bytes are cut", long_names_are_cut),
    ):
        s.holds(f"{s.part}: {what}", function, s)
