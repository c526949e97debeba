# SPDX-License-Identifier: Apache-2.0
"""Guests that the command starts, on a clock that counts instructions."""

import json
import os
import re
import shutil

from harness.command import boot_and_record, build_id
from harness.suite import check, given_time, run
from readers import babeltrace_agrees, folded_agrees, pprof_agrees

SCRIPT = "services/lua/scripts/parser.lua"
TRANSPORTS = ("uart", "debugcon", "virtio", "serial", "shm")


def guest(s, parasite, width, transport, *words, script=SCRIPT, status=0):
    """Runs a Lua script to its end; its trace."""
    trace = s.work / f"{transport}.trace"
    done = parasite.record(
        trace,
        "-q",
        "-F",
        1000,
        "-t",
        transport,
        *words,
        *parasite.machine(
            width, "lua", "prof.reports=1", modules=[script], icount=2
        ),
        status=status,
    )
    check.same(done.err, "")  # -q hides that QEMU was ended, too
    return trace


def guest_is_seen(s, parasite, width, transport):
    trace = guest(s, parasite, width, transport)
    info = parasite.info(trace)
    check.true(info["samples"] > 200, info["samples"])
    check.same(info["arch"], width)
    check.same(info["missing_packets"], 0)
    check.same(info["ended"], 1)
    babeltrace_agrees(parasite, trace)
    return trace


def code_is_the_guests(s, parasite):
    script = s.work / "error.lua"
    script.write_text('error("on purpose")\n')
    trace = guest(s, parasite, "x86_64", "uart", script=script, status=1)
    check.same(parasite.info(trace)["exit_code"], 1)


def guest_is_ended(s, parasite, seconds):
    script = s.work / "endless.lua"
    script.write_text("while true do end\n")
    trace = guest(s, parasite, "x86_64", "uart", "-d", seconds, script=script)
    check.true(parasite.info(trace)["samples"] > 100, "samples")
    babeltrace_agrees(parasite, trace)


def spaces_have_names(s, parasite, width):
    """User mode, with the names that the kernel gives at first and later."""
    trace, _ = boot_and_record(
        *(s, width, "test/user_mode", "user"),
        "prof.start=off prof.every=0 prof.hz=1 prof.jitter=0 alarm=tick",
    )
    said = parasite("report", "--percent-limit", "0", trace).out
    rows = re.findall(r" ([\d,]+) +\[user mode(.*)\]", said)
    samples = {name: int(count.replace(",", "")) for count, name in rows}
    check.same(set(samples), {": sh", ": init", ""}, said)
    check.same(samples[": init"], 200, said)


class Rebuilt:
    """Traces of an image that is another one by now, and one of that."""

    def __init__(self, s, parasite, width):
        self.parasite, self.width = parasite, width
        self.image = s.work / "rebuilt.elf"
        self.cache = s.work / "cache"
        shutil.rmtree(self.cache, ignore_errors=True)
        self.old = self.record(s, "split", "old.trace")
        self.rows = self.table(self.old)
        check.same(self.symbols(self.old), "image")
        self.new = self.record(s, "coroutines", "new.trace")

    def record(self, s, service, name):
        shutil.copy(s.image(self.width, service), self.image)
        words = self.parasite.machine(
            self.width, service, "prof.every=0 split.rounds=4000", icount=4
        )
        words = [
            self.image if w == str(s.image(self.width, service)) else w
            for w in map(str, words)
        ]
        self.parasite.record(
            s.work / name, "-q", *words, env={"PARASITE_CACHE": self.cache}
        )
        return s.work / name

    def __call__(self, *words, cache="off", **options):
        return self.parasite(*words, env={"PARASITE_CACHE": cache}, **options)

    def table(self, trace, **options):
        return self(
            *("report", "--rows", 0, "-s", "symbol,line", trace), **options
        ).out

    def symbols(self, trace, **options):
        said = self("info", "--json", trace, **options).out
        return json.loads(said)["symbols"]


def names_survive_a_rebuild(s, parasite, width):
    """From the cache, and from the trace itself."""
    rebuilt = Rebuilt(s, parasite, width)
    old, cache = rebuilt.old, rebuilt.cache
    check.has(rebuilt.rows, r"leaf\.asm:26 +leaf_a$")
    check.same(rebuilt.symbols(old, cache=cache), "cache")
    check.same(rebuilt.table(old, cache=cache), rebuilt.rows)
    listing = rebuilt("annotate", "leaf_a", old, cache=cache).out
    check.has(listing, r"^ +leaf\.asm:26 +add")
    check.same(rebuilt.symbols(old), "trace")
    check.same(rebuilt.table(old), rebuilt.rows)
    said = rebuilt("annotate", "leaf_a", old, status=1).err
    check.contains(said, "only names are known")
    svg = s.work / "old.svg"
    rebuilt("flame", "--svg", old, "-o", svg)
    check.contains(svg.read_text(), "leaf_a")
    check.same(run("babeltrace2", old).err, "")
    damaged = old / ".symbols"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    said = rebuilt("report", old)
    check.contains(said.err, "its symbols are damaged")
    check.lacks(said.out, "leaf_a")
    damaged.unlink()


