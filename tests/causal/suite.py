# SPDX-License-Identifier: Apache-2.0
"""Causal profiling: what parasite says of streams that were made and of
guests, its page, and Coz's viewer, which is fetched from Debian."""

import json
import re

import cpus
import services
from beside import test_beside
from lines import test_lines
from made import Trace, coz_of, curves_of
from rates import test_rates
from rests import test_rests
from harness.command import Command, event_counts, packets_of
from harness.suite import WIDTHS, check, run

PARTS = ("print", "pages", *WIDTHS)
COZ = "coz-profiler"
VIEWER = "usr/share/coz-profiler/viewer"
SPEEDUPS = (0.25, 0.5, 0.95)
ROW = re.compile(r"^ +([\d.]+)((?: +-?[\d.]+ \+- [\d.]+)+) +(\S.*)$", re.M)
NONE = re.compile(
    r"^ +(-?[\d.]+ \+- [\d.]+) +\(A/A: nothing is faster\)$", re.M
)
GUEST_NONE = re.compile(r"^  \(A/A: nothing is faster\) +(.*)$", re.M)
GUEST_ROW = re.compile(
    r"^  (\S.*?) +([\d.]+) +(-?[\d.]+ \+- [\d.]+) +(\d+) % (\w+)$", re.M
)
GUEST_SHOWS = (
    r"^--- causal profile: \d+ experiments$",
    r"^  target +50 % {19}what remains is$",
    r"^request done:$",
    r"^  F  +2\d\.\d\d  +1\d\.\d\d \+- \d\.\d\d +\d+ % CPU$",
    r"^  \(A/A: nothing is faster\) +-?\d\.\d\d \+- \d\.\d\d$",
    r"^latency of request, us: ",
    r"^  F( +\d{3}\.\d){4}$",
    "^assumed: Disk: as fast as now$",
    r"^model check: none of \d+ answers came earlier than assumed ",
    r"^0 of \d+: network: peers wait for answers$",
    r"^  never called  +0\.00  never called$",
    "^never reached:$",
    r"^  F  +2\d\.\d\d  point never reached$",
)
P50_P99 = ("p50", "p99")
KINDS = (
    *("", "_speedup", "_point", "_target", "_visits", "_sum", "_latency"),
    *("_limit", "_assumed", "_learnt", "_checked", "_waited"),
)
VALUE = re.compile(r"(-?[\d.]+) \+- ([\d.]+)")


# ---- streams that were made


def gains_are_true(trace):
    for point in (0, 1):
        curves = curves_of(trace.json(), point)
        check.same(set(curves), set(trace.truth))
        for target, truth in trace.truth.items():
            values = curves[target]["values"]
            check.same([round(v["speedup"], 2) for v in values], list(SPEEDUPS))
            for value, gain in zip(values, truth):
                check.true(abs(value["gain"] - gain) < 0.01, (target, value))
                check.between(value["interval"], 0.0005, 0.03)


def shapes_are_named(trace):
    curves = trace.json()["points"][0]["curves"]
    found = {curve["target"]: curve for curve in curves}
    check.same(
        {target: curve["shape"] for target, curve in found.items()},
        {
            "reply": "whole",
            'parse<int>("x", <b>)': "bends",
            "log(char const*)": "nothing",
            "unused": "not called",
        },
    )
    check.same(found['parse<int>("x", <b>)']["bend"], 0.5)
    check.near(found["reply"]["share"], 0.3, 0.01)
    slopes = [curve["slope"] for curve in curves]
    check.same(slopes, sorted(slopes, reverse=True))


