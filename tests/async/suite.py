# SPDX-License-Identifier: Apache-2.0
"""The programs of services/async, recorded as `make async` does: each keeps the
rules of traces, and shows what it is there to show, event by event. With the
instruction counter two runs are the same."""

import json
import re
import time

from excerpts import page_is_true
from expected import COROUTINES, DEMOS
from harness import qemu
from harness.command import Command
from harness.payload import Payload
from harness.suite import PROCESSES, WIDTHS, background, by_turns, check, run
from sequence import sequence
from tried import pages_are_current, streams_are_current

PARTS = (*WIDTHS, *PROCESSES)
DISK = "driver=null-co,node-name=d,size=1048576,read-zeroes=on"
DISK = ["-blockdev", f"{DISK},latency-ns=1000000"]
DISK += ["-device", "virtio-blk-pci,drive=d"]
NETWORK = ["-netdev", "user,id=n,guestfwd=tcp:10.0.2.100:9-null"]
NETWORK += ["-device", "virtio-net-pci,netdev=n"]

PROGRESS = ("given", "sent", "acknowledged")  # counters of TCP
WINDOWS = ("TCP congestion window", "TCP receiver's window")
WINDOWS += ("TCP bytes not acknowledged", "TCP segments not acknowledged")

# what is created how often, as `script` names it; and what else it prints
SHOWS = {
    "sleep": {"create: sleep": 1},
    "series": {"create: sleep": 2, "create: bind": 1, " become: bind": 1},
    "join": {"create: sleep": 3, "create: join": 1},
    "choose": {"create: sleep": 4, "create: choose": 1},
    "pick": {"create: sleep": 3, "create: pick": 1, " cancel: sleep": 2},
    "catch": {"create: catch": 1, " fail: ": 1},
    "disk": {"create: io disk read": 8, "create: io disk request": 24},
    "disk-fixed": {"create: io disk read": 8, "create: io disk request": 8},
    "udp": {"create: task packet": 10, "counter: packets sent = ": 10},
    "tcp": {f"counter: TCP bytes #{what} = 146000": 1 for what in PROGRESS},
    "console": {},
}


def devices(demo):
    if demo.startswith("disk"):
        return DISK
    return NETWORK if demo in ("udp", "tcp") else []


def recorded(s, name, image, append, args=(), options=(), shift=0):
    """The trace NAME of an image, on a clock that counts instructions, and what
    record said."""
    trace = s.work / f"{name}.trace"
    words = qemu.command(
        *(s.part, s.image(s.part, image), f"{append} prof.every=0"),
        network=args == NETWORK,
        args=[*args, *qemu.icount(shift)],
    )
    done = Command(s).record(
        *(trace, "-q", "-t", "virtio", *options, "--", *words)
    )
    return trace, done.text


def sound(s, trace):
    """What `script` prints of a trace that keeps the rules, and of which the
    recorder, with the memory that it gets by default, has lost nothing."""
    run(s.parasite, "info", "--check", trace)
    check.same(Command(s).info(trace)["lost_events"], 0)
    return run(s.parasite, "script", trace).out


def record(s, demo, name, *words):
    """A trace of (demo) with more (words), and what `script` prints of it."""
    append = " ".join([f"demo={demo} prof.trace=stream", *words])
    trace, _ = recorded(s, name, "async", append, devices(demo))
    return trace, sound(s, trace)


def json_of(s, command, trace, *words):
    """What a command says as JSON."""
    return json.loads(run(s.parasite, command, "--json", *words, trace).out)


def shows(s, demo):
    _, text = record(s, demo, demo)
    for pattern, count in SHOWS[demo].items():
        check.same(len(re.findall(pattern, text)), count, pattern)
    wanted = DEMOS.get(demo, "").strip().splitlines()
    found = sequence(text)[: len(wanted)]
    check.same("\n".join(found), "\n".join(wanted))


def many_are_served(s):
    """Ten thousand alike: none is left, and the refused ones have failed."""
    record(s, "many", "many")
    found = sites(s, "many")["serve request"]
    check.same(found["count"], 10000)
    check.same(found["failed"], 22)
    check.same(found["resolved"], 10000 - 22)


def sites(s, demo):
    """What `tasks` sums up of the trace that shows() made, by site."""
    found = json_of(s, "tasks", s.work / f"{demo}.trace")["sites"]
    return {site["site"]: site for site in found}


