# SPDX-License-Identifier: Apache-2.0
"""judge.py WHAT FILES...: looks at what compare.py wrote, and ends with 1 if it
is not as it should be. A file's name is WIDTH-WORKLOAD-RATE.compared. WHAT is

ticks      every tick is a sample, the plugin followed every call, and the
           command's report shows what the samples add up to
time       the time that the samples stand for is the instructions executed
           in it: one a nanosecond
chains     no stack is one that never was, but for callers of functions without
           a frame that could not be found, in at most 3 of 100 stacks
chance     over all files, and for each workload and width, as many functions'
           shares lie in their interval as of ideal samplers, no fewer and no
           more: self and total, by samples and by time; the same for all
           chi-squares together; and as many as the binomial distribution says
bias       no function is sampled too often or too seldom by all runs together
doubt      chance finds out a profile with errors of a half, which is too
           good, and one with errors half as large again
table      prints a line for each file, and one for each workload and width
"""

import json
import math
import os
import sys

import chance

Z = 3.29       # one in a thousand, to both sides
Z_EACH = 3.89  # one in ten thousand, where many are looked at
MEASURES = {"self": "self", "self_time": "self by time", "total": "total",
            "total_time": "total by time"}


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
            read(path))
    return groups


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
        # the clock is the TSC, of which the guest measured the frequency
        assert abs(one["ns"] - one["between"]) < 1e-5 * one["ns"]


def chains(paths):
    for path in paths:
        found = read(path)["chains"]
        print(path, {key: found[key] for key in found if key != "examples"},
              json.dumps(found["examples"]))
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

    def z(self):
        return (self.sum - self.mean) / math.sqrt(self.variance)

    def band(self, z):
        """What is accepted. What is counted is whole, hence the half."""
        reach = z * math.sqrt(self.variance) + 0.5
        return self.mean - reach, self.mean + reach

    def is_fine(self, z):
        low, high = self.band(z)
        return low <= self.sum <= high


def expected_inside(runs, measure):
    """What lies in its interval, of all (runs), and what should."""
    expected = Expected()
    for run in runs:
        inside = run["inside"][measure]
        rows = run[measure.partition("_")[0]]
        expected.add(inside["count"], inside["ideal"],
                     sum(row["coverage"] * (1 - row["coverage"])
                         for row in rows))
    return expected


def of(runs, measure, what="of"):
    return sum(run["inside"][measure][what] for run in runs)


def expected_square(runs):
    expected = Expected()
    for run in runs:
        square = run["chi_square"]
        expected.add(square["value"], square["ideal"])
    return expected


def chance_over_all(runs):
    """Whether all is well."""
    fine = True
    for measure, what in MEASURES.items():
        expected = expected_inside(runs, measure)
        whole = of(runs, measure)
        independent = of(runs, measure, "independent")
        low, high = (100 * end / whole for end in expected.band(Z))
        print(f"{what}: {expected.sum} of {whole} shares are in their "
              f"interval, {100 * expected.sum / whole:.2f} %; of ideal "
              f"samplers {100 * expected.mean / whole:.2f} %, accepted "
              f"{low:.2f} to {high:.2f}; of independent samples "
              f"{100 * independent / whole:.2f} %")
        fine = fine and expected.is_fine(Z) and whole > 80
    square = expected_square(runs)
    degrees = sum(run["chi_square"]["degrees"] for run in runs)
    print(f"chi-square: {square.sum:.1f} of {degrees} degrees in all, of ideal "
          f"samplers {square.mean:.1f} +- {math.sqrt(square.variance):.1f}")
    return fine and abs(square.z()) < Z and independent_fits(runs)


def independent_fits(runs):
    """Whether functions' own shares are also as often in their intervals as
    those of independent samples, by the binomial distribution."""
    rows = [row for run in runs for row in run["self"]]
    mean = sum(row["coverage"] for row in rows)
    reach = 0.5 + Z * math.sqrt(sum(row["coverage"] * (1 - row["coverage"])
                                    for row in rows))
    inside = of(runs, "self", "count")
    print(f"self, by the binomial distribution: {inside} of {len(rows)}, "
          f"accepted {mean - reach:.1f} to {mean + reach:.1f}")
    return abs(inside - mean) <= reach


