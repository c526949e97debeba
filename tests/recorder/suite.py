# SPDX-License-Identifier: Apache-2.0
"""The recorder of tasks in images, on both widths: as a stream, as a flight
recorder that is dumped by a command or by a panic, and switched on and off by
commands; with many tasks, late readers, and packets that are missing. What it
sends is read by the host's command and by babeltrace2."""

import re
from contextlib import contextmanager

from harness.command import Command, boot_and_record
from harness.suite import WIDTHS, check, run
import crowd
from missing import missing

PARTS = WIDTHS
PARSER = "services/lua/scripts/parser.lua"
HISTORY = 0x8000  # PROF_CPU_HISTORY


def events(trace):
    """What babeltrace2 calls the events, in order, whatever their form."""
    said = run("babeltrace2", "--names", "none", trace)
    check.same(said.err, "")
    found = re.findall(r"^\[\S+ \S+ (\w+): ", said.out, re.M)
    return [name.removesuffix("_brief") for name in found]


def streams(s, width):
    """What an image does is in its trace: the same each time, and sound."""
    found = []
    for turn in range(2):
        trace, _ = boot_and_record(
            *(s, width, "lua", f"{width}-stream-{turn}"),
            "prof.trace=stream prof.reports=1 alarm=tick",
            modules=[PARSER],
        )
        run(s.parasite, "info", "--check", trace)
        found.append(events(trace))
        check.lacks(" ".join(found[-1]), r"\blost\b")
    for name in ("create", "switch", "irq_enter", "irq_exit", "pause", "site"):
        check.true(found[0].count(name) > 0, name)
    check.same(
        [name for name in found[0] if name not in ("leaf", "node", "sample")],
        [name for name in found[1] if name not in ("leaf", "node", "sample")],
    )


def panics(s, width):
    """A panic sends what the flight recorder has kept, and nothing before."""
    trace, _ = boot_and_record(
        *(s, width, "test/panic", f"{width}-panic"),
        "prof.trace=flight prof.every=0 die=write_null",
        code=101,
        icount=2,
    )
    check.true((trace / f"stream-{HISTORY}").exists(), "a stream of its own")
    found = events(trace)
    check.same(found.count("history"), 1)
    check.true(found.count("alive") > 0, "objects")
    check.true("create" in found or "switch" in found, found)


@contextmanager
def running(s, width, name, words):
    """An image that takes commands, and the file of its packets. When the block
    ends it is ended, and (name) is recorded."""
    packets = s.work / f"{name}.bin"
    packets.write_bytes(b"")
    with s.guest(
        *(width, "lua", name),
        append=f"prof.out=e9 prof.every=0 {words}",
        modules=[PARSER],
        stream=packets,
        typed=True,
        serial="stdio",
    ) as guest:
        guest.wait_line("^parser: ")
        yield guest, packets
        guest.interrupt()
    trace = s.work / f"{name}.trace"
    Command(s).record(
        trace, "-q", f"file:{packets}", "-k", s.image(width, "lua")
    )


def commands(s, width):
    """It is switched on, dumped and switched off while the image runs."""
    name = f"{width}-commands"
    with running(s, width, name, "prof.trace=flight") as (guest, packets):
        for command, answer in (
            ("trace dump", "^#prof! ok trace dump$"),
            ("trace off", "^#prof! ok trace off$"),
            ("trace dump", '^#prof! error: "trace dump": nothing to dump'),
            ("trace on", "^#prof! ok trace on$"),
            ("trace", '^#prof! error: "trace": trace takes on, off or dump'),
            ("trace dump now", "^#prof! error: .*trace takes on"),
        ):
            guest.send(command)
            guest.wait_line(answer)
        guest.soon(lambda: packets.stat().st_size > 0, "packets")
    check.same(events(s.work / f"{name}.trace").count("history"), 1)


def late(s, width):
    """Switched on by a command, it has interrupts as from the start; nobody
    looked at them before."""
    name = f"{width}-late"
    with running(s, width, name, "alarm=tick") as (guest, packets):
        guest.send("trace on")
        guest.wait_line("^#prof! ok trace on$")
        wanted = packets.stat().st_size + 8 * 4096
        guest.soon(lambda: packets.stat().st_size > wanted, "events")
    check.true("irq_enter" in events(s.work / f"{name}.trace"))


