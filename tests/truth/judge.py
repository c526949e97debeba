# SPDX-License-Identifier: Apache-2.0
"""judge.py WHAT FILES...: looks at what compare.py wrote, and ends with 1 if it
is not as it should be. A file's name is WIDTH-WORKLOAD-RATE.compared. WHAT is

ticks      every tick is a sample, the plugin followed every call, and the
           command's report shows what the samples add up to
time       the time that the samples stand for, and what was stolen from it, is
           the instructions executed in it, one a nanosecond; where the guest
           was idle, it is more
chains     no stack is one that never was, but for callers of functions without
           a frame that could not be found, in at most 3 of 100 stacks
chance     over all files, and for each workload and width, as many functions'
           shares lie in their interval as of ideal samplers, no fewer and no
           more: self and total, by samples and by time; the same for the
           chi-square of each and of all together
promise    of ideal samplers as many shares lie in their intervals as of
           independent samples, or more
bias       no function is sampled too often or too seldom by all runs together
calm       runs whose sampler is one of the ideal ones are not found to be at
           fault by chance more often than they should be
doubt      chance finds out a profile with errors of a half, which is too
           good, and one with errors half as large again
table      prints a line for each file, and one for each workload and width

Where all is well, `chance` finds fault with probability chance.FALSE_ALARM, and
so does `bias`. Half of that is for what is compared over all files, half for
all others; within a half each comparison has the same part of it, so that the
sum holds however they depend on each other.
"""

import json
import math
import os
import random
import sys

import chance

MEASURES = {
    "self": "self",
    "self_time": "self by time",
    "total": "total",
    "total_time": "total by time",
}
# the probability of a false alarm for what is compared over all files
ALL = chance.FALSE_ALARM / 2 / (len(MEASURES) + 1)
CALM, TRIALS = 0.02, 10000
BROKEN_PROMISE = 0.01  # of the shares, where ideal samplers are many


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def name_of(path):
    return os.path.basename(path).replace(".compared", "")


def by_workload(paths):
    """Lists of what the files hold, by WIDTH-WORKLOAD."""
    groups = {}
    for path in paths:
        groups.setdefault(name_of(path).rpartition("-")[0], []).append(
            read(path)
        )
    return groups


def each_of(groups):
    """The same for each workload's measures and each run's chi-square."""
    runs = sum(len(runs) for runs in groups.values())
    return chance.FALSE_ALARM / 2 / (len(MEASURES) * len(groups) + runs)


def ticks(paths):
    for path in paths:
        one = read(path)
        print(path, one["ticks"], one["accounts"])
        assert one["ticks"] == one["samples"] > 500
        assert one["left"] == 0 and one["unmatched"] == 0, one["left"]
        assert one["report"]


def time(paths):
    for path in paths:
        one = read(path)
        print(path, one["ns"], "ns,", one["between"], "instructions")
        if one["idle"]:
            continue
        # the clock is the TSC, of which the guest measured the frequency
        ns = one["ns"] + one["stolen"]
        assert abs(ns - one["between"]) < 1e-5 * ns


def chains(paths):
    for path in paths:
        found = read(path)["chains"]
        print(
            path,
            {key: found[key] for key in found if key != "examples"},
            json.dumps(found["examples"]),
        )
        assert found["right"] > 500
        assert found["impossible"] == 0
        missing = found["cut_short"] + found["caller_missing"]
        assert missing <= 0.03 * found["right"], missing


class Expected:
    """A sum over runs, and what ideal samplers make it."""

    def __init__(self):
        self.sum = self.mean = self.variance = 0

    def add(self, value, ideal, least=0):
        """The variance is (least) or more: that of independent functions, as
        some dozens of samplers may all agree by chance."""
        mean, variance = chance.spread(ideal)
        self.sum += value
        self.mean += mean
        # their mean is only known as well as they are many
        self.variance += max(variance, least) * (1 + 1 / len(ideal))

    def band(self, probability):
        """What is accepted; outside of it chance leads with (probability)."""
        return chance.gamma_band(*self.moments(), probability)

    def moments(self):
        return max(self.mean, 0.01), max(self.variance, 0.01)


