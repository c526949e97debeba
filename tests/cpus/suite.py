# SPDX-License-Identifier: Apache-2.0
"""What the host command says of a trace of several CPUs, whose every tick is
known (harness/made_cpus.py): each CPU, by latency, by blame, and with
interrupts off."""

import json
import re
from collections import Counter

from harness.command import Command
from harness.made_cpus import DUPLICATES, ERROR, MERGED, cpus, image, wild
from harness.screen import Screen
from harness.suite import check, run

# Milliseconds, by the ticks of harness/made_cpus.py that can be joined.
LATENCY = {
    "work": 309 + 2 / 3 + 50 / 3,
    "lock_other": 1 / 3,
    "serial": 200,
    "holder": 100 / 3 + 50 / 3,
    "lock": 200 / 3 + 50 / 3 + 10 + 20,
    "hold_irqs": 10,
    "inner": 20,
}
BLAME = {"holder": 200 + 25, "work": 25, "lock": 30, "[idle]": 20}
SAMPLES, JOINED = 2330, 2160


class Made:
    def __init__(self, s):
        self.parasite, self.work = Command(s), s.work
        self.image = image(s.work)
        self.trace = self.recorded("cpus")
        self.unmarked = self.recorded("unmarked", marks=False)
        self.one = self.recorded("one", count=1)

    def recorded(self, name, maker=cpus, **options):
        trace = self.work / f"{name}.trace"
        words = ("-q", "-k", self.image, "-")
        self.parasite.record(trace, *words, data=maker(**options))
        return trace

    def report(self, *words, trace=None):
        return self.parasite.report(
            *(trace or self.trace, "-k", self.image, *words)
        )

    def text(self, *words, trace=None, **options):
        return self.parasite(
            *("report", "-k", self.image, *words, trace or self.trace),
            **options,
        ).text

    def times(self, *words):
        """{function: milliseconds of its own}"""
        rows = self.report(*words)["rows"]
        return {r["symbol"]: r["self_ns"] / 1e6 for r in rows if r["self_ns"]}


def are_near(found, expected):
    """A tick's time is rounded, and the first sample after a change of skew
    accounts for a little more or less."""
    check.same(sorted(found), sorted(expected))
    for name, time in expected.items():
        check.between(found[name], time - 0.6, time + 0.6, name)


def cpus_are_counted(made):
    facts = made.parasite.info(made.trace)["cpus"]
    check.same([c["cpu"] for c in facts], [0, 1, 2])
    check.same([c["samples"] for c in facts], [785, 785, 760])
    check.same([c["irqs_off"] for c in facts], [1, 0, 30])
    check.same([c["merged"] for c in facts], [0, 0, MERGED])
    check.same([c["duplicates"] for c in facts], [0, 0, DUPLICATES])
    check.same([c["tsc_offset"] for c in facts], [0, -1000, -2000])
    check.same([c["tsc_error"] for c in facts], [0, ERROR, 2 * ERROR])
    said = made.text()
    check.has(said, r"^# +2 +760 .* 25 +3  \+-2\.00 us$")
    check.has(made.parasite("info", made.trace).text, r"^ +1 +785 ")
    check.lacks(made.text(trace=made.one), "^# CPU ")


def an_error_may_be_unknown(made):
    check.has(made.text(trace=made.unmarked), "^# +2 +760 .*  unknown$")
    said = made.text("--latency", trace=made.unmarked)
    check.has(said, "how far the CPUs' clocks differ is not known$")
    facts = made.parasite.info(made.unmarked)["cpus"]
    check.same(["tsc_error" in cpu for cpu in facts], [True, True, False])
    said = made.parasite("script", "-q", made.unmarked).text
    check.has(said, "cpu: CPU 2, TSC -2000 cycles, unknown error$")


def latency_is_time_that_went_by(made):
    are_near(made.times("--latency"), LATENCY)
    weights = made.report("--latency")["weights"]
    check.same((weights["samples"], weights["joined"]), (SAMPLES, JOINED))
    check.same(weights["skew_median_ns"], 8000)
    busy = [ns / 1e6 for ns in weights["busy_ns"]]
    for found, true in zip(busy, (0, 250, 0, 470)):
        check.between(found, true - 0.6, true + 0.6)
    check.has(made.text("--latency"), "^# joined: 92.70 % of the samples")