def disk_is_explained(s):
    """Eight reads are 24 requests before the fix, and 8 after it. How long they
    take is up to the host."""
    before, after = sites(s, "disk"), sites(s, "disk-fixed")
    for found, requests in ((before, 24), (after, 8)):
        check.same(found["disk read"]["count"], 8)
        check.same(found["disk request"]["count"], requests)
        check.same(found["read pages"]["runs"], 9)
        check.same(found["read pages"]["resolved"], 1)


def late_ns(text):
    """For how long the disk's callback is ready at the end of a trace."""
    found = re.findall(r" (\d+\.\d+) \[\d+\] (defer|switch): disk \d", text)
    end = re.findall(r" (\d+\.\d+) \[\d+\] ", text)[-1]
    turn = max(i for i, (_, what) in enumerate(found) if what == "switch")
    later = [float(time) for time, _ in found[turn + 1 :]]
    return (float(end) - later[0]) * 1e9 if later else 0


def interrupts_have_delays(s):
    """From a device's interrupt to its callback, which is plain: in the loop's
    statistics and in the trace, where it is ready for as long, and no longer
    but for an interrupt that comes so late that no turn of the loop follows.
    Interrupts that come before the turn are one. A drain may be in the way, and
    when they come is up to the host: but not for milliseconds."""
    trace, text = record(s, "disk", "delays", "prof.loop=8")
    defers = len(re.findall(r"defer: disk \d", text))
    check.true(defers > 10, defers)
    found = json_of(s, "loop", trace, "-q")["sites"]
    (row,) = (r for r in found if r["site"] == "disk")
    check.between(row["delay"]["count"], defers / 2, defers)
    check.between(row["delay_ns"] / row["delay"]["count"], 100, 1e6)
    disk = sites(s, "delays")["disk"]
    check.same(disk["kind"], "callback")
    # the interrupt's own end is in one of the two, and 100 ns a clock
    most = disk["runs"] * 1000
    ready = disk["ready_ns"] - late_ns(text)
    check.between(ready, row["delay_ns"] - most, row["delay_ns"] + 1000)


def interrupts_are_rows(s):
    """Of the disk: each leaves its work to the callback, which is done but for
    one that comes last, and wakes the loop; the picture has a row for each
    vector and one for the loop. The timer's, of a kernel that ticks, leave
    nothing."""
    trace, _ = record(s, "disk", "ticking", "alarm=tick")
    text = run(s.parasite, "script", trace).out
    defers = re.findall(r"^\[irq (\d+)\] .* defer: disk \d+$", text, re.M)
    found = {i["vector"]: i for i in json_of(s, "tasks", trace)["interrupts"]}
    (vector,) = {int(number) for number in defers}
    disk, timer = found[vector], found[32]
    check.same(disk["left"], len(defers))
    check.between(disk["ran_after"]["count"], len(defers) - 1, len(defers))
    check.true(disk["ran_after"]["p50_ns"] >= disk["handled"]["p50_ns"])
    check.between(disk["woke"], 1, len(defers))  # as the host has it
    check.same(timer["left"], 0)
    picture = s.work / "ticking.svg"
    run(s.parasite, "timeline", "-q", trace, "-o", picture)
    text = picture.read_text(encoding="utf-8")
    for name in (f"irq {vector}", "irq 32", "event loop"):
        check.has(text, f">{name}<", count=1)
    # ends of arrows: of what is left, and of the woken loop
    check.true(text.count('class="a9"') >= disk["ran_after"]["count"] - 1)
    check.true(text.count('class="a7"') >= disk["woke"])


def coroutines_are_traced(s):
    """A runtime of C++20 coroutines, which knows nothing of the kernel's tasks:
    its adaptor has at most 100 lines."""
    trace, said = recorded(s, "coroutines", "coroutines", "prof.trace=stream")
    check.has(said, "^coroutines: the sum is 42$")
    found = sequence(sound(s, trace))
    check.same("\n".join(found), COROUTINES.strip())
    with open("services/coroutines/traced.h", encoding="utf-8") as file:
        lines = file.readlines()
    loop = [line for line in lines if "loop" in line]
    check.true(len(lines) - len(loop) <= 100, "the adaptor's lines")
    check.true(len(loop) <= 14, "those for the loop's statistics")


