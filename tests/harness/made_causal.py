# SPDX-License-Identifier: Apache-2.0
"""Streams with experiments of causal profiling: four targets that run into
other limits, or are never called, at four speed-ups, and two points of
progress, of which one is passed in every fourth unit of work; latencies become
shorter by what is gained. What is odd about one, its (word):

    late      the first half is in sums only
    wrong     there are events of no sense too
    full      there was no room for held events, again and again
    again     as many experiments before these were of another run, and no
              account says so
    short     the stream ends 300 ms after the first account
    unended   the same, and later than the first experiments
    old       what results assume is not in it
    far       a target and a point with the greatest numbers, and extreme times
    many      8,000 targets and 1,000 points that nobody has reached
    jumps     units take 1.5 times as long in two of five experiments, and
              the guest says so; its rate was not that before and after
    named     what is waited for has names: of the targets that are called,
              devices, a timer and a lock
    wide      names are long, and late requests are hardly later than others
"""

import collections
import itertools
import random

from .stream import CLOCK_HZ, Stream

UNIT_CYCLES = 200_000  # for a unit of work, at normal speed
UNITS = 200
GROUPS = 16
SPEEDUPS = (0, 0.25, 0.5, 0.95)
# name, share of the time of a unit, most that it can gain, known by samples
TARGETS = (
    ("log(char const*)", 0.2, 0, 0),
    ('parse<int>("x", <b>)', 0.4, 0.2, 0),
    ("reply", 0.3, 1, 1),
    ("unused", 0, 0, 0),
)
LONG = (
    "std::unordered_map<std::string,std::vector<service::"
    "Connection>,service::Hash,service::Equal>::Bucket::"
)
MOST = 2**64 - 1


def gain(target, speedup):
    _, share, most, _ = TARGETS[target]
    return min(share * SPEEDUPS[speedup], most)


def truth():
    """{target: [gain at 25, 50 and 95 %]}. Experiments differ from it by 1 % at
    random."""
    return {
        name: [gain(number, speedup) for speedup in (1, 2, 3)]
        for number, (name, *_) in enumerate(TARGETS)
    }


