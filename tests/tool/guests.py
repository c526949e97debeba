# SPDX-License-Identifier: Apache-2.0
"""Guests that the command starts, on a clock that counts instructions."""

import re

from harness.command import boot_and_record
from harness.suite import check, given_time
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
        "prof.start=off prof.every=0 prof.hz=1 prof.jitter=0",
    )
    said = parasite("report", "--percent-limit", "0", trace).out
    rows = re.findall(r" ([\d,]+) +\[user mode(.*)\]", said)
    samples = {name: int(count.replace(",", "")) for count, name in rows}
    check.same(set(samples), {": sh", ": init", ""}, said)
    check.same(samples[": init"], 200, said)


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
    s.holds(
        f"{width}: address spaces have their names",
        *(spaces_have_names, s, parasite, width),
    )
    s.holds("no self exceeds its total", self_within_total, parasite, trace)
    if width != "x86_64":
        return
    s.holds("folded stacks of a guest agree", folded_agrees, parasite, trace)
    s.holds("and so does its pprof", pprof_agrees, s, parasite, trace)
    s.holds("the exit code is the guest's", code_is_the_guests, s, parasite)
    with s.test("a guest is ended after its time"):
        given_time(lambda seconds: guest_is_ended(s, parasite, seconds))
