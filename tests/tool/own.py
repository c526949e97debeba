# SPDX-License-Identifier: Apache-2.0
"""Which samples are the profiler's own: those in its code, which the image's
symbols tell, whatever functions are called."""

import collections
import json
import re

from harness.command import build_id, text_addresses
from harness.stream import CLOCK_HZ, Stream
from harness.suite import WIDTHS, check, run

OUTSIDE = ("prof_essor", "work")  # functions of the program
INSIDE = ("prof_init", "drain")  # of the profiler, the last one static
FUNCTION = """\
{scope} {name}
.type {name}, @function
{name}: .fill 63, 1, 0x90
ret
.size {name}, 64
"""
LABEL = ".globl prof_code_{0}\nprof_code_{0}: nop\n"


def function(name):
    scope = ".local" if name == "drain" else ".globl"
    return FUNCTION.format(name=name, scope=scope)


def linked(work, name, begin, end, functions):
    """An image; (begin) and (end) are put before and after what is the
    profiler's."""
    texts = {True: "", False: ""}
    for one in functions:
        texts[one in INSIDE] += function(one)
    source, built, image = (work / f"{name}.{x}" for x in ("s", "o", "elf"))
    source.write_text(texts[False] + begin + texts[True] + end)
    run("gcc", "-c", "-o", built, source)
    run("ld", "-e", "work", "--build-id=sha1", "-o", image, built)
    return image


class Sampled:
    """A sample in each of these functions of an image, of which (given) is
    what the command knows."""

    def __init__(self, made, image, functions, given=None):
        self.parasite, self.trace = made.parasite, made.work / "own.trace"
        lines = text_addresses(image, functions).splitlines()
        stream = Stream(step=CLOCK_HZ // 1000)
        stream.begins(build_id=bytes.fromhex(build_id(image)))
        for number, line in enumerate(lines):
            stream.leaf(number + 1, 0, int(line, 16) + 1)
        self.samples = len(lines)
        words = (self.trace, "-q", "-k", given or image, "-")
        self.parasite.record(*words, data=stream.data())

    def report(self, *words):
        words = ("-q", "--json", "-i", self.trace, *words)
        return json.loads(self.parasite("report", *words).out)

    def own(self):
        """How many are the profiler's; the rest are in rows."""
        found = self.report()
        own = found["profiler"]["samples"]
        check.same(found["samples"] + own, self.samples)
        return own

    def own_functions(self):
        rows = {row["symbol"] for row in self.report()["rows"]}
        all_rows = {row["symbol"] for row in self.report("--profiler")["rows"]}
        return all_rows - rows


def own_is_by_address(made):
    """Also in a list of nm, and in a trace without its image."""
    image = linked(
        *(made.work, "own", LABEL.format("begin"), LABEL.format("end")),
        OUTSIDE + INSIDE,
    )
    symbols = made.work / "own.nm"
    symbols.write_text(run("nm", image).out, encoding="utf-8")
    for given in (symbols, image):
        sampled = Sampled(made, image, OUTSIDE + INSIDE, given)
        check.same(sampled.own_functions(), set(INSIDE))
    image.unlink()
    check.same(sampled.own_functions(), set(INSIDE))
    check.same(sampled.own(), 2)


def own_is_by_name(made):
    """Where the image does not tell, and there is a profiler."""
    for name, functions, own in (
        ("older", OUTSIDE + INSIDE, {"prof_essor", "prof_init"}),
        ("without", (*OUTSIDE, "drain"), set()),
    ):
        image = linked(made.work, name, "", "", functions)
        check.same(Sampled(made, image, functions).own_functions(), own)


def statics_of(image):
    """Functions of the profiler in an image of ours whose names do not tell,
    and that no other function has."""
    found = collections.defaultdict(list)
    for line in run("nm", image).lines():
        words = line.split()
        if len(words) == 3:
            found[words[2]].append((int(words[0], 16), words[1]))
    begin, end = (found[f"prof_code_{side}"][0][0] for side in ("begin", "end"))
    return [
        name
        for name, ((address, kind), *more) in found.items()
        if begin < address < end and kind == "t" and not more
        if not re.match(r"prof_|.*\.", name)
    ]


def own_is_known_in_images(s, made):
    """Of both widths, and from what `parasite embed` put there alone."""
    for width in WIDTHS:
        image = s.image(width, "lua")
        statics = statics_of(image)
        check.true(len(statics) > 100, len(statics))
        functions = (*statics, "service_main")
        stripped = made.work / "own.stripped"
        run("strip", "-o", stripped, image)
        for given in (image, stripped):
            sampled = Sampled(made, image, functions, given)
            check.same(sampled.own(), sampled.samples - 1)


def test_own(s, made):
    s.holds(own_is_by_address, made)
    s.holds(own_is_by_name, made)
    s.holds(own_is_known_in_images, s, made)