def table_is_json(trace):
    """The table has the same numbers."""
    text = trace().out
    check.has(text, "^# 400 experiments$")
    check.has(text, "^answered:$")
    check.has(text, "^every fourth:$")
    check.has(text, "beyond 50 % faster something else is the limit")
    check.has(text, "^# 12345 events held, 67 at a time; .* least 2 ms stolen")
    check.has(text, "^# 2 times all traffic of open loops was let through$")
    check.has(
        text,
        "^# model check: 3 of 500 answers came earlier than assumed possible",
    )
    rows = ROW.findall(text)
    curves = curves_of(trace.json())
    check.same(len(rows), 2 * len(curves))
    for share, values, target in rows[: len(curves)]:
        check.same(float(share), round(100 * curves[target]["share"], 2))
        for (gain, interval), value in zip(
            VALUE.findall(values), curves[target]["values"]
        ):
            check.true(abs(float(gain) - 100 * value["gain"]) < 0.0051)
            check.true(abs(float(interval) - 100 * value["interval"]) < 0.0051)


def nothing_gains_nothing(trace):
    """The check A/A has a row below each point, and is in JSON."""
    rows = NONE.findall(trace().out)
    points = trace.json()["points"]
    check.same(len(rows), len(points))
    for row, point in zip(rows, points):
        gain, interval = VALUE.match(row).groups()
        none = point["none"]
        check.true(abs(float(gain) - 100 * none["gain"]) < 0.0051)
        check.true(abs(float(interval) - 100 * none["interval"]) < 0.0051)
        check.true(abs(none["gain"]) < 0.01, none)
        check.between(none["interval"], 0.0005, 0.02)


def reasons_are_named(s):
    """Where nothing can be said: of eight experiments none is with one of the
    targets, and some are with one that is never called."""
    for words, shape in (((), "too few visits"), (("full",), "too much held")):
        trace = Trace(s, *words, experiments=8)
        curves = trace.json()["points"][0]["curves"]
        check.same(
            {curve["target"]: curve["shape"] for curve in curves},
            {
                'parse<int>("x", <b>)': shape,
                "log(char const*)": shape,
                "reply": "not tried yet",
                "unused": "not called",
            },
        )
        check.same(NONE.findall(trace().out), [])


def rates_are_named(s, trace):
    """Progress that has two rates and another one outside of experiments, and
    progress that has one."""
    jumps = Trace(s, "jumps")
    text, found = jumps().out, jumps.json()
    check.has(
        text,
        "^# progress jumps between two rates: at normal speed one answered "
        r"takes 100\.0 us in 60 % of the experiments, and 150\.0 in the "
        "others;",
    )
    check.same(
        found["regimes"],
        {"shorter_ns": 1e5, "longer_ns": 1.5e5, "shorter_share": 0.6},
    )
    rates = found["rates"]
    check.has(
        text,
        "^# one answered takes 100.0 us before experiments, "
        f"{rates['during_ns'] / 1e3:.1f} at normal speed in them, 110.0 after",
    )
    check.near(rates["during_ns"], 1.2e5, 0.05)
    check.same(rates["changed"], True)
    slower = [100 * rates[f"than_{x}"]["gain"] for x in ("before", "after")]
    check.true(min(slower) < max(slower) < -2, slower)
    texts = [f"{int(-100 * x) / 100:.2f} " for x in slower]
    check.has(
        text,
        "^# warning: experiments change the program: at normal speed it is "
        rf"{texts[0]}\+- \d\.\d\d % slower than before, and "
        rf"{texts[1]}\+- \d\.\d\d % slower than after; gains are those of",
    )
    check.lacks(trace().out, "progress jumps|before experiments|experiments ch")
    check.same((trace.json()["rates"], trace.json()["regimes"]), (None, None))


def latencies_are_true(trace):
    """Median and 99th percentile, with their intervals."""
    found = trace.json()
    (kind,) = found["latencies"]
    check.same(kind["name"], "requests")
    rows = re.findall(r"^ +([\d. ]+\.\d)  (\S.*)$", trace().out, re.M)
    rows = {target: values.split() for values, target in rows}
    for target in kind["targets"]:
        gains = (0, *trace.truth[target["target"]])
        if target["target"] == "unused":
            check.same(target["values"], [])
            continue
        us = [v[f"{p}_ns"] / 1e3 for v in target["values"] for p in P50_P99]
        check.same([f"{x:.1f}" for x in us], rows[target["target"]])
        check.same(len(target["values"]), len(gains))
        for value, gain in zip(target["values"], gains):
            check.near(value["p50_ns"], 5e5 * (1 - gain), 1e-5)
            check.near(value["p99_high_ns"] - value["p99_low_ns"], 2.5e5, 1e-5)
            check.near(value["mean_ns"], 6e5 * (1 - gain), 1e-5)


