# SPDX-License-Identifier: Apache-2.0
"""What services as Linux processes have besides what they do in a guest: the
command line, the end by a signal, panics, typed commands, and a comparison with
the guest. The services' own suites run them, too."""

import signal

from harness.command import Command
from harness.suite import PROCESSES, check, run

PARTS = tuple(PROCESSES)
SCRIPT = "services/lua/scripts/parser.lua"


def lua(s, width, log, append, **options):
    return s.guest(
        *(width, "lua", log), append=append, modules=[SCRIPT], **options
    )


def has_names(s, width):
    """Of Lua's own functions; and every tick is in an account."""
    with lua(s, width, "names", "prof.reports=2") as process:
        check.same(process.end(), 0)
        check.has(process.text(), r"^ .* luaV_execute$")
        check.has(process.text(), r"^ *100.00 % .* all ticks since the start")


def ends_by_signal(s, width):
    """With the last report."""
    with lua(s, width, "signal", "prof.every=0") as process:
        process.wait_line(r"^lua: [\d.]+ iterations/s")
        check.same(process.interrupt(signal.SIGINT), 0)
        check.has(process.text(), r"^--- profile: \d+ samples")


def panics(s, width):
    """At a fault, with a backtrace; a sanitizer has its own."""
    with lua(s, width, "fault", "prof.every=0") as process:
        process.wait_line(r"^lua: [\d.]+ iterations/s")
        code = process.interrupt(signal.SIGSEGV)
        if s.part.endswith("sanitized"):
            check.contains(process.said(), "AddressSanitizer: SEGV")
        else:
            check.same(code, 101)
            check.has(process.text(), "^panic: page fault")
            # it may be in the C library, which has no frame pointers
            check.has(process.text(), r"^  #0  0x[0-9a-f]+  \S+ \+ 0x")
            check.has(process.text(), "^panic: the image ends here")


def obeys_commands(s, width):
    with lua(s, width, "typed", "prof.every=0", typed=True) as process:
        process.wait_line(r"^lua: [\d.]+ iterations/s")
        process.send("report")
        process.wait_line(r"^--- profile: \d+ samples")
        process.interrupt()


def arguments_are_checked(s, width):
    program = s.image(width, "lua")
    for words, what in (
        (("--module", "/none"), "cannot be read"),
        (("--memory", "0"), "not a number of MiB"),
        (("--frobnicate",), "Usage"),
    ):
        check.contains(run(program, *words, status=2).err, what)
    check.contains(run(program, "--help").out, "--stream FILE")


def wrong_options_are_ignored(s, width):
    with lua(s, width, "wrong", "net.kick=each prof.reports=1") as process:
        check.same(process.end(), 0)
        check.has(process.text(), '^options: "net.kick=each" ignored: ')


def recorded(s, width, log, image):
    """A trace of two seconds of it."""
    packets, trace = s.work / f"{log}.packets", s.work / f"{log}.trace"
    append = "prof.reports=2 prof.out="
    if s.processes:
        with lua(s, width, log, append + "uart2", stream=packets) as process:
            check.same(process.end(), 0)
    else:
        with lua(s, width, log, append + "e9", stream=packets) as guest:
            check.same(guest.end(), 0)
    Command(s).record(trace, "-q", "-k", image, f"file:{packets}")
    return trace


def compares_with_guest(s, width):
    """`diff` finds the interpreter in both, by its name."""
    process = recorded(s, width, "process", s.image(width, "lua"))
    folder, s.processes = s.processes, None
    try:
        guest = recorded(s, width, "guest", s.image(width, "lua"))
    finally:
        s.processes = folder
    said = run(s.parasite, "diff", "--all", guest, process).out
    check.has(said, "luaV_execute")


def suite(s):
    width = s.part.split("-")[0]
    s.use_processes(PROCESSES[s.part])
    s.holds("functions have their names", has_names, s, width)
    s.holds("a signal ends it with a report", ends_by_signal, s, width)
    s.holds("a fault is a panic", panics, s, width)
    s.holds("commands are typed", obeys_commands, s, width)
    s.holds("arguments are checked", arguments_are_checked, s, width)
    s.holds("wrong options are ignored", wrong_options_are_ignored, s, width)
    s.holds("diff compares it with the guest", compares_with_guest, s, width)
