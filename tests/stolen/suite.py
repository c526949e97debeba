# SPDX-License-Identifier: Apache-2.0
"""A guest that the host does not run for a while, in real time. The longest
stretch that it takes for stolen must be that while, and what the stream says
must be what the guest says. A busy host steals more, in shorter pieces, so no
sum is compared with the pause. Where no time can be stolen, none is."""

import re
import time

from harness.command import Command
from harness.suite import WIDTHS, check, given_time, soon

PARTS = WIDTHS
PAUSE_S = 3
REPORT = "^--- profile"
REPORTS = (4, 12, 32)  # a second each; more where QEMU ended too early


def paused(guest):
    """Stops the guest after its first report. Returns the seconds, and how many
    reports there were by then."""
    guest.wait_line(REPORT)
    guest.stop()
    begun = time.monotonic()
    soon(lambda: time.monotonic() - begun >= PAUSE_S, "the end of the pause")
    seconds = time.monotonic() - begun
    lines, alive = guest.text(), guest.alive()
    guest.cont()
    check.true(alive, "the guest ended before it was paused")
    return seconds, len(re.findall(REPORT, lines, re.M))


def run_guest(s, name, pause, reports, **options):
    """Runs the guest, pauses it if wanted, and records its stream. Returns
    the seconds of the pause."""
    parasite, packets = Command(s), s.work / f"{name}.bin"
    seconds = 0
    with s.guest(
        *(s.part, "split", name),
        append=f"prof.hz=1000 prof.out=e9 prof.reports={reports}",
        stream=packets,
        **options,
    ) as guest:
        if pause:
            seconds, before = paused(guest)
            # it must still sample for a second after the pause
            check.true(before <= reports - 2, "it was paused too late")
        check.same(guest.end(), 0)
    parasite.record(s.work / f"{name}.trace", "-q", f"file:{packets}")
    return seconds


def stretches(s, name):
    """Milliseconds of each stretch, in order."""
    script = Command(s)("script", "-i", s.work / f"{name}.trace").out
    return [
        int(line.split()[-2]) / 1000
        for line in script.splitlines()
        if " stolen: " in line
    ]


def longest(s, name):
    return max(stretches(s, name), default=0)


def same_everywhere(s, name):
    """The guest's last report, info and report agree on what was stolen. The
    stream may have stretches that came after that report; then the guest's
    sum is that of those before them."""
    parasite, trace = Command(s), s.work / f"{name}.trace"
    log = (s.work / f"{name}.{s.part}.log").read_text(encoding="latin-1")
    guest = float(re.findall(r"([\d.]+) s stolen, ", log)[-1]) * 1000
    info = parasite.info(trace)["stolen_ns"] / 1e6
    report = check.has(
        parasite("report", "-i", trace).text, r"([\d.]+) s stolen: "
    )
    report = float(report[1]) * 1000
    s.note(f"stolen: {guest} ms by the guest, {info} by info, {report}")
    check.true(guest > 0)
    check.between(report, info - 2, info + 2)
    check.true(info >= guest - 2, f"{info} and {guest}")
    later = [info]
    for stretch in reversed(stretches(s, name)):
        later.append(later[-1] - stretch)
    check.true(
        any(total - 2 <= guest <= total + 2 for total in later),
        f"no sum of stretches is {guest} ms: {later[:20]}",
    )


def suite(s):
    with s.test(f"{s.part}: a pause is stolen time"):
        seconds = given_time(
            lambda reports: run_guest(s, "paused", True, reports), REPORTS
        )
        found = longest(s, "paused")
        s.note(f"paused for {seconds:.3f} s, longest stretch {found} ms")
        check.between(found, seconds * 900, seconds * 1300)
    s.holds(
        f"{s.part}: guest and host agree on the stolen time",
        *(same_everywhere, s, "paused"),
    )
    with s.test(f"{s.part}: without a pause nothing is stolen"):
        # by the instruction counter, from which no host can take time
        run_guest(s, "running", False, 2, icount=4)
        check.same(stretches(s, "running"), [])