REMAINS = "what remains is 75 % CPU, 25 % waiting for devices"


def waits_have_names(s):
    """The verdict is that of the row: what has most is first."""
    named = Trace(s, "named")
    curves = curves_of(named.json())
    limits = curves["log(char const*)"]["limits"]
    check.same(
        [each["limit"] for each in limits], ["the \033 disk", "CPU", "devices"]
    )
    for each, share in zip(limits, (0.57, 0.3, 0.13)):
        check.near(each["share"], share, 1e-9)
    check.same(curves["log(char const*)"]["limit"], limits[0]["limit"])
    check.has(
        curves["log(char const*)"]["explanation"],
        "57 % waiting for the \033 disk, 30 % CPU, 13 % waiting for devices$",
    )
    lock = curves["reply"]["limits"]
    check.same(
        [(each["limit"], round(each["share"], 9)) for each in lock],
        [
            ("lock ledger", 0.6),
            ("CPU", 0.3),
            ("devices", 0.06),
            ("the \033 disk", 0.04),
        ],
    )
    check.has(
        named().out,
        "remains is 60 % waiting for lock ledger, 30 % CPU, "
        "6 % waiting for devices;",
    )
    check.has(named().out, r"57 % waiting for the \\x1b disk, 30 % CPU")


def limits_are_named(trace):
    curves = curves_of(trace.json())
    check.same(curves["log(char const*)"]["limit"], "devices")
    check.near(curves["log(char const*)"]["limit_share"], 0.7, 1e-9)
    check.has(curves["reply"]["explanation"], REMAINS + ";")
    check.same(curves["unused"]["limit"], None)


def accruals_are_named(trace):
    """What is known by a thousand samples is less certain."""
    curves = trace.json()["points"][0]["curves"]
    found = {curve["target"]: curve for curve in curves}
    words = (
        "; measured by its share of handlers: "
        "1000 of 12000 samples were in it"
    )
    check.has(trace().out, f"{REMAINS}{words}$")
    for target, curve in found.items():
        samples = target == "reply"
        check.same(
            curve["accrual"],
            "by shares of handlers" if samples else "from enter to leave",
        )
        check.same(curve["explanation"].endswith(words), samples)
    for value in found["reply"]["values"]:
        least = 2.326 * value["gain"] / 1000**0.5
        check.between(value["interval"], 0.99 * least, 2 * least)


def late_reader_knows_all(s, trace):
    late = Trace(s, "late")
    whole, found = curves_of(trace.json()), curves_of(late.json())
    check.same(late.json()["not_in_stream"], 200)
    check.has(late().out, "^# 200 experiments are known by their sums only")
    for target, curve in whole.items():
        for one, other in zip(curve["values"], found[target]["values"]):
            check.same(one["gain"], other["gain"], target)


def wrong_events_are_counted(s, trace):
    wrong = Trace(s, "wrong")
    check.has(wrong().out, "^# 13 events of the stream make no sense")
    check.same(wrong.json()["points"], trace.json()["points"])


def far_numbers_are_one_row(s, trace):
    """Only what is named or measured has a row, and what takes for ever is
    written as that."""
    far = Trace(s, "far")
    (*points, last) = far.json()["points"]
    check.same(last["point"], "far point")
    for point in (*points, last):
        check.same(len(point["curves"]), len(trace.truth) + 1)
    coz_of_far = s.work / "far.coz"
    far("-q", "--coz", coz_of_far)
    times = re.findall(r"\tduration=(\d+)", coz_of_far.read_text())
    check.between(max(map(int, times)), 2**62, 2**64 - 1)
    check.lacks(far().out, r"\[(target|point) ")