def samples_know_their_task(s):
    """The stacks of a task that never yields go on with its site."""
    trace, _ = recorded(
        *(s, "samples", "test/task_never_yields", "prof.trace=stream"),
        options=("-g", "-F", 1000),
    )
    rows = json_of(s, "report", trace, "-q", "--task")["rows"]
    shares = {row["task"]: row["self_percent"] for row in rows}
    check.true(shares["endless"] > 80, f"{shares}")
    tree = run(s.parasite, "report", "-q", "--task", "-g", trace).out
    names = re.findall(r"(\[task endless\]|[^ \n]+)$", tree, re.M)
    check.same(names[:2], ["[task endless]", "arch_context_begin"])
    check.true({"endless", "spin"} <= set(names), f"{names}")


def samples_have_callers(s):
    """What never yields is sent by the interrupt, with all of its callers."""
    trace, _ = recorded(
        *(
            s,
            "never-yields",
            "test/drains_by_default",
            "prof.start=off do=spin",
        ),
        options=("-g", "-F", 1000),
        shift=2,
    )
    said = json_of(s, "report", trace, "-q")
    total = {r["symbol"]: r["total_percent"] for r in said["rows"]}
    check.same(said["lost"], 0)
    check.true(said["samples"] > 3900, f"{said['samples']} samples")
    check.true(total.get("outer", 0) > 95, f"{total}")


def waits_of(s, demo, *words):
    """The boxes of flame --wait, from the outermost on, for a demo with one
    task; and what the command says."""
    trace, _ = record(s, demo, f"wait-{demo}", *words)
    picture = s.work / f"wait-{demo}.svg"
    said = run(s.parasite, "flame", "--wait", trace, "-o", picture).err
    text = picture.read_text(encoding="utf-8")
    return re.findall(r"<title>(.*): [\d.]+ %, (\d+) wait", text), said


def sources_of(s, trace):
    """{name: where it is} of the frames of flame --wait, as the page says it:
    the folder, and file and line. Of several of a name, the last."""
    page = s.work / "sources.html"
    run(s.parasite, "flame", "-q", "--wait", trace, "-o", page)
    payload = Payload(page)
    strings = list(payload.strings())
    names = [strings[i] for i in payload.changes("function.name")]
    folders = [strings[i] for i in payload.plain("function.folder")]
    lines = [strings[i] for i in payload.plain("node.line")]
    return {
        names[number - 1]: f"{folders[number - 1]}/{line}"
        for number, line in zip(payload.plain("node.function"), lines)
        if number > 0 and line
    }


def by_task(boxes):
    """The boxes of each task, from the outermost on. Which task comes first is
    up to how long it waited."""
    tasks = {}
    for name, count in boxes[1:]:
        if name.startswith("[task "):
            tasks[name] = found = []
        found.append((name, count))
    return tasks


def waits_have_stacks(s):
    """The disk's reads: one stack, each split at its wake; and the driver's
    handler, which is ready from the interrupt on. How long anything is ready is
    up to the host, and what is too short to be drawn has no box. Without stacks
    the picture needs no symbols, and says what is missing."""
    boxes, said = waits_of(s, "disk", "prof.trace_stacks=32")
    check.same(boxes[0][0], "all")
    tasks = by_task(boxes)
    check.true(set(tasks) <= {"[task read pages]", "[task disk]"}, tasks)
    reads = tasks["[task read pages]"]
    check.same(
        [name for name, _ in reads[:9]],
        ["[task read pages]", "arch_context_begin", "task_main", "read_pages"]
        + ["task_await", "task_wait", "disk read", "[for disk read]"]
        + ["[waiting]"],
    )
    check.same(dict(reads)["task_wait"], "16")
    check.same(reads[8][1], "8", "the other half is ready")
    check.true(reads[9:] in ([], [("[ready]", "8")]), reads)
    if "[task disk]" in tasks:
        names = [name for name, _ in tasks["[task disk]"]]
        check.same(names, ["[task disk]", "[not suspended]", "[ready]"])
    check.lacks(said, "not recorded")
    sources = sources_of(s, s.work / "wait-disk.trace")
    for name, wanted in (
        ("[task read pages]", r"services/async/devices\.c:\d+"),
        ("read_pages", r"services/async/devices\.c:\d+"),
        ("task_await", r"kernel/task/task\.c:\d+"),
        ("[for disk read]", r"services/async/devices\.c:\d+"),
    ):
        check.true(re.fullmatch(wanted, sources[name]), sources)
    boxes, said = waits_of(s, "disk")
    names = [name for name, _ in by_task(boxes)["[task read pages]"]]
    check.same(names[1], "disk read")
    check.has(said, "stacks of suspends were not recorded")
    check.lacks(said, "symbols")