def joined_shares_have_no_interval(made):
    """Samples of one tick are not independent of each other."""
    for words, has in (
        (("--latency",), False),
        (("--blame", "lock", "-C", 0), False),
        (("--irqs-off",), True),
    ):
        for row in made.report(*words)["rows"]:
            check.same("self_percent_low" in row, has)
            check.same("self_percent_high" in row, has)
        said = made.text(*words)
        check.same(bool(re.search(r"^# \? fewer", said, re.M)), has)
        check.same(bool(re.search(r" \? \w.* to ", said)), has)
    [one] = [r for r in made.report("--latency")["rows"] if r["self"] == 1]
    check.same(one["symbol"], "lock_other")


def blame_goes_to_others(made):
    are_near(made.times("--blame", "lock"), BLAME)
    alone = made.times("--blame", "lock", "-C", 0)
    check.same(sorted(alone), ["[idle]", "holder", "lock"])


def skew_is_bounded(made):
    """A larger bound joins the ticks that came late on one CPU, a smaller one
    none."""
    more = made.report("--latency", "--skew", 400)["weights"]
    check.same(more["joined"], JOINED + 3 * 40)
    said = made.text("--latency", "--skew", 7, status=1)
    check.contains(said, "no samples of all CPUs are within 7 us")


def interrupts_off_are_listed(made):
    found = made.report("--irqs-off")
    check.same(
        {r["symbol"]: r["self"] for r in found["rows"] if r["self"]},
        {"hold_irqs": 10, "inner": 20, "work": 1},
    )
    first, second = found["stretches"]
    check.same((first["symbol"], first["caller"]), ("hold_irqs", "main"))
    check.same((first["cpu"], first["samples"]), (2, 30))
    check.same((first["least_ns"], first["most_ns"]), (29e6, 31e6))
    check.same((second["symbol"], second["cpu"]), ("work", 0))
    check.same((second["least_ns"], second["most_ns"]), (0, 2e6))
    said = made.text("--irqs-off")
    check.has(said, "^# interrupts off: 31 samples, 1.3")
    check.has(said, r"^ +29\.000 +31\.000 +30 +2 .* hold_irqs <- main$")


def bad_times_are_bounded(made):
    """A CPU's times go back, and another one's are as large as can be."""
    trace = made.recorded("wild", maker=wild)
    found = made.report("--irqs-off", trace=trace)
    largest, ms = 2**63 - 1, 10**6
    check.same(
        [(s["cpu"], s["begin_ns"], s["least_ns"]) for s in found["stretches"]],
        [(0, 6000 * ms, largest), (1, 2005 * ms, 0)],
    )
    check.same(
        [(c["busy_ns"], c["irqs_off_ns"]) for c in found["cpus"]],
        [(largest, largest), (6 * ms, 5 * ms)],
    )
    check.same((found["ns"], found["rows"][0]["self_ns"]), (largest, largest))
    said = made.text("--irqs-off", trace=trace)
    check.has(said, r"^ +0\.000 +unknown +2 +1 +2\.005000  ")


def flame_and_export_agree(made):
    """They have the same weights, sample by sample."""
    words = ("-k", made.image, made.trace)
    for options, times in (
        (("--latency",), LATENCY),
        (("--blame", "lock"), BLAME),
    ):
        lines = made.parasite(
            *("export", "-q", "-f", "folded", *options, *words)
        ).lines()
        sums = dict.fromkeys(times, 0)
        for line in lines:
            stack, weight = line.rsplit(" ", 1)
            sums[stack.split(";")[-1]] += int(weight)
        are_near({n: w / 1e6 for n, w in sums.items()}, times)
    svg = made.work / "blame.svg"
    made.parasite("flame", "-q", "--blame", "lock", "-o", svg, *words)
    check.has(svg.read_text(encoding="utf-8"), "while in lock")


def others_know_them(made):
    """How many samples perf and a reader of Perfetto's packets find of each
    CPU, and how Firefox's tracks are named."""
    counts = {0: 785, 1: 785, 2: 760}
    file = made.work / "exported"

    def exported(kind):
        words = ("-q", "-f", kind, "-o", file, "-k", made.image)
        made.parasite("export", *words, made.trace)
        return file

    said = run("perf", "script", "-i", exported("perf"), "-F", "cpu,ip").out
    found = Counter(map(int, re.findall(r"\[(\d+)\]", said)))
    check.same(dict(found), counts)
    head = run("perf", "report", "-i", file, "--header-only", "--stdio").out
    check.has(head, "nrcpus avail : 3$")
    words = ("--decode=Trace", "-Itests/exports", "perfetto.proto")
    text = run("protoc", *words, data=exported("perfetto").read_bytes()).out
    found = Counter(map(int, re.findall(r"sample \{\s+cpu: (\d+)", text)))
    check.same(dict(found), counts)
    threads = json.loads(exported("firefox").read_text("utf-8"))["threads"]
    check.same(
        sorted((one["name"], one["samples"]["length"]) for one in threads),
        [(f"[no task] [cpu {cpu}]", count) for cpu, count in counts.items()],
    )


