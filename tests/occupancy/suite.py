# SPDX-License-Identifier: Apache-2.0
"""Loop occupancy: what parasite says of streams that were made, right
ones and wrong ones, and of guests."""

import json
import re
from collections import Counter

import dashboard
import guests
import load
from harness.command import Command, packets_of
from harness import made_loop
from harness.made_loop import loop
from harness.suite import WIDTHS, check

LOADS = {f"{width}-load": width for width in WIDTHS}
DASHBOARDS = {f"{width}-dashboard": width for width in WIDTHS}
PARTS = ("print", *WIDTHS, *LOADS, *DASHBOARDS)
HZ = 2000000000
SECONDS = 20
WRONG = {
    "not_wall": "the parts of the account differ from the whole by 1 cycles",
    "not_sites": "the sites of a kind differ from their part of the account "
    "by 1 cycles",
    "not_total": "the total of a site differs from that of the tree by 1 "
    "cycles",
    "not_calls": "site 3 has a call that is longer than all of its calls "
    "together",
    "no_place": "site 99 is defined nowhere",
    "no_bucket": "no range of a histogram begins at 67",
    "no_account": "a row of loop occupancy without its account",
}


class Trace:
    """A trace of harness/made_loop.py."""

    def __init__(self, s, name="made", *words):
        self.s, self.parasite = s, Command(s)
        self.data, self.says = loop(SECONDS, *words)
        self.path = s.work / f"{name}.trace"
        self.parasite.record(self.path, "-q", "-", data=self.data)

    def __call__(self, *words, **options):
        return self.parasite("loop", *words, self.path, **options)

    def json(self, *words, **options):
        return json.loads(self("-q", "--json", *words, **options).out)