def guest_of_two(s, demo, address, netdev):
    """The command that records one of two guests on a wire."""
    last = address.rsplit(".", 1)[1]
    return (
        *(s.parasite, "record", "-q", "-t", "virtio"),
        *("-o", s.work / f"{demo}-of-two.trace", "--"),
        *qemu.command(
            s.part,
            s.image(s.part, "async"),
            f"demo={demo} net.ip={address}/24 prof.trace=stream prof.every=0",
            network=True,
            args=[
                *("-netdev", netdev, "-device"),
                f"virtio-net-pci,netdev=n,mac=52:54:00:00:00:{last[-2:]}",
            ],
        ),
    )


def length_of(s, trace):
    """Seconds from the boot to the last event."""
    text = run(s.parasite, "script", trace).out
    return float(re.findall(r" (\d+\.\d+) \[", text)[-1])


def two_guests_are_aligned(s):
    """By the segments that they exchange. The host knows when the clock of each
    was 0: after its machine was there, and at least as long before its end as
    its trace lasts. The difference is between these bounds."""
    wire = s.work / "wire"
    wire.unlink(missing_ok=True)
    end = f"stream,id=n,addr.type=unix,addr.path={wire}"
    sink = guest_of_two(s, "sink", "10.0.2.100", f"{end},server=on")
    client = guest_of_two(s, "tcp", "10.0.2.15", f"{end},server=off")
    with background(*sink, log=s.work / "sink.log") as server:
        server.soon(lambda: "net: address" in server.text(), "its boot")
        sink_begins, client_begins = wire.stat().st_mtime, time.time()
        run(*client)
        client_ends = time.time()
        server.end(0)
        sink_ends = time.time()
    check.has(server.text(), "sink: resolved with 146000 ")
    traces = [s.work / f"{demo}-of-two.trace" for demo in ("tcp", "sink")]
    lengths = [length_of(s, trace) for trace in traces]
    said = run(
        *(s.parasite, "timeline", *traces, "-o", s.work / "two.html")
    ).err
    moved = float(re.search(r"tcp.*: moved by ([\d.]+) s$", said, re.M)[1])
    found = re.search(r"sink.*: to within (.+), by (\d+) packets;", said)
    check.true(int(found[2]) > 100, said)
    check.true(not found[1].endswith(" s"), said)
    slack = 0.05 * max(lengths)  # by how much their clocks may be wrong
    check.between(
        moved,
        client_begins - (sink_ends - lengths[1]) - slack,
        (client_ends - lengths[0]) - sink_begins + slack,
    )


WAITS = """
passer 1
  receive 30
    mailbox 19
wanter 8
  mutex 9
    mutex 7
      holder 5
        sleep 31
          timer 32
sender 10
  send 12
    mailbox 13
joiner 14
  join 28
    choose 23
      bind 17
        sleep 15
          timer 16
      timeout 22
        receive 18
          mailbox 19
        sleep 20
          timer 21
    reader 24
      disk read 25
        disk request 27
virtio-blk request 26
"""


def waits_are_a_tree(s):
    """`tasks` shows what each task waits for, and what that waits for."""
    trace, _ = recorded(
        *(s, "waits", "test/trace_waits", "prof.trace=stream prof.start=off"),
        [word.replace("=1000000", "=300000000") for word in DISK],
    )
    run(s.parasite, "info", "--check", trace)
    said = run(s.parasite, "tasks", trace).out
    tree = said[said.index("# open at the end") :].splitlines()[1:]
    check.same("\n".join(line.split(":")[0] for line in tree), WAITS.strip())


def devices_are_apart(s):
    """Each has a callback, to which its interrupts leave their work. When a
    network interrupts is up to the host."""
    for demo, device in (("disk", "disk"), ("tcp", "network")):
        text = run(s.parasite, "script", s.work / f"{demo}.trace").out
        check.has(text, rf" create: callback {device} \d+ ")
        check.has(text, rf" switch: {device} \d+$")
        check.lacks(text, " devices ")
    text = run(s.parasite, "script", s.work / "disk.trace").out
    check.has(text, r"^\[irq \d+\] .* defer: disk \d+$")


