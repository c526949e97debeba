# SPDX-License-Identifier: Apache-2.0
"""Which samples are the profiler's own: those in its code, which the image's
symbols tell, whatever functions are called."""

import json
import re

from harness.command import build_id, text_addresses
from harness.suite import WIDTHS, check, run

SAMPLES = 200
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
    """Samples of one function or several of an image."""

    def __init__(self, made, image, *functions, id_of=None):
        self.parasite, self.image = made.parasite, image
        addresses = made.work / "own.addresses"
        addresses.write_text(text_addresses(id_of or image, functions))
        self.trace = made.work / "own.trace"
        stream = made.parasite.make_stream(
            *(SAMPLES, 1, addresses), BUILD_ID=build_id(id_of or image)
        )
        words = (self.trace, "-q", "-k", image, "-")
        made.parasite.record(*words, data=stream)

    def own(self, *words):
        """How many are the profiler's; the rest are in rows."""
        words = ("-q", "--json", "-i", self.trace, *words)
        found = json.loads(self.parasite("report", *words).out)
        own = found["profiler"]["samples"]
        check.same(found["samples"] + own, SAMPLES)
        return own


def own_functions(made, image, **options):
    """Those of the functions above whose samples are the profiler's."""
    names = [line.split()[-1] for line in run("nm", image).lines()]
    found = set()
    for one in {*OUTSIDE, *INSIDE} & set(names):
        own = Sampled(made, options.get("given", image), one, id_of=image).own()
        check.true(own in (0, SAMPLES), f"{one}: {own}")
        if own:
            found.add(one)
    return found


def own_is_by_address(made):
    """Also in a list of nm, and in a trace without its image."""
    image = linked(
        *(made.work, "own", LABEL.format("begin"), LABEL.format("end")),
        OUTSIDE + INSIDE,
    )
    check.same(own_functions(made, image), set(INSIDE))
    symbols = made.work / "own.nm"
    symbols.write_text(run("nm", image).out, encoding="utf-8")
    check.same(own_functions(made, image, given=symbols), set(INSIDE))
    sampled = Sampled(made, image, "drain")
    image.unlink()
    check.same(sampled.own(), SAMPLES)


def own_is_by_name(made):
    """Where the image does not tell, and there is a profiler."""
    image = linked(made.work, "older", "", "", OUTSIDE + INSIDE)
    check.same(own_functions(made, image), {"prof_essor", "prof_init"})
    image = linked(made.work, "without", "", "", (*OUTSIDE, "drain"))
    check.same(own_functions(made, image), set())


def statics_of(image):
    """Functions of the profiler in an image of ours whose names do not tell."""
    symbols = {}
    for line in run("nm", "-n", image).lines():
        address, kind, name = line.split()[-3:]
        symbols.setdefault(name, (int(address, 16), kind))
    begin, end = (symbols[f"prof_code_{x}"][0] for x in ("begin", "end"))
    return [
        name
        for name, (address, kind) in symbols.items()
        if begin < address < end
        and kind == "t"
        and not re.match(r"prof_|.*\.", name)
    ]


def own_is_known_in_images(s, made):
    """Of both widths, and from what `parasite embed` put there alone."""
    for width in WIDTHS:
        image = s.image(width, "lua")
        statics = statics_of(image)
        check.true(len(statics) > 100, len(statics))
        check.same(Sampled(made, image, *statics).own(), SAMPLES)
        check.same(Sampled(made, image, "service_main").own(), 0)
        stripped = made.work / "own.stripped"
        run("strip", "-o", stripped, image)
        sampled = Sampled(made, stripped, *statics, id_of=image)
        check.same(sampled.own(), SAMPLES)


def test_own(s, made):
    s.holds(own_is_by_address, made)
    s.holds(own_is_by_name, made)
    s.holds(own_is_known_in_images, s, made)