def sites_are_right(trace):
    """Exactly what was written, as JSON and as a table."""
    found = trace.json()
    check.same(found["cycles"]["wall"], trace.says["wall_cycles"])
    check.same(found["cycles"]["idle"], trace.says["idle_cycles"])
    check.same(found["rounds"], SECONDS)
    text = trace("-q").out
    for site in found["sites"]:
        calls, own, total, longest = trace.says[site["site"]]
        check.same(site["calls"], calls, site)
        check.same(site["self_cycles"], own, site)
        check.same(site["total_cycles"], total, site)
        check.same(site["longest_ns"], longest // 2, site)
        if site["kind"] == "idle":
            continue
        wall = trace.says["wall_cycles"]
        row = rf"^ *{100 * own / wall:.2f}% *{100 * total / wall:.2f}% .*  "
        check.has(text, row + re.escape(site["site"]), count=1)


def account_is_whole(trace):
    found = trace.json()["cycles"]
    parts = {k: v for k, v in found.items() if not k.startswith("of_all")}
    wall = parts.pop("wall")
    check.same(sum(parts.values()), wall)
    check.has(trace().out, r"^# the parts are 40,000,000,000 cycles: the whole")


def rows_are_ordered(trace):
    for key, field in (
        ("self", "self_cycles"),
        ("total", "total_cycles"),
        ("longest", "longest_ns"),
        ("delay", "delay_ns"),
        ("wall", "wall_ns"),
        ("calls", "calls"),
        ("pending", "pending"),
    ):
        found = [site[field] for site in trace.json("-s", key)["sites"]]
        check.same(found, sorted(found, reverse=True), key)
    names = [site["site"] for site in trace.json("-s", "name")["sites"]]
    check.same(names, sorted(names))
    check.has(trace("-q", "--rows", 2).out, "^# and 5 sites more$")


def tree_has_totals(trace):
    text = trace("-q", "--tree").out
    lines = re.findall(
        r"^ *[\d.]+% +([\d.]+)% +[\d.]+ +\d+  ( *)(\w+)", text, re.M
    )
    names = [(len(depth) // 2, name) for _, depth, name in lines]
    check.true((0, "serve") in names and (1, "handle") in names, names)
    check.true((2, "query") in names and (3, "query") in names, names)
    total = trace.says["serve"][2] * 100 / trace.says["wall_cycles"]
    check.near(float(lines[0][0]), total, 0.006)


def percentiles_are_shown(trace):
    text = trace("-q", "-p").out
    rows = re.findall(
        r"^(run|delay|wall) +(\d+)( +[\d.]+){3}  serve", text, re.M
    )
    check.same([row[0] for row in rows], ["run", "delay", "wall"])
    check.same(int(rows[0][1]), trace.says["serve"][0])
    text = trace("-q", "--histogram", "run").out
    values = re.findall(r"^ *[\d.]+ ms +(\d+)  #*$", text, re.M)
    calls = sum(c for name, (c, *_) in every(trace) if name != "idle")
    check.same(sum(map(int, values)), calls)


def calls_are_shown(s):
    """Self times of tasks and how long futures pend, at the end and between."""
    trace = Trace(s, "calls", "nothing", 1, True)
    found = trace.json()
    sites = {site["site"]: site for site in found["sites"]}
    query, nap = sites["query"], sites["nap"]
    check.same(found["calls_refused"], made_loop.REFUSED)
    check.same((query["ended"], query["call_mean_ns"]), (2 * SECONDS, 1e6))
    check.same(query["longest_call_ns"], made_loop.CALLS[1] // 2)
    check.same(query["call"]["p50_ns"], made_loop.CALLS[0] // 2)
    check.same([n for _, n in query["call"]["ranges"]], 2 * [SECONDS])
    pending = made_loop.PENDING // 2
    check.same((nap["kind"], nap["self_cycles"]), ("futures", 0))
    check.same((nap["ended"], nap["pending"]), (SECONDS, 1))
    check.same(nap["call_mean_ns"], pending * (SECONDS + 1) / 2)
    check.same(nap["longest_call_ns"], pending * SECONDS)
    check.same(nap["longest_call_task"], SECONDS)
    check.same(sum(n for _, n in nap["wall"]["ranges"]), SECONDS)
    text = trace().out
    check.has(text, "^# without statistics of calls: 5 tasks that ended, or ")
    check.has(text, "^# self time of calls, from creation to end of a task$")
    check.has(
        text,
        r"^ +40 +1\.0000 +0\.5000 +1\.5000 +1\.5000 +1\.5000 +40 +0 .*  "
        r"query \(services/made/query\.c:50\)$",
        count=1,
    )
    check.has(text, "^# futures, from pending to done$")
    check.has(
        text,
        r"^ +20 +10\.5000 .* 20\.0000 +20 +1 +3\.000 +0  "
        r"nap \(services/made/serve\.c:7\)$",
        count=1,
    )
    check.lacks(text, r"%.*  nap \(")
    check.has(trace("-p").out, r"^call +40 +0\.5000 +1\.5000 +1\.5000  query")
    check.has(trace("--histogram", "call").out, r"^# call of query .*, 40 val")
    # without what was before
    later = trace.json("--time", "9.5,15.5")["sites"]
    sites = {site["site"]: site for site in later}
    query, nap = sites["query"], sites["nap"]
    check.same((query["ended"], query["call_mean_ns"]), (12, 1e6))
    check.between(query["longest_call_ns"], 1500000, 1500000 * 33 / 32)
    check.same((nap["ended"], nap["longest_call_task"]), (6, 15))
    check.same(nap["call_mean_ns"], pending * 12.5)


def calls_are_left_out(trace):
    """Of a guest that does not count them."""
    found = trace.json()
    check.true("calls_refused" not in found)
    check.true("call" not in found["sites"][0], found["sites"][0])
    check.lacks(trace("-p").out, "^call ")
    check.lacks(trace().out, "^# (self time of calls|futures|without stat)")


def every(trace):
    return [(k, v) for k, v in trace.says.items() if isinstance(v, list)]


def long_runs_are_named(trace):
    text = trace("-q").out
    check.has(
        text,
        r"^ *250\.000 +1\.150 +17  handle \(services/made/serve\.c:40\): 80 % "
        r"in 0x100000, 20 % in 0x100040$",
        count=1,
    )
    check.has(text, r"^ *100\.000 +1\.000 +17  handle .* in serve ", count=1)
    found = trace.json()
    check.same(found["freezes"][0]["stack"], ["0x100000", "0x100040"])
    check.same(found["long_runs"][0]["functions"][0]["samples"], 200)


def times_are_cut_out(trace):
    """What two parts of the time have is what both have together."""
    first, second, both = (
        trace.json("--time", span) for span in (",7.5", "7.5,15.5", ",15.5")
    )
    check.same(both["cycles"]["wall"], 15 * HZ)
    for key, value in both["cycles"].items():
        check.same(first["cycles"][key] + second["cycles"][key], value, key)
    sites = [{x["site"]: x for x in y["sites"]} for y in (first, second, both)]
    for name, site in sites[2].items():
        for key in ("self_cycles", "total_cycles", "calls", "runs"):
            check.same(sites[0][name][key] + sites[1][name][key], site[key])
    check.same(second["long_runs"], [])
    check.same(len(first["long_runs"]), 1)


def ranges_of(site):
    return Counter(dict(map(tuple, site["run"]["ranges"])))


def cpus_are_added(s):
    """Two CPUs, each with the same sites: as if it were alone, and the sum."""
    alone = {0: loop(SECONDS), 2: loop(SECONDS, seed=2, cpu=2)}
    parasite, path = Command(s), s.work / "cpus.trace"
    data = b"".join(data for data, _ in alone.values())
    parasite.record(path, "-q", "-", data=data)

    def found(*words):
        done = parasite("loop", "-q", "--json", *words, path)
        return json.loads(done.out)

    both = found()
    check.same([one["cpu"] for one in both["cpus"]], [0, 2])
    for one in both["cpus"]:
        says = alone[one["cpu"]][1]
        check.same(one["cycles"]["wall"], says["wall_cycles"])
        for site in one["sites"]:
            check.same(
                [site["calls"], site["self_cycles"], site["total_cycles"]],
                says[site["site"]][:3],
            )
        only = found("-C", one["cpu"])
        check.same({**only, "cpu": one["cpu"]}, one)
    for part, cycles in both["cycles"].items():
        check.same(cycles, sum(c["cycles"][part] for c in both["cpus"]), part)
    for site in both["sites"]:
        same = [
            one
            for cpu in both["cpus"]
            for one in cpu["sites"]
            if one["site"] == site["site"]
        ]
        for key in ("calls", "self_cycles", "total_cycles", "runs", "pending"):
            check.same(site[key], sum(one[key] for one in same), key)
        check.same(site["longest_ns"], max(o["longest_ns"] for o in same))
        check.same(ranges_of(site), ranges_of(same[0]) + ranges_of(same[1]))
    check.same(len(both["tree"]), len(made_loop.NODES))
    check.same(
        sum(node["self_cycles"] for node in both["tree"]),
        sum(site["self_cycles"] for site in both["sites"]),
    )
    check.same(len(both["long_runs"]), 2)
    text = parasite("loop", path).out
    check.has(text, "^# the loops of 2 CPUs were busy for ", count=1)
    check.has(text, "^# the loop was busy for ", count=2)
    check.has(text, "^# CPU [02]$", count=2)
    check.has(text, "the whole, to the cycle$", count=3)
    check.lacks(parasite("loop", "-C", 2, path).out, "^# CPU")
    said = parasite("loop", "-C", 1, path, status=1).err
    check.contains(said, "there is nothing of the loop of CPU 1")
    parasite("loop", "-C", "x", path, status=2)


def wrong_cpu_is_named(s):
    parasite, path = Command(s), s.work / "wrong_cpu.trace"
    data = loop(SECONDS)[0] + loop(SECONDS, "not_wall", cpu=2)[0]
    parasite.record(path, "-q", "-", data=data)
    said = parasite("loop", "-q", path, status=1).err
    check.has(said, f"^parasite loop: CPU 2: at .* s: {WRONG['not_wall']}$")


def wrong_is_found(s, what):
    """One line says what, and the exit status is 1."""
    trace = Trace(s, "wrong", what)
    done = trace("-q", status=1)
    check.has(done.err, f"^parasite loop: at .* s: {WRONG[what]}$", count=1)
    check.has(done.out, "  handle ")


def losses_are_reported(s):
    """A trace without its third packet, and a late one."""
    trace = Trace(s, "lost")
    packets = packets_of(trace.data)
    for kept in (packets[:3] + packets[4:], packets[7:]):
        trace.parasite.record(trace.path, "-q", "-", data=b"".join(kept))
        late = kept[0] != packets[0]
        done = trace("-q", status=1 if late else 0)
        if late:
            check.contains(done.err, "frequency of the guest's clock is miss")
        else:
            check.has(done.err, "packets are missing")


def bad_usage_is_refused(trace):
    for words in (
        ("-s", "size"),
        ("--rows", "x"),
        ("--histogram", "x"),
        ("--tree", "-p"),
        ("--time", "2,1"),
        ("x", "y"),
    ):
        trace.parasite("loop", *words, trace.path, status=2)
    said = trace("--time", "0.1,0.2", status=1).err
    check.contains(said, "nothing of loop occupancy in that time")
    other = trace.s.work / "other.trace"
    made = trace.parasite.make_stream(100, 1)
    trace.parasite.record(other, "-q", "-", data=made)
    said = trace.parasite("loop", other, status=1).err
    check.contains(said, "the guest sends it with prof.loop=")


def top_has_tables(trace):
    """From a file there is one table of all."""
    packets = trace.s.work / "packets"
    packets.write_bytes(trace.data)
    words = ("top", "--loop", "--stdio", "-n", 1, "--delay", 0.1)
    text = trace.parasite(*words, f"file:{packets}").out
    check.has(text, r"^# [\d.]+ % busy: .* recent shares of time$")
    check.has(text, r"^# handle held the loop for 100 ms, at 1\.0 s$")
    check.has(text, r"%  *[\d.]+%  *[\d.]+  *\d+  *[\d.]+  *[\d.]+  handle$")
    check.lacks(text, "  idle$")
    for key in "self total longest delay calls pending name".split():
        trace.parasite(*words, "-s", key, f"file:{packets}")
    trace.parasite(*words, "-s", "own", packets, status=2)
    trace.parasite("top", "-s", "longest", packets, status=2)


def print_part(s):
    trace = Trace(s)
    s.holds(sites_are_right, trace)
    s.holds(account_is_whole, trace)
    s.holds(rows_are_ordered, trace)
    s.holds(tree_has_totals, trace)
    s.holds(percentiles_are_shown, trace)
    s.holds(calls_are_shown, s)
    s.holds(calls_are_left_out, trace)
    s.holds(long_runs_are_named, trace)
    s.holds(times_are_cut_out, trace)
    for what in WRONG:
        s.holds(f"{what} is found", wrong_is_found, s, what)
    s.holds(cpus_are_added, s)
    s.holds(wrong_cpu_is_named, s)
    s.holds(losses_are_reported, s)
    s.holds(bad_usage_is_refused, trace)
    s.holds(top_has_tables, trace)


def suite(s):
    if s.part == "print":
        print_part(s)
    elif s.part in LOADS:
        load.test(s, LOADS[s.part])
    elif s.part in DASHBOARDS:
        dashboard.test(s, DASHBOARDS[s.part])
    else:
        guests.test(s)
