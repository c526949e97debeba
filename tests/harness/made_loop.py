# SPDX-License-Identifier: Apache-2.0
"""Streams with a round of loop occupancy for each second. Sites call each other
as in the tree below; how long they run is random. There are a long run and a
freeze."""

import random

from .stream import CLOCK_HZ, TEXT, TSC_HZ, Stream

# kind, and what@file
SITES = {
    "loop": (3, "event loop"),
    "idle": (5, "idle"),
    "profiler": (4, "profiler"),
    "serve": (0, "serve@services/made/serve.c"),
    "handle": (0, "handle@services/made/serve.c"),
    "query": (0, "query@services/made/query.c"),
    "timer": (1, "timer@kernel/loop.c"),
    "stuck": (0, "stuck@services/made/stuck.c"),
}
NUMBERS = {name: number for number, name in enumerate(SITES)}
# Parent, site, and most of a second in 1/1000. A query calls others, and is
# then below itself.
NODES = (
    *((0, "loop", 10), (1, "idle", 0), (2, "profiler", 5), (3, "serve", 20)),
    *((3, "handle", 200), (4, "query", 100), (5, "query", 50)),
    *((7, "timer", 30), (4, "handle", 20), (9, "stuck", 40), (7, "query", 10)),
)
IDLE = 1
# Where calls are counted, each second two of `query` end, and one future, which
# was pending for so many cycles more than the last one.
CALLS = (1000000, 3000000)
FUTURE, PENDING = 50, 2000000
REFUSED = 5
PARTS = {0: "tasks", 1: "callbacks", 3: "itself", 4: "profiler", 5: "idle"}


def is_below(node, site):
    while NODES[node][1] != site and NODES[node][0] != node:
        node = NODES[node][0]
    return NODES[node][1] == site


def bucket_of(value):
    """The begin of the range that it is in."""
    octave = max(0, value.bit_length() - 6)
    return value >> octave << octave