class Inside:
    """How many shares are in their interval, of all (runs), how many ideal
    samplers have there, and how many are accepted."""

    def __init__(self, runs, measure, probability):
        self.of, self.independent = 0, 0
        outside = Expected()
        for run in runs:
            inside = run["inside"][measure]
            rows = run[measure.partition("_")[0]]
            outside.add(
                inside["of"] - inside["count"],
                [inside["of"] - count for count in inside["ideal"]],
                sum(row["coverage"] * (1 - row["coverage"]) for row in rows),
            )
            self.of += inside["of"]
            self.independent += inside["independent"]
        few, many = chance.counts_band(*outside.moments(), self.of, probability)
        self.count = self.of - outside.sum
        self.ideal = self.of - outside.mean
        self.least, self.most = self.of - many, self.of - few

    def is_fine(self):
        return self.least <= self.count <= self.most

    def percent(self, count):
        return 100 * count / self.of


def square_of(runs):
    expected = Expected()
    for run in runs:
        square = run["chi_square"]
        expected.add(square["value"], square["ideal"])
    return expected


def chance_over_all(runs):
    """Whether all is well."""
    fine = True
    for measure, what in MEASURES.items():
        inside = Inside(runs, measure, ALL)
        print(
            f"{what}: {inside.count} of {inside.of} shares are in their "
            f"interval, {inside.percent(inside.count):.2f} %; of ideal "
            f"samplers {inside.percent(inside.ideal):.2f} %, accepted "
            f"{inside.percent(inside.least):.2f} to "
            f"{inside.percent(inside.most):.2f}; of independent samples "
            f"{inside.percent(inside.independent):.2f} %"
        )
        fine = fine and inside.is_fine() and inside.of > 80
    square = square_of(runs)
    low, high = square.band(ALL)
    degrees = sum(run["chi_square"]["degrees"] for run in runs)
    print(
        f"chi-square: {square.sum:.1f} of {degrees} degrees in all, of ideal "
        f"samplers {square.mean:.1f}, accepted {low:.1f} to {high:.1f}"
    )
    return fine and low <= square.sum <= high


def promise(paths):
    """Whether intervals are as wide as they must be, for samples of this
    kind. Evenly spaced ones of a program that stays in a function for longer
    than a period vary less, and lie in their intervals more often."""
    runs = [read(path) for path in paths]
    for measure, what in MEASURES.items():
        inside = Inside(runs, measure, ALL)
        print(
            f"{what}: {inside.percent(inside.ideal):.2f} % in their interval, "
            f"of independent samples {inside.percent(inside.independent):.2f} %"
        )
        assert inside.ideal >= inside.independent - BROKEN_PROMISE * inside.of


def of_chance(paths):
    fine = chance_over_all([read(path) for path in paths])
    groups = by_workload(paths)
    each = each_of(groups)
    for name, runs in groups.items():
        for measure, what in MEASURES.items():
            inside = Inside(runs, measure, each)
            print(
                f"{'' if inside.is_fine() else 'WRONG: '}{name}, {what}: "
                f"{inside.count} of {inside.of}, accepted {inside.least} to "
                f"{inside.most}"
            )
            fine = fine and inside.is_fine()
    for path in paths:
        square = square_of([read(path)])
        low, high = square.band(each)
        if not low <= square.sum <= high:
            print("WRONG:", path, square.sum, "accepted", low, "to", high)
            fine = False
    assert fine


def samples_by_function(paths):
    """[WIDTH FUNCTION, samples of all runs, those it should have]"""
    sums = {}
    for path in paths:
        run = read(path)
        for row in run["self"]:
            name = f"{name_of(path).partition('-')[0]} {row['function']}"
            hits, mean = sums.get(name, (0, 0))
            sums[name] = (
                hits + row["samples"],
                mean + row["true"] * run["judged"],
            )
    return [(name, *both) for name, both in sums.items()]


