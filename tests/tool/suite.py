# SPDX-License-Identifier: Apache-2.0
"""The command parasite on streams that make_stream wrote and on guests that it
starts itself. What it writes is read by babeltrace2, flamegraph.pl and go tool
pprof, and must come to the same numbers."""

import fcntl
import os
import signal
import sys
import termios

from harness.command import Command, build_id, event_lines, text_addresses
from harness.made_events import each_event
from harness.suite import WIDTHS, background, check, open_pipe, run
from guests import test_guests
from own import test_own
from readers import (
    babeltrace_agrees,
    flamegraph_agrees,
    folded_agrees,
    pprof_agrees,
    pprof_raw_agrees,
)

PARTS = ("streams", *WIDTHS)
SAMPLES = 20000


class Made:
    """A stream over addresses of an image, and the trace it becomes."""

    def __init__(self, s):
        self.parasite, self.work = Command(s), s.work
        self.image, self.other = (s.image(w, "lua") for w in WIDTHS[::-1])
        self.addresses = s.work / "addresses"
        lines = text_addresses(self.image).splitlines()[:400]
        self.addresses.write_text("\n".join(lines) + "\n")
        self.id = build_id(self.image)
        self.packets = s.work / "packets"
        self.packets.write_bytes(self.stream(SAMPLES, 1))
        self.log = s.work / "console.log"
        self.log.write_bytes(self.stream("--text", SAMPLES, 1))
        self.trace = s.work / "made.trace"

    def stream(self, *words, **env):
        return self.parasite.make_stream(
            *words, self.addresses, BUILD_ID=self.id, **env
        )

    def fact(self, name, trace=None):
        return self.parasite.info(trace or self.trace)[name]

    def recorded(self, *words, **options):
        done = self.parasite.record(self.trace, *words, **options)
        check.same(self.fact("samples"), SAMPLES)
        return done


# ---- recording


def each_event_is_read(s, made):
    """babeltrace2 finds the events, fields and numbers that were written."""
    trace = s.work / "events.trace"
    stream, lines = each_event()
    made.parasite("record", "-q", "-o", trace, "-", data=stream)
    check.same(event_lines(trace)[:-1], lines)