def tcp_is_counted(s):
    """What was given, what of it was sent, and what of that acknowledged: none
    falls, and none is ahead of the one before. What is given is counted where
    the task gives it. More than that has an option."""
    texts = {
        "progress": run(s.parasite, "script", s.work / "tcp.trace").out,
        "all": record(s, "tcp", "tcp-all", "net.counters=all")[1],
    }
    for kind, text in texts.items():
        values = dict.fromkeys(PROGRESS, 0)
        for who, what, value in re.findall(
            r"^(\S.*) \d+\.\d+ \[\d+\] counter: TCP bytes #(\w+) = (\d+)$",
            text,
            re.M,
        ):
            check.true(int(value) > values[what], f"{kind} {what} {value}")
            values[what] = int(value)
            given, sent, acknowledged = values.values()
            check.true(given >= sent >= acknowledged, f"{kind} {values}")
            if what == "given" and value == "1460":
                check.has(who, r"^send segments \d+$")
        check.same(values, dict.fromkeys(PROGRESS, 146000))
        for window in WINDOWS:
            check.same(f" counter: {window} = " in text, kind == "all", window)


def choices_are_listed(s):
    """A wrong demo is refused, and all are listed."""
    with s.guest(s.part, "async", append="demo=x prof.start=off") as guest:
        check.same(guest.end(), 1)
        text = guest.text()
    for demo in (*SHOWS, "many", "some"):
        check.has(text, rf"^async:   {demo} +\S", count=1)


def events(text):
    """All but samples and interrupts, without their times."""
    lines = (re.sub(r" \d+\.\d+ ", " ", l) for l in text.splitlines())
    return [l for l in lines if re.search(r"\] [a-z_]+: ", l)]


def repeats(s):
    first, second = (
        events(record(s, "join", f"again-{i}")[1]) for i in range(2)
    )
    check.true(len(first) > 20, first)
    check.same(first, second)


def shows_as_process(s, width, demo):
    """When things happen is up to the host, but not what."""
    packets, trace = s.work / f"{demo}.packets", s.work / f"{demo}.trace"
    disk = s.work / "disk"
    disk.write_bytes(bytes(1 << 20))
    with s.guest(
        *(width, "async", demo),
        append=f"demo={demo} prof.trace=stream prof.every=0 prof.out=uart2",
        stream=packets,
        disk=disk,
    ) as process:
        check.same(process.end(), 0)
        check.same(process.said(), "")
        check.has(process.text(), f"^async: {demo}: resolved with ")
    image = s.image(width, "async")
    Command(s).record(trace, "-q", "-k", image, f"file:{packets}")
    run(s.parasite, "info", "--check", trace)
    text = run(s.parasite, "script", trace).out
    for pattern, count in SHOWS[demo].items():
        check.same(len(re.findall(pattern, text)), count, pattern)


def suite(s):
    if s.part in PROCESSES:
        s.use_processes(PROCESSES[s.part])
        for demo in (demo for demo in SHOWS if demo not in ("udp", "tcp")):
            s.holds(
                f"demo={demo} shows what it is for",
                *(shows_as_process, s, s.part.split("-")[0], demo),
            )
        return
    for demo in SHOWS:
        s.holds(f"demo={demo} shows what it is for", shows, s, demo)
    s.holds(tcp_is_counted, s)
    if s.part in by_turns("x86_64"):
        s.holds(many_are_served, s)
    s.holds(repeats, s)
    s.holds(disk_is_explained, s)
    s.holds(devices_are_apart, s)
    s.holds(interrupts_are_rows, s)
    s.holds("docs/async.md shows what they do", page_is_true, s)
    s.holds(pages_are_current, s)
    s.holds(streams_are_current, s, SHOWS)
    s.holds(waits_are_a_tree, s)
    s.holds(choices_are_listed, s)
    s.holds(coroutines_are_traced, s)
    s.holds(samples_know_their_task, s)
    s.holds(samples_have_callers, s)
    s.holds(waits_have_stacks, s)
    s.holds(interrupts_have_delays, s)
    s.holds(two_guests_are_aligned, s)