def addresses_are_not_compared(s, parasite, width):
    rebuilt = Rebuilt(s, parasite, width)
    old, new = rebuilt.old, rebuilt.new
    both = rebuilt("diff", "--all", old, new).out
    check.has(both, r"leaf_a$")
    check.lacks(both, r"0x[0-9a-f]{5}")
    (old / ".symbols").unlink()
    said = rebuilt("diff", old, new, status=1).err
    check.contains(said, "give its image with --base-image")
    said = rebuilt("diff", new, old, status=1).err
    check.contains(said, "give its image with -k")
    rebuilt(*("diff", "--base-image", s.image(width, "split")), old, new)
    page = s.work / "page.html"
    said = rebuilt("flame", "--diff", old, new, "-o", page, status=1).err
    check.contains(said, "cannot be compared")
    rebuilt("diff", old, old)
    rebuilt.image.unlink()
    (new / ".symbols").unlink()
    said = rebuilt("diff", old, new, status=1).err
    check.contains(said, "are of different images")


def cache_has_a_size(s, parasite, width):
    """What was not used for longest goes; nothing is kept in one that is too
    small, and of one build-id the larger file."""
    rebuilt = Rebuilt(s, parasite, width)
    cache = rebuilt.cache
    ids = [
        parasite.info(trace)["build_id"] for trace in (rebuilt.old, rebuilt.new)
    ]
    check.same({path.name for path in cache.iterdir()}, set(ids))
    for path in cache.iterdir():
        os.utime(path, (path.name == ids[1], path.name == ids[1]))
    packets = rebuilt.new / "stream"

    def record(image, room=None):
        env = {"PARASITE_CACHE": cache}
        env.update({"PARASITE_CACHE_MB": room} if room is not None else {})
        parasite(
            *("record", "-qf", "-o", s.work / "again.trace", "-k", image),
            *(packets,),
            env=env,
        )
        return {path.name for path in cache.iterdir()}

    lua = s.image(width, "lua")
    sizes = [(cache / name).stat().st_size for name in ids]
    room = (sizes[1] + lua.stat().st_size) // 2**20 + 1
    check.same(record(lua, room), {ids[1], build_id(lua)})
    check.same(record(s.image(width, "split"), 0), {ids[1], build_id(lua)})
    bare = s.work / "bare.elf"
    run("strip", "-o", bare, lua)
    record(bare)
    check.same((cache / build_id(lua)).stat().st_size, lua.stat().st_size)


def embedded_names_are_read(s, parasite, width):
    """Of an image without symbols of its own."""
    rebuilt = Rebuilt(s, parasite, width)
    bare = s.work / "bare.elf"
    run("strip", "-o", bare, s.image(width, "split"))
    check.same(run("nm", bare, status=None).out, "")
    words = "report", "--rows", 0, rebuilt.old
    check.same(rebuilt(*words, "-k", bare).out, rebuilt(*words).out)


def inverted_shows_self(said):
    """A sample is the self of its innermost function, the root there."""
    rows = re.findall(r"^ *([0-9.]+)% +([0-9.]+)%  (.)", said, re.M)
    roots = [(total, own) for total, own, begin in rows if begin not in " `|"]
    rest = {own for _, own, begin in rows if begin in " `|"}
    check.true(len(roots) > 10, f"{len(roots)} roots")
    check.true(all(total == own for total, own in roots), roots)
    check.same(rest, {"0.00"})


def self_within_total(parasite, trace):
    """In what is printed, where rounding could show; exits are part of self."""
    for weight in ("samples", "time"):
        words = ("report", "--weight", weight, "--percent-limit", "0", trace)
        rows = re.findall(
            r"^ *([0-9.]+)% +([0-9.]+)% +([0-9.]+)% ",
            parasite(*words, "--exits").out,
            re.M,
        )
        check.true(len(rows) > 10, f"{len(rows)} rows")
        for own, total, exits in rows:
            check.true(float(exits) <= float(own), f"{exits} of {own}")
            check.true(float(own) <= float(total), f"{own} of {total}")
        own = sum(float(row[0]) for row in rows)
        check.true(abs(own - 100) < 0.01 * len(rows), f"the sum is {own}")
        tree = re.findall(
            r"^ *([0-9.]+)% +([0-9.]+)%  ", parasite(*words, "-g").out, re.M
        )
        check.true(len(tree) > 10, f"{len(tree)} branches")
        for total, own in tree:
            check.true(float(own) <= float(total), f"{own} of {total}")
        inverted_shows_self(parasite(*words, "--inverted").out)


def test_guests(s, parasite, width):
    for transport in TRANSPORTS:
        with s.test(f"{width} sends by {transport}"):
            trace = guest_is_seen(s, parasite, width, transport)
    s.holds(spaces_have_names, s, parasite, width)
    for holds in (
        names_survive_a_rebuild,
        addresses_are_not_compared,
        cache_has_a_size,
        embedded_names_are_read,
    ):
        s.holds(holds, s, parasite, width)
    s.holds(self_within_total, parasite, trace)
    if width != "x86_64":
        return
    s.holds("folded stacks of a guest agree", folded_agrees, parasite, trace)
    s.holds("and so does its pprof", pprof_agrees, s, parasite, trace)
    s.holds(code_is_the_guests, s, parasite)
    with s.test("a guest is ended after its time"):
        given_time(lambda seconds: guest_is_ended(s, parasite, seconds))