def no_memory(s, width):
    """Without memory for it the image goes on, and says so."""
    with s.guest(
        *(width, "hello", f"{width}-memory"),
        append="prof.trace=stream prof.trace_kb=1048576 prof.every=0",
        icount=0,
    ) as guest:
        check.same(guest.end(), 0)
        check.has(guest.text(), "^prof: no recorder of tasks: .*too small$")


CPUS = 4
ROUNDS = 60  # of tests/guest/smp/cpu_promises
ON_CPU = r"^.* [0-9.]+ \[(\d+)\] "


def said_by_cpu(lines, what):
    """By CPU, what follows (what) in the lines of its events."""
    found = [[] for _ in range(CPUS)]
    for line in lines:
        if match := re.search(ON_CPU + what, line):
            found[int(match[1])].append(match[2])
    return found


def cpus_record(s, width):
    """Tasks on all CPUs, each of which has the others resolve its promises, in
    one trace: the counts of each CPU are those that the program knows, and an
    object that one CPU creates and another one runs is one object."""
    trace, _ = boot_and_record(
        *(s, width, "test/cpu_promises", f"{width}-cpus"),
        "prof.start=off prof.trace=stream prof.every=0 prof.trace_kb=32768",
        cpus=CPUS,
        icount=None,
        memory=256,
    )
    said = run(s.parasite, "info", "--check", trace).text
    check.has(said, r": 0 problems, 0 losses$")
    lines = run(s.parasite, "script", trace).text.splitlines()
    check.same(lines, sorted(lines, key=time_of), "in the order of time")
    made = said_by_cpu(lines, r"create: promise (of another CPU \d+) ")
    ended = said_by_cpu(lines, r"resolve: (of another CPU \d+)$")
    check.same([len(one) for one in made], [CPUS * ROUNDS] * CPUS)
    for here, there in zip(made, ended):  # its own CPU says so
        check.same(sorted(here), sorted(there))
    check.same(len(set(sum(made, []))), CPUS * CPUS * ROUNDS, "numbers")
    sent = said_by_cpu(lines, r"create: callback (message \d+)$")
    ran = said_by_cpu(lines, r"switch: (message \d+)$")
    done = said_by_cpu(lines, r"resolve: (message \d+)$")
    running = {one[-1] for one in ran}  # maybe, when the image ended
    check.same(set(sum(sent, [])) - set(sum(done, [])) - running, set())
    check.same(set(sum(done, [])) - set(sum(sent, [])), set(), "messages")
    for there in range(CPUS):
        check.true(set(done[there]) <= set(ran[there]), f"run by {there}")
        for here in range(CPUS):
            both = set(sent[here]) & set(done[there])
            check.true(len(both) > 0, f"from CPU {here} to {there}")
    loops = {line.split("] ")[0] + "]" for line in lines if "idle" in line}
    for cpu in range(1, CPUS):
        check.true(f"[event loop {cpu}]" in loops, f"the loop of CPU {cpu}")


def time_of(line):
    return float(re.search(r" ([0-9]+\.[0-9]+) \[", line)[1])


def cpus_fly(s, width):
    """A panic on one CPU sends what the rings of all have."""
    trace, _ = boot_and_record(
        *(s, width, "test/cpus_die", f"{width}-cpus-panic"),
        "prof.start=off prof.trace=flight prof.every=0 die=task",
        code=101,
        cpus=CPUS,
        icount=None,
    )
    check.true((trace / f"stream-{HISTORY}").exists(), "of CPU 0")
    check.true((trace / f"stream-{HISTORY + 3}").exists(), "of CPU 3")
    check.has(
        run(s.parasite, "script", trace).text,
        r"\[32771\] create: task doomed ",
    )


def suite(s):
    width = s.part
    s.holds(cpus_record, s, width)
    s.holds(cpus_fly, s, width)
    s.holds(streams, s, width)
    s.holds(panics, s, width)
    s.holds(commands, s, width)
    s.holds(late, s, width)
    s.holds(no_memory, s, width)
    s.holds("what is missing is said", missing, s)
    for function in (
        crowd.many_are_recorded,
        crowd.many_are_remembered,
        crowd.late_by_virtio,
        crowd.late_by_uart,
        crowd.refused_in_turn,
        crowd.refused_at_boot,
        crowd.forgotten_are_named,
    ):
        s.holds(function, s)