def rows_are_limited(s):
    """Of 8,000 targets and 1,000 points."""
    many = Trace(s, "many")
    text = many().out
    note = (
        "not shown: 998 points of progress and 997 kinds of requests, which "
        "with 8000 targets would have more than 16384 rows"
    )
    check.has(text, f"^# {note}$")
    check.true(len(text) < 10_000_000, len(text))
    check.true(note in many.json()["notes"])
    done = many("--coz", s.work / "many.coz")
    check.has(done.err, "not written: 998 of 1000 points of progress")
    page = s.work / "many.html"
    many("-q", "-o", page)
    check.true(page.stat().st_size < 10_000_000, page.stat().st_size)


def coz_is_the_same(s, trace):
    """The gains by Coz's arithmetic, in both of its formats."""
    sums = coz_of(trace, s.work / "profile.coz")
    check.same(coz_of(trace, s.work / "profile.jsonl"), sums)
    for target, curve in curves_of(trace.json()).items():
        cycles, visits = sums[target, 0, "answered"]
        for value in curve["values"]:
            key = (target, round(value["speedup"], 2), "answered")
            gain = 1 - sums[key][0] / sums[key][1] / (cycles / visits)
            check.true(abs(gain - value["gain"]) < 1e-5, key)
    for row in trace.json()["latencies"][0]["targets"]:
        for value in row["values"]:
            key = (row["target"], round(value["speedup"], 2))
            ns, count = sums[(*key, "latency of requests")]
            check.near(ns / count, value["mean_ns"], 1e-6)
            check.same(count, value["requests"], key)


def wide_intervals_say_nothing(s):
    """Of few experiments."""
    found = Trace(s, experiments=110).json()["points"][0]["curves"]
    for curve in found:
        last = curve["values"][-1]
        if curve["shape"] == "nothing":
            whole = curve["share"] * last["speedup"]
            check.true(last["gain"] + last["interval"] < whole, curve)


def nothing_is_said(s):
    trace, parasite = s.work / "none.trace", Command(s)
    parasite.record(trace, "-q", "-", data=parasite.make_stream(100, 1))
    done = parasite("causal", trace, status=1)
    check.has(done.err, "there are no experiments of causal profiling")


# ---- bounds of `make causal-truth`


class Measured:
    """A row of a service, with these errors."""

    def __init__(self, gain=0.2, p99=1.0, slower=0.5):
        self.truth, self.predicted = 10, 10 + gain
        self.p99_error, self.slower = p99, slower


def bounds_can_fail():
    """Five of twelve rows may miss a goal, as in docs/causal.md; what is wrong
    in most of them, or by far in one, does not hold."""
    good = [Measured() for _ in range(7)]
    another = Measured(4.4, -25, 4.5)
    check.same(services.faults(good + 5 * [another]), [])
    for wrong, count in (
        ({"gain": 2.1}, 7),
        ({"gain": -8.1}, 1),
        ({"p99": -6.1}, 7),
        ({"slower": 4.1}, 7),
        ({"slower": 7.1}, 1),
    ):
        rows = good[count - 1 :] + count * [Measured(**wrong)]
        check.same(len(services.faults(rows)), 1, wrong)
    blocks = [cpus.Block((100, 90, 100, 90), (1, 1, 1, 1), 0)] * 16
    odd = cpus.Block((100, 90, 100, 88), (1, 1, 1, 1), 0)
    even = cpus.Block((100, 90, 100, 85), (1, 1, 1, 1), 0)
    for found, wider, good in (
        (blocks, 1, True),
        (8 * [odd, even], 1, False),
        (8 * [odd, even], cpus.EVER, False),
        (8 * [odd, blocks[0]], 1, True),
    ):
        row = cpus.Row("made", 50, found)
        check.same(row.good(wider), good, str(row))