def of_chance(paths):
    fine = chance_over_all([read(path) for path in paths])
    for name, runs in by_workload(paths).items():
        for measure, what in MEASURES.items():
            expected = expected_inside(runs, measure)
            low, high = expected.band(Z_EACH)
            good = expected.is_fine(Z_EACH)
            print(f"{'' if good else 'WRONG: '}{name}, {what}: {expected.sum} "
                  f"of {of(runs, measure)}, accepted {max(low, 0):.1f} to "
                  f"{min(high, of(runs, measure)):.1f}")
            fine = fine and good
    for path in paths:
        square = read(path)["chi_square"]
        if not 0.00005 < square["probability"] < 0.99995:
            print("WRONG:", path, square["value"], square["degrees"])
            fine = False
    assert fine


def bias(paths):
    """A function that every run shows a little too often would be lost in the
    errors of each: its samples of all runs of a width are added up."""
    sums = {}
    for path in paths:
        run = read(path)
        for row in run["self"]:
            one = sums.setdefault(
                (name_of(path).partition("-")[0], row["function"]), [0, 0, 0])
            mean = row["true"] * run["judged"]
            one[0] += row["samples"]
            one[1] += mean
            one[2] += mean * (1 - row["true"])
    off = {key: (hits - mean) / math.sqrt(variance)
           for key, (hits, mean, variance) in sums.items() if variance > 0}
    square = sum(z * z for z in off.values())
    reach = Z * math.sqrt(2 * len(off))
    print(f"chi-square of {len(off)} functions, each of all runs: "
          f"{square:.1f}, accepted {len(off) - reach:.1f} to "
          f"{len(off) + reach:.1f}")
    for key, z in sorted(off.items(), key=lambda one: -abs(one[1]))[:5]:
        print(f"  {' '.join(key)}: {sums[key][0]} samples, "
              f"{sums[key][1]:.1f} in truth, {z:+.2f} standard deviations")
    assert abs(square - len(off)) <= reach
    assert all(abs(z) < 5 for z in off.values())


def with_errors(run, factor):
    """The run, had all its errors been (factor) times as large."""
    run = {**run, "inside": {**run["inside"]},
           "chi_square": {**run["chi_square"]}}
    for measure in MEASURES:
        kind, _, time_too = measure.partition("_")
        error = "error_time" if time_too else "error"
        run["inside"][measure] = {
            **run["inside"][measure],
            "count": sum(chance.is_inside(factor * row[error])
                         for row in run[kind])}
    run["chi_square"]["value"] *= factor ** 2
    return run


def doubt(paths):
    runs = [read(path) for path in paths]
    for factor in (0.5, 1.5):
        assert not chance_over_all([with_errors(run, factor) for run in runs])


def worst(run):
    return max(abs(row["error"]) for row in run["self"])


def table_of_runs(paths):
    print(f"{'':27}{'samples':>8}{'self':>8}{'total':>9}{'worst':>7}"
          f"{'chi p':>7}{'right':>8}{'short':>6}")
    for path in paths:
        one = read(path)
        found = one["chains"]
        whole = sum(found[kind] for kind in found if kind != "examples")
        wrong = found["cut_short"] + found["caller_missing"]
        cells = [f"{inside['count']}/{inside['of']}" for inside in
                 (one["inside"][kind] for kind in ("self", "total"))]
        print(f"{name_of(path):27}{one['judged']:8,}{cells[0]:>8}{cells[1]:>9}"
              f"{worst(one):7.2f}{one['chi_square']['probability']:7.2f}"
              f"{100 * found['right'] / whole:8.2f}{wrong:6}")


def table_of_workloads(paths):
    print(f"\n{'inside, of 100':24}" + "".join(
        f"{what:>14}" for what in MEASURES.values()))
    groups = by_workload(paths)
    groups["all"] = [run for runs in list(groups.values()) for run in runs]
    for name, runs in groups.items():
        z = Z if name == "all" else Z_EACH
        cells = []
        for measure in MEASURES:
            whole = of(runs, measure)
            expected = expected_inside(runs, measure)
            low, high = (100 * end / whole for end in expected.band(z))
            cells.append(f"{100 * expected.sum / whole:.0f}"
                         f" {max(low, 0):.0f}-{min(high, 100):.0f}")
        print(f"{name:24}" + "".join(f"{cell:>14}" for cell in cells))


def table(paths):
    table_of_runs(paths)
    table_of_workloads(paths)


if __name__ == "__main__":
    {"ticks": ticks, "time": time, "chains": chains, "chance": of_chance,
     "bias": bias,
     "doubt": doubt, "table": table}[sys.argv[1]](sys.argv[2:])
