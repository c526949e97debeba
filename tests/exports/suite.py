# SPDX-License-Identifier: Apache-2.0
"""What parasite export writes, read by the tools it is for. Traces are of a
made-up stream over an image whose names are made to do harm, and of a guest at
each width."""

import re

from agree import PROFILER_CLI, Exports, all_agree, annotate_agrees
from formats import test_formats
from harness.command import build_id
from harness.suite import WIDTHS, check, run
from names import assembly
from served import Open, all_is_served

PARTS = ("names", "lost", "choice", "formats", *WIDTHS)
CHOICE = ("--time", "0.5,1.25", "-X", "plain_1[0-9]$", "-I", "^plain_")


class Made:
    """A stream over an image of nasty names."""

    def __init__(self, s):
        self.s, self.x = s, Exports(s)
        self.image, self.packets = s.work / "names.elf", s.work / "packets"
        self.trace = s.work / "made.trace"

    def symbols(self, prefix=""):
        """Addresses of functions, one a line."""
        found = re.findall(
            rf"^(\S+) T ({prefix}[^_].*)$", run("nm", self.image).out, re.M
        )
        return "".join(f"{address}\n" for address, _ in found)

    def make(self):
        source, made = self.s.work / "names.s", self.s.work / "names.o"
        source.write_text(assembly(), encoding="utf-8")
        run("as", "-o", made, source)
        run(
            *("ld", "--build-id", "-Ttext=0x200000", "-e", "plain_0"),
            *("-o", self.image, made),
        )
        addresses = self.s.work / "addresses"
        addresses.write_text(self.symbols())
        self.packets.write_bytes(
            self.x.parasite.make_stream(
                *("--all", 20000, 1, addresses), BUILD_ID=build_id(self.image)
            )
        )
        self.record(self.trace, self.packets)
        self.x.trace = self.trace

    def record(self, trace, packets):
        self.x.parasite.record(trace, "-q", "-k", self.image, packets)

    def lose(self):
        """Without its second packet some stacks are not known, nor how long
        it took."""
        data, lost = self.packets.read_bytes(), self.s.work / "packets.lost"
        lost.write_bytes(data[:4096] + data[8192:])
        trace = self.s.work / "lost.trace"
        self.record(trace, lost)
        report = self.x.parasite("report", "-q", trace).out
        check.contains(report, "[stack unknown]")
        return trace


def test_made(s):
    made = Made(s)
    if s.part == "names":
        s.holds("profiler-cli can be fetched", s.npm, PROFILER_CLI)
        s.holds("a stream over nasty names is made", made.make)
        all_agree("nasty names", made.x)
        return
    made.make()
    if s.part == "lost":
        with s.test("a packet is lost"):
            lost = made.lose()
        all_agree("a packet is lost", made.x.of(lost))
    elif s.part == "choice":
        chosen = made.x.of(made.trace, *CHOICE)
        all_agree("a part of the stacks and the time", chosen)
    else:
        test_formats(made)
        opened = Open(s, made.x.parasite, made.trace)
        s.holds(
            "parasite open serves what it should, to whom it should",
            *(all_is_served, opened),
        )


def without_labels(s, image):
    """For perf each label of an assembler's loop is a function, for us it is
    none: the image without them, which has the same build-id."""
    labels, plain = s.work / "labels", s.work / "plain.elf"
    found = [line.split() for line in run("readelf", "-sW", image).lines()]
    names = (
        words[7]
        for words in found
        if len(words) > 7 and words[3:5] == ["NOTYPE", "LOCAL"]
    )
    labels.write_text("".join(f"{n}\n" for n in names if "." not in n))
    run("objcopy", f"--strip-symbols={labels}", image, plain)
    return plain


def test_guest(s, width):
    """A script of lua that runs to its end, on a clock that counts
    instructions."""
    x, trace = Exports(s), s.work / "guest.trace"
    image = s.image(width, "lua")
    with s.test(f"a guest of {width} is recorded"):
        machine = x.parasite.machine(
            *(width, "lua", "prof.reports=1"),
            modules=["services/lua/scripts/parser.lua"],
            icount=3,
        )
        x.parasite.record(trace, "-q", "-F", 1000, *machine)
    with s.test("its image can do without labels"):
        plain = without_labels(s, image)
    x = x.of(trace, "-k", plain)
    all_agree(width, x)
    s.holds(
        f"{width}: perf annotate shows the instructions' shares",
        *(annotate_agrees, x, "luaV_execute", image),
    )


def suite(s):
    if s.part in WIDTHS:
        test_guest(s, s.part)
    else:
        test_made(s)
