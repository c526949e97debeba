# SPDX-License-Identifier: Apache-2.0
"""How a recording of a guest ends."""

import os
import signal

from harness import progress
from harness.command import Command, event_counts
from harness.suite import background, check, run

ENDLESS = "while true do local t = {} for i = 1, 99 do t[i] = i end end\n"


def recording(s, width):
    """A recorder and its guest, which runs for ever, in a group of
    processes of their own, as on a terminal."""
    parasite, trace = Command(s), s.work / "guest.trace"
    script, pid = s.work / "script.lua", s.work / "pid"
    script.write_text(ENDLESS)
    run("rm", "-rf", trace, pid)
    machine = parasite.machine(
        width, "lua", "prof.every=0", "-pidfile", pid, modules=[script]
    )
    return background(
        *(parasite.path, "record", "-q", "-F", 1000, "-o", trace),
        *machine,
        log=s.work / "recorder.log",
    )


def works(s, recorder):
    """Waits until the guest has worked for a while; its process."""
    file = s.work / "pid"
    recorder.soon(
        lambda: file.exists() and file.read_text().strip(),
        "the guest's process",
    )
    pid = int(file.read_text())
    recorder.soon(
        lambda: progress.cpu_seconds(pid) >= 3,
        "three seconds of the guest's work",
    )
    return pid


def ended_whole(s):
    check.true(event_counts(s.work / "guest.trace")["sample"] > 100)


def interrupt_ends_whole(s, width):
    """Ctrl-C reaches recorder and guest alike."""
    with recording(s, width) as recorder:
        works(s, recorder)
        recorder.signal_group(signal.SIGINT)
        recorder.end(0)
    ended_whole(s)


def killed_guest_ends_whole(s, width):
    with recording(s, width) as recorder:
        os.kill(works(s, recorder), signal.SIGKILL)
        recorder.end(126)
    ended_whole(s)


def test(s):
    s.holds(interrupt_ends_whole, s, s.part)
    s.holds(killed_guest_ends_whole, s, s.part)