class Made:
    def __init__(self, seed, calls):
        self.calls_ended = 0 if calls else None
        self.stream, self.random = Stream(), random.Random(seed)
        self.own, self.calls = [0] * len(NODES), [0] * len(NODES)
        zero = ("calls", "runs", "longest")
        self.rows = {name: dict.fromkeys(zero, 0) for name in SITES}
        self.buckets = {name: [0] * 32 for name in SITES}  # from 2^27 on
        zero = ("wall", "interrupts", "sampler", "freezes")
        self.account = dict.fromkeys(zero, 0)

    def work(self):
        """One more second."""
        left = TSC_HZ
        for node, (_, site, share) in enumerate(NODES):
            if site == "idle":
                continue
            ran = share * (TSC_HZ // 1000) * self.random.randrange(1000) // 1000
            left -= ran
            self.own[node] += ran
            self.calls[node] += 1
            row = self.rows[site]
            row["calls"] += 1
            row["runs"] += 1
            row["longest"] = max(row["longest"], ran)
            self.buckets[site][ran >> 22 & 31] += 1
        self.own[IDLE] += left * 9 // 10
        self.account["interrupts"] += left - left * 9 // 10 - 1000
        self.account["sampler"] += 1000
        self.account["wall"] += TSC_HZ

    def add_up(self):
        """Site by site, from the tree."""
        self.account.update(dict.fromkeys(PARTS.values(), 0))
        for site, row in self.rows.items():
            own = [n for n, node in enumerate(NODES) if node[1] == site]
            below = [n for n in range(len(NODES)) if is_below(n, site)]
            row.update(
                site=NUMBERS[site],
                own=sum(self.own[n] for n in own),
                total=sum(self.own[n] for n in below),
                run_p50=row["longest"] // 2,
                delays=row["runs"],
                delay=1000 * row["runs"],
            )
            self.account[PARTS[SITES[site][0]]] += row["own"]
        self.rows["stuck"].update(pending=1, oldest=self.account["wall"])
        self.rows["query"]["failed"] = self.rows["query"]["calls"] // 3

    def total_of(self, node):
        return self.own[node] + sum(
            self.total_of(n)
            for n in range(node + 1, len(NODES))
            if NODES[n][0] == node
        )

    def bucket(self, site, low, count):
        fields = {"site": site, "low": low, "count": count}
        self.stream.event("loop_bucket", **fields)

    def call(self, site, times, measure, quantiles):
        put = self.stream.event
        put(
            *("loop_call",),
            **{"site": site, "calls": len(times), "time": sum(times)},
            **{"longest": max(times), "longest_task": len(times)},
            **dict(zip(("p50", "p90", "p99"), quantiles, strict=True)),
        )
        lows = [bucket_of(time) for time in times]
        for low in sorted(set(lows)):
            count = lows.count(low)
            fields = {"site": site, "low": low, "count": count}
            put("loop_bucket", measure=measure, **fields)

    def put_calls(self):
        """What has ended so far."""
        put, ended = self.stream.event, self.calls_ended
        put("loop_calls", refused=REFUSED)
        self.call(NUMBERS["query"], CALLS * ended, 3, (*CALLS, CALLS[1]))
        times = [PENDING * (i + 1) for i in range(ended)]
        text = "nap@services/made/serve.c"
        put("loop_site", site=FUTURE, site_kind=6, line=7, text=text)
        put(
            *("loop_row",),
            **{"site": FUTURE, "calls": ended + 1, "resolved": ended},
            **{"pending": 1, "oldest": 3 * TSC_HZ},
            **{"walls": ended, "wall": sum(times)},
        )
        self.call(FUTURE, times, 2, (times[ended // 2], times[-1], times[-1]))

    def round(self):
        put = self.stream.event
        self.stream.flush()
        put("loop", **self.account)
        for site, (kind, text) in SITES.items():
            number = NUMBERS[site]
            fields = {"site_kind": kind, "line": 10 * number, "text": text}
            put("loop_site", site=number, **fields)
            put("loop_row", **self.rows[site])
            for place, count in enumerate(self.buckets[site]):
                if count:
                    self.bucket(number, (32 + place) << 22, count)
        for node, (parent, site, _) in enumerate(NODES):
            put(
                "loop_context",
                node=node,
                parent=parent,
                site=NUMBERS[site],
                calls=self.calls[node],
                own=self.own[node],
                total=self.total_of(node),
            )
        if self.calls_ended is not None:
            self.calls_ended += 1
            self.put_calls()

    def long_run(self):
        """A task held the loop for 250 ms, which the guard noticed after
        100."""
        run = {"site": NUMBERS["handle"], "task": 17}
        self.stream.event(
            *("loop_freeze",),
            **{**run, "outer": NUMBERS["serve"], "held": TSC_HZ // 10},
            **{"address_0": TEXT, "address_1": TEXT + 64 + 1},
        )
        self.stream.time += CLOCK_HZ * 15 // 100
        self.stream.event(
            *("loop_held",),
            **{**run, "own": TSC_HZ // 4, "samples": 250},
            **{"function_1": TEXT, "samples_1": 200},
            **{"function_2": TEXT + 64, "samples_2": 50},
        )
        self.account["freezes"] += 1

    def wrong(self, what):
        """Something that no guest sends, in the round that follows."""
        if what == "not_wall":
            self.account["wall"] += 1
        elif what == "not_sites":
            self.rows["handle"]["own"] -= 1
        elif what == "not_total":
            self.rows["query"]["total"] += 1

    def wrong_event(self, what):
        """The same within it."""
        if what == "no_place":
            self.stream.event("loop_row", site=99)
        elif what == "no_bucket":
            self.bucket(1, 67, 1)
        elif what == "no_account":
            self.stream.time += 1
            self.stream.event("loop_row", **self.rows["query"])
        elif what == "not_calls":
            self.stream.event("loop_call", site=3, calls=2, time=8, longest=9)


def loop(seconds, wrong="nothing", seed=1, calls=False, cpu=0):
    """A stream of (cpu), nothing of which is wrong but, in the last round, what
    (wrong) says; and what is in that, {site: [calls, own, total, longest]} in
    cycles and the account's wall_cycles and idle_cycles."""
    made = Made(seed, calls)
    stream = made.stream
    stream.cpu = cpu
    stream.begins()
    for second in range(1, seconds + 1):
        stream.flush()
        stream.time = (second - 1) * CLOCK_HZ + 1000
        if second == 2:
            made.long_run()
        stream.flush()
        stream.time = second * CLOCK_HZ
        made.work()
        made.add_up()
        if second == seconds:
            made.wrong(wrong)
        made.round()
        if second == seconds:
            made.wrong_event(wrong)
    stream.flush()
    stream.time += 1000
    stream.sample(0)
    says = {f"{part}_cycles": made.account[part] for part in ("wall", "idle")}
    for site, row in made.rows.items():
        numbers = [row[k] for k in ("calls", "own", "total", "longest")]
        says[SITES[site][1].partition("@")[0]] = numbers
    return stream.data(), says