def test_print(s):
    trace = Trace(s)
    s.holds(gains_are_true, trace)
    s.holds(shapes_are_named, trace)
    s.holds(table_is_json, trace)
    s.holds(nothing_gains_nothing, trace)
    s.holds(latencies_are_true, trace)
    s.holds(rates_are_named, s, trace)
    s.holds(limits_are_named, trace)
    s.holds(waits_have_names, s)
    s.holds(accruals_are_named, trace)
    s.holds(late_reader_knows_all, s, trace)
    s.holds(wrong_events_are_counted, s, trace)
    s.holds(far_numbers_are_one_row, s, trace)
    s.holds(rows_are_limited, s)
    s.holds(coz_is_the_same, s, trace)
    s.holds(wide_intervals_say_nothing, s)
    s.holds(reasons_are_named, s)
    s.holds(nothing_is_said, s)
    s.holds(bounds_can_fail)
    test_rests(s, trace)


# ---- a guest


def record(s):
    parasite, trace = Command(s), s.work / "guest.trace"
    done = parasite.record(
        *(trace, "-q", "-t", "virtio"),
        *parasite.machine(
            *(s.part, "test/causal_experiments"),
            "prof.start=off prof.every=0",
            *("-serial", "stdio"),
            icount=0,
        ),
    )
    return trace, done.text.replace("\r", "")


def equals_table(s, trace, console):
    """Each row of the guest's table, to the last digit."""
    found = json.loads(run(s.parasite, "causal", "--json", trace).out)
    text = run(s.parasite, "causal", trace).out
    table = console[console.index("--- causal profile") :]
    check.has(table, rf"^--- causal profile: {found['experiments']} exp")
    rows = GUEST_ROW.findall(table)
    check.same(len(rows), 2)
    for target, share, value, part, word in rows:
        target = re.escape(target)
        check.has(text, rf"^ +{share} +{re.escape(value)} +{target}$")
        check.has(text, f"; what remains is {part} % (waiting for )?{word}$")
    nones = GUEST_NONE.findall(table)
    check.same(NONE.findall(text), nones)
    check.same(len(nones), 1)
    points = {point["point"]: point["curves"] for point in found["points"]}
    check.same(
        [curve["shape"] for curve in points["never reached"]],
        ["point not reached", "not called"],
    )


def equals_latencies(s, trace, console):
    """Also what results rest on."""
    text = run(s.parasite, "causal", trace).out
    table = console[console.index("--- causal profile") :]
    check.has(text, "^latency of request, us: half are below, 99 % are below$")
    (values,) = re.findall(r"^  F((?: +\d+\.\d){4})$", table, re.M)
    check.has(text, rf"^ +{' +'.join(values.split())}  F$")
    held, lag, stolen = re.search(
        r"^(\d+ events held, \d+ at a time); .* by (\d+) ms.*\b(\d+) ms stolen",
        table,
        re.M,
    ).groups()
    check.has(
        text, f"^# {held}; .* by {lag} ms in all; at least {stolen} ms stolen$"
    )
    assumed = re.findall(r"^assumed: .*$", table, re.M)
    check.same(
        assumed,
        [
            "assumed: Disk: as fast as now",
            "assumed: network: peers wait for answers",
            "assumed: serial port: one byte after the other",
        ],
    )
    for line in assumed:
        check.has(text, f"^# {line}$")
    (early,) = re.findall(r"^model check: (\S+ of \d+ answers)", table, re.M)
    check.has(text, f"^# model check: {early} came earlier than assumed")
    each = re.findall(r"^\d+ of \d+: .*$", table, re.M)
    check.same([line.partition(": ")[2] for line in each], [assumed[1][9:]])
    for line in each:
        check.has(text, f"^# {line}$")
    check.has(table, "^targets are measured from enter to leave$")
    check.has(text, "^# targets are measured from enter to leave$")


def intervals_contain_quantiles(s, trace):
    found = json.loads(run(s.parasite, "causal", "--json", trace).out)
    for target in found["latencies"][0]["targets"]:
        for value in target["values"]:
            for name in P50_P99:
                low, high = value[f"{name}_low_ns"], value[f"{name}_high_ns"]
                check.between(value[f"{name}_ns"], low, high)
                check.between(high - low, 1, value[f"{name}_ns"] / 4)


