# SPDX-License-Identifier: Apache-2.0
"""Guests that the host does not run for a while, in real time: once for long,
or again and again. The longest stretch that is taken for stolen must be that
while, and what the stream says must be what the guest says. A busy host steals
more, in shorter pieces, so no sum is compared with the pause. Shares of the
functions must not notice. Where no time can be stolen, none is."""

import json
import math
import re
import time

import busy_host
from harness.command import Command
from harness.suite import WIDTHS, by_turns, check, given_time, soon

PARTS = WIDTHS
PAUSE_S = 3
REPORT = "^---$"  # its last line
# a second each; more where QEMU ended too early, or hardly ran
REPORTS = (4, 12, 32, 96)
TAKEN = {20: "x86_64", 50: "i386", 80: "x86_64"}  # per cent of the CPU
ROUNDS = 40000
# Samples for which a pause that is charged to a function would show in its
# share. A host that hardly runs the guest keeps most ticks from it.
LEAST = 400
TRUE = {"leaf_a": 0.4, "leaf_b": 0.3, "leaf_c": 0.2, "leaf_d": 0.1}
Z = 4  # standard deviations
# In real time a busy host runs one leaf's loop slower than the next one's: the
# mean of 20 guests beside four busy loops was 0.7 points above the share of the
# work, and a run at 3.9 standard deviations. A pause that is charged to a
# function moves its share by ten points and more.
HOST = 0.02


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
        parasite("report", "-i", trace).text, r"([\d.]+) s stolen, "
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


def nobody_held_the_loop(s):
    """A pause while tasks run and nobody reads the statistics: it is a part of
    the loop's account, which is the whole, and in no run or idle stretch. On a
    busy host the tick after it may come so late that its place is not known;
    that is said, and not the rule."""
    parasite, name = Command(s), "loop"

    def attempt(rounds):
        packets, trace = s.work / f"{name}.bin", s.work / f"{name}.trace"
        packets.unlink(missing_ok=True)
        with s.guest(
            *(s.part, "split", name),
            append="prof.hz=1000 prof.out=e9 prof.every=0 prof.loop=8 "
            f"split.rounds={rounds}",
            stream=packets,
        ) as guest:
            soon(
                lambda: packets.exists() and packets.stat().st_size > 5000,
                "packets",
                guest.alive,
            )
            guest.stop()
            begun = time.monotonic()
            soon(lambda: time.monotonic() - begun >= PAUSE_S, "the pause")
            check.true(guest.alive())
            guest.cont()
            check.same(guest.end(), 0)
        parasite.record(trace, "-q", f"file:{packets}")
        found = json.loads(parasite("loop", "-q", "--json", trace).out)
        wall_ns = sum(site["self_ns"] for site in found["sites"])
        hz = sum(site["self_cycles"] for site in found["sites"]) / wall_ns * 1e9
        s.note(f"loop: {found['cycles']['stolen'] / hz:.3f} s taken out")
        check.true(found["cycles"]["stolen"] / hz >= 0.9 * PAUSE_S)
        for site in found["sites"]:
            check.true(site["longest_ns"] < 5e8 * PAUSE_S, site)

    given_time(attempt, [ROUNDS // 2 * n for n in (1, 1, 2, 2, 4, 4, 8)])


def shares(s, name, weight):
    """(the leaves' shares of all four, samples in them), by (weight)."""
    report = Command(s).report(
        s.work / f"{name}.trace",
        "-k",
        s.image(s.part, "split"),
        "--weight",
        weight,
    )
    rows = {row["symbol"]: row for row in report["rows"]}
    found = [rows[leaf] for leaf in TRUE]
    whole = sum(row["self_percent"] for row in found)
    return (
        [row["self_percent"] / whole for row in found],
        sum(row["self"] for row in found),
    )


def has_enough(s, name):
    _, samples = shares(s, name, "samples")
    check.true(samples >= LEAST, f"{samples} samples")


def shares_are_true(s, name):
    """By time and by count, in intervals that chance leaves once in 10,000
    times, of as many samples, and what a busy host adds."""
    for weight in ("time", "samples"):
        found, samples = shares(s, name, weight)
        s.note(
            f"{name}: {samples} samples, by {weight}: "
            + " ".join(f"{100 * share:.1f}" for share in found)
        )
        for leaf, share in zip(TRUE, found):
            true = TRUE[leaf]
            reach = Z * math.sqrt(true * (1 - true) / samples) + HOST
            check.between(share, true - reach, true + reach, leaf)


def test_pause(s):
    """On a busy host the tick after the pause may come where the guest itself
    may have kept it waiting. The pause is masked time then, which is said, and
    not the rule."""

    def attempt(reports):
        seconds = run_guest(s, "paused", True, reports)
        found = longest(s, "paused")
        s.note(f"paused for {seconds:.3f} s, longest stretch {found} ms")
        check.between(found, seconds * 900, seconds * 1300)
        has_enough(s, "paused")

    with s.test(f"{s.part}: a pause is stolen time"):
        given_time(attempt, REPORTS)
    s.holds(
        f"{s.part}: guest and host agree on the stolen time",
        *(same_everywhere, s, "paused"),
    )
    s.holds(
        f"{s.part}: no function is charged for the pause",
        *(shares_are_true, s, "paused"),
    )


def ticks_add_up(s, name):
    """Samples and missed ticks are those that were due, but for some that are
    in flight, and what the period varies around its mean."""
    info = Command(s).info(s.work / f"{name}.trace")
    seconds = (info["sampled_ns"] + info["stolen_ns"]) / 1e9
    due = seconds * info["hz"]
    found = info["samples"] + info["missed_ticks"]
    s.note(f"{name}: {found} samples and missed ticks, {due:.0f} were due")
    check.between(found, 0.99 * due - 40, 1.01 * due + 40)


def taken_from(s, percent):
    """Runs the guest on a host that takes so much of it. The guest ends after
    a certain work, however long that takes."""
    name, parasite = f"taken_{percent}", Command(s)
    packets = s.work / f"{name}.bin"

    def attempt(rounds):
        packets.unlink(missing_ok=True)
        with s.guest(
            *(s.part, "split", name),
            append=f"prof.hz=1000 prof.out=e9 split.rounds={rounds}",
            stream=packets,
        ) as guest:
            guest.wait_line("^boot: ")
            taken = busy_host.take(guest, percent / 100)
            check.same(guest.end(), 0)
        parasite.record(s.work / f"{name}.trace", "-q", f"file:{packets}")
        has_enough(s, name)
        return taken

    taken = given_time(attempt, [ROUNDS, 4 * ROUNDS, 16 * ROUNDS])
    stolen = sum(stretches(s, name)) / 1000
    s.note(f"{name}: {taken:.3f} s taken, {stolen:.3f} s found")
    # a period of each slice is not found, and those after the end count, too
    check.true(stolen > 0.7 * taken)
    ticks_add_up(s, name)
    shares_are_true(s, name)


def suite(s):
    test_pause(s)
    for percent, width in TAKEN.items():
        if s.part in by_turns(width):
            s.holds(
                f"{s.part}: {percent} % are stolen, and from no function",
                *(taken_from, s, percent),
            )
    s.holds(
        f"{s.part}: the event loop's runs are without it",
        *(nobody_held_the_loop, s),
    )
    with s.test(f"{s.part}: without a pause nothing is stolen"):
        # by the instruction counter, from which no host can take time
        run_guest(s, "running", False, 2, icount=4)
        check.same(stretches(s, "running"), [])