def script_prints_them(made):
    lines = made.parasite("script", "-q", made.trace).lines()
    check.same(sum("] irqs_off:" in line for line in lines), 31)
    text = "\n".join(lines)
    check.has(text, r"\[002\] cpu: CPU 2, TSC -2000 cycles, \+-4000$")
    check.has(text, r"\[002\] nmi: 3 duplicates, 25 merged so far$")


def top_says_how_busy_each_is(made):
    packets = made.work / "packets"
    packets.write_bytes(cpus())
    words = ("top", "--stdio", "-n", 1, "--force", "-k", made.image)
    said = made.parasite(*words, f"file:{packets}").text
    check.has(said, "^# busy: CPU 0 9. %, CPU 1 [67]. %, CPU 2 [67]. %$")


def top_shows_one(made):
    packets = made.work / "packets"
    packets.write_bytes(cpus())
    words = ("top", "--stdio", "-n", 1, "--force", "-k", made.image)
    said = made.parasite(*words, "-C", 2, f"file:{packets}").text
    check.has(said, "^# shares and idle time are those of CPU 2 alone$")
    check.has(said, r"^# .* 33\.1 % idle")
    rows = re.findall(r"^ *([\d.]+)% +[\d.]+% +[\d.]+ +(\S+)$", said, re.M)
    shares = {name: share for share, name in rows}
    for row in made.report("-C", 2)["rows"]:
        check.near(float(shares[row["symbol"]]), row["self_percent"], 0.5)
    check.same(len(shares), 6)


def top_has_a_key_for_each(made):
    packets = made.work / "packets"
    packets.write_bytes(cpus())
    screen = Screen(made.work)
    words = ("top", "--force", "-k", made.image, f"file:{packets}")
    try:
        screen.opens(100, 20, [made.parasite.path, *words])
        screen.shows(r" 22\.9 % idle")
        screen.shows(" serial( |$)")
        screen.keys("b")
        screen.shows("  CPU 0 alone")
        screen.shows(r" 6\.4 % idle")
        screen.keys("b", "b")
        screen.shows("  CPU 2 alone")
        screen.shows(r" 33\.1 % idle")
        screen.shows(" hold_irqs( |$)")
        screen.lacks(" serial( |$)")
        screen.keys("b")
        screen.shows(r" 22\.9 % idle")
        screen.lacks("alone")
        screen.keys("q")
        check.same(screen.code(), 0)
    finally:
        screen.close()


def bad_options_are_refused(made):
    for words, why in (
        (("--latency", "--irqs-off"), "exclude each other"),
        (("--latency", "--weight", "samples"), "share time, not samples"),
        (("--skew", "5"), "--skew is for"),
        (("--latency", "--skew", "0"), "--skew takes microseconds"),
        (("--latency", "--skew", "10001"), "--skew takes microseconds"),
        (("--latency", "--skew", "5x"), "--skew takes microseconds"),
        (("--latency", "--skew", "nan"), "--skew takes microseconds"),
    ):
        check.contains(made.text(*words, status=2), why)
    for words, why in (
        (("-C", "x"), "-C takes 0 to 65535, not 'x'"),
        (("-C", "1", "--loop"), "-C chooses functions of a CPU"),
    ):
        said = made.parasite("top", *words, "file:x", status=2).text
        check.contains(said, why)
    for words, trace, why in (
        (("--blame", "loc"), made.trace, "no sample is in loc"),
        (("--irqs-off",), made.unmarked, "with interrupts off"),
        (("--latency",), made.one, "one CPU was sampled"),
    ):
        check.contains(made.text(*words, trace=trace, status=1), why)


def suite(s):
    made = Made(s)
    s.holds(cpus_are_counted, made)
    s.holds(an_error_may_be_unknown, made)
    s.holds(latency_is_time_that_went_by, made)
    s.holds(joined_shares_have_no_interval, made)
    s.holds(blame_goes_to_others, made)
    s.holds(skew_is_bounded, made)
    s.holds(interrupts_off_are_listed, made)
    s.holds(bad_times_are_bounded, made)
    s.holds(flame_and_export_agree, made)
    s.holds(others_know_them, made)
    s.holds(script_prints_them, made)
    s.holds(top_says_how_busy_each_is, made)
    s.holds(top_shows_one, made)
    s.holds(top_has_a_key_for_each, made)
    s.holds(bad_options_are_refused, made)