def test_guest(s):
    trace, console = None, ""
    with s.test("a guest's experiments are recorded"):
        trace, console = record(s)
        for text in GUEST_SHOWS:
            check.has(console, text)
        check.lacks(console, r"^\d+ of \d+: (other agents|Disk)")
    s.tap_of("", console)
    with s.test("the table is the guest's"):
        equals_table(s, trace, console)
    with s.test("so are latencies"):
        equals_latencies(s, trace, console)
        intervals_contain_quantiles(s, trace)
    with s.test("also if the first half of the packets is missing"):
        packets = packets_of((trace / "stream").read_bytes())
        half = s.work / "half"
        half.write_bytes(b"".join([packets[0], *packets[len(packets) // 2 :]]))
        equals_table(s, half, console)
        equals_latencies(s, half, console)
    with s.test("an experiment says nothing of the run before"):
        text = run("babeltrace2", trace).out
        held = re.findall(r"causal_experiment: .*\bheld = (\d+)", text)
        check.true(len(held) > 100, len(held))
        check.between(max(map(int, held)), 1, 10000)
    s.holds(names_are_chosen, s)
    with s.test("rates of progress are the guest's"):
        test_rates(s)
    for function in ("parse", "lookup"):
        what = f"http: a faster {function} is predicted"
        s.holds(what, service_is_predicted, s, function)
    with s.test("babeltrace2 reads all of it"):
        counts = event_counts(trace)
        check.true(counts["causal_experiment"] > 100, counts)
        for name in KINDS:
            check.true(counts[f"causal{name}"] > 0, name)


# ---- services


def service_is_predicted(s, function):
    """`make causal-truth` has all functions, irc, and more requests."""
    runs = services.Services(s.build, s.part, "http", 800)
    (row,) = services.rows(runs, (function,), (50,))
    s.note(f"{services.HEADING}\n{row}")
    check.true(row.good(wider=2), str(row))


# ---- functions of one name


def asked(s, target, units=4000):
    """What a guest says that is asked for this target."""
    options = f"prof.causal=on prof.progress=work_done prof.target={target}"
    with s.guest(
        s.part,
        "test/causal_options",
        append=f"{options} prof.every=0 units={units}",
        icount=0,
    ) as guest:
        check.same(guest.end(), 0)
        return guest.text().replace("\r", "")


def names_are_chosen(s):
    """They are listed with their addresses, by which one can be named."""
    text = asked(s, "twice")
    check.has(text, "^causal: twice: several functions have this name$")
    listed = re.findall(r"^causal:   (0x[0-9a-f]+) twice$", text, re.M)
    check.same(len(set(listed)), 2, text)
    check.has(text, "^causal: name one by its address, such as 0x")
    check.has(text, "^causal: no target: what prof.target= names was refused$")
    shares = []
    for address in listed:
        rows = re.findall(
            r"^  twice +([\d.]+) ", asked(s, address, 20000), re.M
        )
        check.same(len(rows), 1)
        shares.append(float(rows[0]))
    check.between(max(shares), 1, 4)
    check.between(min(shares), 0, max(shares) / 4)
    text = asked(s, "0x7")
    check.has(text, "^causal: 0x7: no function of this name")


# ---- in a browser


def test_pages(s):
    trace = Trace(s)
    trace("-q", "-o", s.work / "causal.html", "--coz", s.work / "profile.coz")
    (s.work / "causal.json").write_text(trace("--json").out, encoding="ascii")
    Trace(s, "wide")("-q", "-o", s.work / "wide.html")
    modules = s.browser_modules()
    done = run(
        *("node", "tests/causal/pages.js", s.work, "-", s.parasite),
        s.debian(COZ, VIEWER),
        status=None,
        env={"NODE_PATH": str(modules)},
        by_lines=True,
    )
    s.tap_of("", done.text)


def suite(s):
    if s.part == "print":
        test_print(s)
    elif s.part == "pages":
        test_pages(s)
    else:
        test_guest(s)
        test_beside(s)
        test_lines(s)