def disorder_is_mended(made):
    """Packets of 4 KiB, with their halves exchanged, one of them gone and one
    twice."""
    packets = made.packets.read_bytes()
    half = len(packets) // 2
    path = made.work / "disordered"
    path.write_bytes(packets[half:] + packets[:half] + packets[:20000])
    done = made.parasite.record(made.trace, path)
    check.contains(done.text, "repeated packets were omitted")
    check.true(made.fact("samples") > SAMPLES * 9 // 10)
    babeltrace_agrees(made.parasite, made.trace)


def two_boots(made):
    """The second one in the middle of the first: each has its trace."""
    packets, boots = made.packets.read_bytes(), made.work / "boots.packets"
    half = len(packets) // 2 // 4096 * 4096
    boots.write_bytes(packets[:half] + made.stream(5000, 2) + packets[half:])
    first, second = (made.work / f"boots.trace{n}" for n in ("", "-2"))
    run("rm", "-rf", first, second)
    done = made.parasite.record(first, boots)
    check.contains(done.text, "booted 2 times; each boot has a trace")
    check.has(done.text, f"wrote {second}, .* 5,000 samples, 0 lost")
    check.same(made.fact("lost", first), 0)
    check.same(made.fact("samples", second), 5000)
    check.same(made.fact("missing_packets", second), 0)
    babeltrace_agrees(made.parasite, first)
    babeltrace_agrees(made.parasite, second)


def three_cpus(made):
    """Each CPU has a file of its own, whose time does not go back; a trace of
    fewer CPUs leaves none of them."""
    cpus, trace = made.work / "cpus", made.work / "cpus.trace"
    cpus.write_bytes(made.stream(9000, 4, CPUS=3))
    made.parasite.record(trace, "-q", cpus)
    check.same(made.fact("samples", trace), 9000)
    check.same(made.fact("missing_packets", trace), 0)
    check.true((trace / "stream-2").stat().st_size > 0)
    check.same(run("babeltrace2", trace).err, "")
    babeltrace_agrees(made.parasite, trace)
    for cpu in range(3):
        check.same(made.parasite.report(trace, "-C", cpu)["samples"], 3000)
    made.parasite("record", "-q", "-o", trace, made.packets)
    check.same(sorted(os.listdir(trace)), ["metadata", "stream"])


def unread(pipe):
    """Bytes that are in the pipe."""
    count = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
    return int.from_bytes(count, sys.byteorder)


def ended_by(made, number, status, is_read):
    """A recording of a FIFO that has this end, once is_read(FIFO, TRACE), is
    whole."""
    fifo, trace = made.work / "fifo", made.work / "fifo.trace"
    run("rm", "-rf", fifo, trace)
    os.mkfifo(fifo)
    with background(
        *(made.parasite.path, "record", "-q", "-o", trace, fifo),
        log=made.work / "fifo.log",
    ) as recorder, open_pipe(fifo, recorder.alive) as out:
        out.write(made.packets.read_bytes())
        recorder.soon(lambda: is_read(out, trace), "all is read")
        recorder.signal(number)
        recorder.end(status)
    check.same(made.fact("samples", trace), SAMPLES)


def interrupted_is_whole(made):
    """Once it has read all that there is, Ctrl-C ends the recording."""
    ended_by(made, signal.SIGINT, 0, lambda fifo, _: unread(fifo) == 0)


def killed_is_whole(made):
    """What has been received is in the trace, though record was killed."""
    size = made.packets.stat().st_size

    def in_files(_, trace):
        return sum(f.stat().st_size for f in trace.glob("stream*")) == size

    ended_by(made, signal.SIGKILL, None, in_files)


def refuses_other_image(made):
    parasite, other = made.parasite, made.other
    refused = made.work / "refused"
    said = parasite(
        "record", "-k", other, "-o", refused, made.packets, status=1
    ).text
    check.contains(said, made.id)
    check.contains(said, build_id(other))
    report = ("report", "-i", made.trace, "-k", other)
    parasite(*report, status=1)
    parasite(*report, "--force")
    parasite("record", "--force", "-k", other, "-o", refused, made.packets)


def test_record(s, made):
    with s.test("packets become a trace"):
        made.recorded(made.packets)
    with s.test("babeltrace2 counts the same events"):
        babeltrace_agrees(made.parasite, made.trace)
    s.holds(each_event_is_read, s, made)
    with s.test("a console log becomes the same"):
        made.recorded(f"console:{made.log}")
    with s.test("and so does one on stdin"):
        made.recorded("-", data=made.log.read_bytes())
    s.holds(disorder_is_mended, made)
    s.holds(two_boots, made)
    s.holds(three_cpus, made)
    s.holds(interrupted_is_whole, made)
    s.holds(killed_is_whole, made)
    made.recorded(made.packets)


# ---- what is printed of it


def clang_has_lines(s, made):
    """clang writes no table of address ranges; gcc's unit beside it has one."""
    image, objects = s.work / "clang.elf", []
    compilers = {"one": "clang-14", "two": "gcc", "three": "clang-14"}
    for name, compiler in compilers.items():
        source = s.work / f"{name}.c"
        source.write_text(
            f"int {name}(int n);\nint {name}(int n)\n{{\n"
            f"    return n * {len(name)};\n}}\n"
        )
        objects.append(s.work / f"{name}.o")
        run(compiler, "-g", "-O1", "-c", "-o", objects[-1], source)
    run("ld", "-e", "one", "--build-id=sha1", "-o", image, *objects)
    addresses = s.work / "clang.addresses"
    addresses.write_text(text_addresses(image, compilers))
    trace = s.work / "clang.trace"
    stream = made.parasite.make_stream(
        *(500, 1, addresses), BUILD_ID=build_id(image)
    )
    made.parasite("record", "-q", "-o", trace, "-k", image, "-", data=stream)
    for width in ("", "--inline"):
        words = ("-s", "symbol,line", *([width] if width else []))
        rows = made.parasite.rows(trace, *words)
        lines = {row["symbol"]: row["line"].split(":")[0] for row in rows}
        for name in compilers:
            check.same(lines.get(name), f"{name}.c", lines)


def templates_omit_their_type(s, made):
    """What a C++ template returns comes first in its name: shown if asked
    for."""
    symbol, image = "_Z3sumIiET_S0_S0_", s.work / "template.elf"
    source, addresses = s.work / "template.s", s.work / "template.addresses"
    source.write_text(
        f".globl {symbol}\n.type {symbol}, @function\n"
        f"{symbol}: .fill 63, 1, 0x90\nret\n.size {symbol}, 64\n"
    )
    built = s.work / "template.o"
    run("gcc", "-c", "-o", built, source)
    run("ld", "-e", symbol, "--build-id=sha1", "-o", image, built)
    addresses.write_text(text_addresses(image, (symbol,)))
    trace = s.work / "template.trace"
    stream = made.parasite.make_stream(
        *(100, 1, addresses), BUILD_ID=build_id(image)
    )
    made.parasite("record", "-q", "-o", trace, "-k", image, "-", data=stream)
    for words, name in (
        ((), "sum<int>(int, int)"),
        (("--return-types",), "int sum<int>(int, int)"),
    ):
        names = {row["symbol"] for row in made.parasite.rows(trace, *words)}
        check.true(name in names, names)


def filters_choose(made):
    busy, idle = (
        made.parasite("report", "-q", f"-{how}", r"^\[idle\]$", made.trace).out
        for how in "XI"
    )
    check.lacks(busy, "idle")
    check.has(idle, "^[^#]", count=1)


def test_report(s, made):
    parasite, trace = made.parasite, made.trace
    with s.test("a report needs no image"):
        parasite("report", trace)
    with s.test("script prints each sample"):
        said = parasite("script", "-q", "-i", trace).out
        check.has(said, " sample: ", count=SAMPLES)
    s.holds(filters_choose, made)
    with s.test("the tree, callers and callees are printed"):
        parasite("report", "-g", trace)
        parasite("report", "--callers", "--callees", trace)
    s.holds(clang_has_lines, s, made)
    s.holds(templates_omit_their_type, s, made)
    with s.test("lines, tasks and CPUs too"):
        parasite("report", "-s", "symbol,line,task,cpu", "--inline", trace)
    s.holds(
        "folded stacks agree with the report", folded_agrees, parasite, trace
    )
    s.holds(
        "flamegraph.pl draws the same numbers",
        flamegraph_agrees,
        s,
        parasite,
        trace,
    )
    s.holds(
        "go tool pprof shows the same numbers", pprof_agrees, s, parasite, trace
    )
    s.holds(
        "and the same stacks with -raw", pprof_raw_agrees, s, parasite, trace
    )


def suite(s):
    if s.part in WIDTHS:
        test_guests(s, Command(s), s.part)
        return
    made = Made(s)
    test_record(s, made)
    test_report(s, made)
    test_own(s, made)
    s.holds(refuses_other_image, made)