class Made:
    def __init__(self, seed, word):
        self.stream, self.word = Stream(step=10), word
        self.put, self.random = self.stream.event, random.Random(seed)
        self.sums = collections.defaultdict(lambda: [0, 0])
        self.prefix = LONG if word == "wide" else ""

    def account(self, experiments):
        unended = self.word in ("short", "unended")
        self.put(
            "causal",
            run=1,
            running=unended,
            speedups=len(SPEEDUPS),
            targets=len(TARGETS),
            points=2,
            experiments=experiments,
            abandoned=not unended,
            delay=2_000_000,
            held=12345,
            held_most=67,
            refused=1000 * (self.word == "full"),
            answers=1000,
            contradictions=3,
            checked=500,
            drained=2,
            stolen=4_000_000,
        )

    def assumed(self, number, text):
        self.put("causal_assumed", assumption=number, text=text)

    def checked(self, number, checked, contradictions):
        self.put(
            *("causal_checked",),
            **{"assumption": number, "checked": checked},
            contradictions=contradictions,
        )

    def point(self, number, kind, name):
        self.put("causal_point", point=number, point_kind=kind, text=name)

    def target(self, number, visits, name, accrual=0):
        fields = {"target": number, "visits": visits, "accrual": accrual}
        self.put("causal_target", text=name, **fields)

    def visits(self, point, visits):
        self.put("causal_visits", point=point, visits=visits)

    def definitions(self):
        self.account(0)
        if self.word != "old":
            self.checked(0, 100, 0)
            self.checked(1, 300, 1)
            self.checked(1, 390, 3)
            self.assumed(0, "disk: any number of requests at a time")
            self.assumed(1, "network: to be said")
            self.assumed(1, "network: \033 peers wait")  # in other words
            self.put("causal_learnt", samples=12000)
        for number, share in enumerate(SPEEDUPS):
            fields = {"speedup": number, "share": int(share * 65536)}
            self.put("causal_speedup", **fields)
        self.point(0, 0, self.prefix + "answered")
        self.point(1, 0, self.prefix + "every fourth")
        self.point(0, 1, self.prefix + "requests")
        if self.word == "named":
            self.waited(1, 1, "the \033 disk")
            self.waited(2, 0, "refill")
            self.waited(7, 5, "ledger")
        for number, (name, share, _, samples) in enumerate(TARGETS):
            visits = 1000 if share else 0
            self.target(number, visits, self.prefix + name, samples)

    def experiment(self, number, shown):
        target = self.random.randrange(len(TARGETS))
        speedup = self.random.randrange(len(SPEEDUPS))
        chance = 0.99 + self.random.randrange(2001) / 100000
        cycles = UNITS * UNIT_CYCLES * (1 - gain(target, speedup)) * chance
        if self.word == "jumps" and self.random.randrange(5) < 2:
            cycles *= 1.5
        first = not self.sums[target, speedup, 0][1]
        group = 0 if first else self.random.randrange(GROUPS)
        found = self.sums[target, speedup, group]
        found[0] += int(cycles)
        found[1] += 1
        if not shown:
            return
        self.visits(0, UNITS)
        self.visits(1, UNITS // 4)
        self.put(
            "causal_experiment",
            number=number,
            target=target,
            speedup=speedup,
            points=2,
            virtual_time=int(cycles),
            real_time=int(cycles),
            in_target=int(UNITS * UNIT_CYCLES * TARGETS[target][1]),
            stolen=2000,
        )

    def sums_of(self, target, speedup):
        for point, group in itertools.product((0, 1), range(GROUPS)):
            cycles, count = self.sums[target, speedup, group]
            self.put(
                "causal_sum",
                target=target,
                point=point,
                speedup=speedup,
                group=group,
                virtual_time=cycles,
                visits=count * UNITS // (4 if point else 1),
                experiments=count,
            )

    def experiments(self, count, first):
        """So many, the first (first) of which are in sums only."""
        for number in range(count):
            self.experiment(number + 3, number >= first)
            if first and number == first:
                for each in itertools.product(range(4), range(4)):
                    self.sums_of(*each)

    def latency(self, target, speedup):
        """0.5 and 2 ms, and what is gained of them; "wide": of one target all
        take nearly the same."""
        p50 = int(1_000_000 * (1 - gain(target, speedup)))
        p99 = 4 * p50
        if self.word == "wide" and target == 0:
            p99 = p50 + p50 // 100
        elif self.word == "wide" and target == 1:
            p50 += 3_000_000
            p99 = p50
        self.put(
            "causal_latency",
            target=target,
            speedup=speedup,
            requests=1000,
            total=1200 * p50,
            p50_low=p50 - 20000,
            p50=p50,
            p50_high=p50 + 30000,
            p99_low=p99 - 200_000,
            p99=p99,
            p99_high=p99 + 300_000,
        )

    def limit(self, target, speedup):
        self.put(
            "causal_limit",
            target=target,
            speedup=speedup,
            devices=100 if target else 700,
            cpu=300,
            in_target=int(TARGETS[target][1] * 100_000),
            real_time=100_000,
        )

        if self.word == "named":
            self.waits(target, speedup)

    def waits(self, target, speedup):
        """Names of numbers 1 and up, the last a lock, which is besides."""
        cycles = ((1, 570),) if target == 0 else ((1, 40), (7, 600))
        for waited, wait in cycles:
            fields = {"target": target, "speedup": speedup, "waited": waited}
            self.put("causal_wait", **fields, wait=wait)

    def waited(self, number, limit, name):
        self.put("causal_waited", waited=number, limit=limit, text=name)

    def others(self):
        """An abandoned experiment, and one whose visits are missing."""
        self.put("causal_experiment", reason=1, number=1)
        self.visits(0, 99)
        self.put("causal_experiment", number=2, points=2)

    def wrong(self):
        self.visits(60000, 1)
        self.put("causal_sum", group=16)
        self.put("causal_speedup", speedup=99, share=1)
        self.point(65535, 0, "far")
        self.point(65535, 1, "far")
        self.put("causal_latency", speedup=99)
        self.target(65535, 0, "far")
        self.assumed(65535, "far")
        self.checked(65535, 1, 1)
        self.waited(32, 1, "far")
        self.waited(0, 4, "no agent")
        self.put("causal_wait", speedup=15, wait=1)
        self.put("causal_pace", when=2)
        self.put("causal_pace", group=16)

    def jumps(self):
        """Sums void what came before them, and zeros what is no longer so."""
        fields = {"shorter": UNIT_CYCLES, "longer": UNIT_CYCLES * 3 // 2}
        self.put("causal_regimes", shorter=7, longer=9, percent=7)
        self.put("causal_regimes", **fields, percent=60)
        for when, group in ((0, 7), *itertools.product((0, 1), range(16))):
            fields = {"when": when, "group": group, "slices": 4}
            time = 100 * UNIT_CYCLES * (10 + when) // 10
            self.put("causal_pace", **fields, time=time, visits=100)

    def far(self):
        self.target(8191, 1, "far target")
        self.point(1023, 0, "far point")
        times = {"total": MOST, "p50": MOST, "p99": MOST}
        self.put("causal_latency", target=8191, requests=1, **times)

    def many(self):
        for number in range(len(TARGETS), 8000):
            self.target(number, 1, f"t{number}")
        for number in range(2, 1000):
            self.point(number, 0, f"p{number}")
            self.point(number, 1, f"p{number}")

    def end(self, count):
        for target, speedup in itertools.product(range(3), range(4)):
            self.latency(target, speedup)
            self.limit(target, speedup)
        if self.word in ("wrong", "far", "many", "jumps"):
            getattr(self, self.word)()
        self.account(count)


def causal(count, word="", seed=1):
    """The stream of so many experiments."""
    made = Made(seed, word)
    stream, ends = made.stream, word not in ("again", "short", "unended")
    stream.begins()
    made.definitions()
    if ends:
        made.others()
    if word == "again":
        made.experiments(count, 0)
        made.sums.clear()
    made.experiments(count, count // 2 if word == "late" else 0)
    if ends:
        made.end(count)
    else:
        stream.time += CLOCK_HZ * 3 // 10 - stream.time % 10000
    stream.sample(0)
    return stream.data()