def bias(paths):
    """A function that every run shows a little too often would be lost in the
    errors of each: its samples of all runs of a width are added up. They vary
    no more than independent ones; `chance` finds out if they vary less."""
    sums = samples_by_function(paths)
    square = sum((hits - mean) ** 2 / mean for _, hits, mean in sums)
    most = chance.gamma_band(len(sums), 2 * len(sums), chance.FALSE_ALARM)[1]
    print(
        f"chi-square of {len(sums)} functions, each of all runs: "
        f"{square:.1f}, accepted up to {most:.1f}"
    )
    sums.sort(key=lambda one: chance.poisson_tail(*one[1:]))
    for name, hits, mean in sums[:5]:
        print(
            f"  {name}: {hits} samples, {mean:.1f} in truth, "
            f"{(hits - mean) / math.sqrt(mean):+.2f} standard deviations"
        )
    least = chance.FALSE_ALARM / 4 / len(sums)
    assert square <= most
    assert chance.poisson_tail(*sums[0][1:]) >= least


def with_errors(run, factor):
    """The run, had all its errors been (factor) times as large."""
    run = {
        **run,
        "inside": {**run["inside"]},
        "chi_square": {**run["chi_square"]},
    }
    for measure in MEASURES:
        kind, _, time_too = measure.partition("_")
        error = "error_time" if time_too else "error"
        run["inside"][measure] = {
            **run["inside"][measure],
            "count": sum(
                chance.is_inside(factor * row[error]) for row in run[kind]
            ),
        }
    run["chi_square"]["value"] *= factor**2
    return run


def calm(paths):
    """Ideal samplers instead of the one that is judged, another at random in
    each of the runs."""
    runs = [read(path) for path in paths]
    some = random.Random(1)
    for measure, what in MEASURES.items():
        inside = Inside(runs, measure, CALM)
        ideals = [run["inside"][measure]["ideal"] for run in runs]
        counts = [sum(map(some.choice, ideals)) for _ in range(TRIALS)]
        beyond = sum(
            not inside.least <= count <= inside.most for count in counts
        )
        print(f"{what}: {beyond} of {TRIALS} beyond what is accepted")
        assert beyond <= CALM * TRIALS * 1.5


def doubt(paths):
    runs = [read(path) for path in paths]
    for factor in (0.5, 1.5):
        assert not chance_over_all([with_errors(run, factor) for run in runs])


def worst(run):
    return max(abs(row["error"]) for row in run["self"])


def table_of_runs(paths):
    room = max(len(name_of(path)) for path in paths)
    print(
        f"{'':{room}}{'samples':>8}{'self':>8}{'total':>9}{'worst':>6}"
        f"{'chi p':>6}{'right':>8}{'short':>6}"
    )
    for path in paths:
        one = read(path)
        found = one["chains"]
        whole = sum(found[kind] for kind in found if kind != "examples")
        wrong = found["cut_short"] + found["caller_missing"]
        cells = [
            f"{inside['count']}/{inside['of']}"
            for inside in (one["inside"][kind] for kind in ("self", "total"))
        ]
        print(
            f"{name_of(path):{room}}{one['judged']:8,}{cells[0]:>8}"
            f"{cells[1]:>9}{worst(one):6.2f}"
            f"{one['chi_square']['probability']:6.2f}"
            f"{100 * found['right'] / whole:8.2f}{wrong:6}"
        )


def table_of_workloads(paths):
    room = max(len(name_of(path)) for path in paths) - 4
    print(
        f"\n{'inside, of 100':{room}}"
        + "".join(f"{what:>14}" for what in MEASURES.values())
    )
    groups = by_workload(paths)
    each = each_of(groups)
    groups["all"] = [run for runs in list(groups.values()) for run in runs]
    for name, runs in groups.items():
        cells = []
        for measure in MEASURES:
            inside = Inside(runs, measure, ALL if name == "all" else each)
            cells.append(
                f"{inside.percent(inside.count):.0f} "
                f"{inside.percent(inside.least):.0f}-"
                f"{inside.percent(inside.most):.0f}"
            )
        print(f"{name:{room}}" + "".join(f"{cell:>14}" for cell in cells))


def table(paths):
    table_of_runs(paths)
    table_of_workloads(paths)


if __name__ == "__main__":
    {
        "ticks": ticks,
        "time": time,
        "chains": chains,
        "chance": of_chance,
        "promise": promise,
        "bias": bias,
        "calm": calm,
        "doubt": doubt,
        "table": table,
    }[sys.argv[1]](sys.argv[2:])
