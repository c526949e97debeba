# SPDX-License-Identifier: Apache-2.0
"""timers.py WHAT ...: the share of work that timers start, in a program that
is idle otherwise, against the truth. WHAT is

compare IMAGE TRUTH PARASITE TRACE
              TRUTH is the plugin's, TRACE is of the same run, both of the
              guest test timer_share_is_true. Prints one JSON object:

    ticks, samples
              as the plugin counted them, and as they are in the trace
    ns, stolen
              the time of the samples, and what was stolen from it
    true      the share of `work`: its instructions, one a nanosecond, of that
              time
    by_samples, by_time
              hits, whole: samples of `work` and of all, idle ones included;
              by time, as many independent ones as the times are worth. share,
              interval: the sampled share and its 95 % interval. inside:
              whether the true one lies in it

judge FILES   of what that wrote, ends with 1 where a tick is no sample, or a
              true share misses the sampled one by more than chance does, in
              one file or in all together
doubt FILES   ends with 1 unless `judge` finds each of them wrong
table FILES   prints a line for each; "!": the true share is not in the
              interval

`judge` finds fault by chance with probability chance.FALSE_ALARM. Half of it
is for all files together, half for each of them, in equal parts; therefore
its intervals are wider than those of 95 % in the table.
"""

import json
import pathlib
import sys

import chance
import sampled
from symbols import Functions

WORK = "work"
MEASURES = "by_samples", "by_time"
SECONDS = 8  # that the guest samples for


def measured(hits, whole, true):
    return {
        "hits": hits,
        "whole": whole,
        "share": hits / whole,
        "interval": chance.interval(hits, whole),
        "inside": chance.is_inside(chance.error(hits / whole, true, whole)),
    }


def compare(image, truth_path, parasite, trace):
    functions = Functions(image)
    with open(truth_path, encoding="ascii") as file:
        truth = json.load(file)
    group = functions.group_of_name[WORK]
    executed = truth["functions"][functions.starts.index(group)]["self"]
    found = sampled.samples(parasite, trace)
    # The truth begins with the first tick, so that its sample is of before.
    counted = found[1 : truth["judged"]]
    work = [sample.ns for sample in counted if sample.stack[:1] == [WORK]]
    ns = sum(sample.ns for sample in counted)
    worth = ns**2 / sum(sample.ns**2 for sample in counted)
    true = executed / ns
    json.dump(
        {
            "ticks": truth["ticks"],
            "samples": sum(sampled.info(parasite, trace).values()),
            "ns": ns,
            "stolen": sampled.stolen_ns(parasite, trace),
            "true": true,
            "by_samples": measured(len(work), len(counted), true),
            "by_time": measured(sum(work) / ns * worth, worth, true),
        },
        sys.stdout,
        indent=1,
    )
    print()


def read(paths):
    """{name: what `compare` wrote}"""
    return {
        pathlib.Path(path).stem: json.loads(
            pathlib.Path(path).read_text(encoding="utf-8")
        )
        for path in paths
    }


def is_chance(hits, whole, true, probability):
    least, most = chance.binomial_band(round(whole), true, probability)
    print(f"  {hits:.1f} of {whole:.0f}, accepted {least} to {most}")
    return least <= hits <= most


def is_fine(runs):
    """Whether the shares of (runs) are, each and all together."""
    each = chance.FALSE_ALARM / 2 / (len(MEASURES) * len(runs))
    fine = True
    for measure in MEASURES:
        hits = whole = true = 0
        for name, run in runs.items():
            print(f"{name}, {measure.replace('_', ' ')}:")
            one = run[measure]
            here = is_chance(one["hits"], one["whole"], run["true"], each)
            fine = fine and here
            hits += one["hits"]
            whole += one["whole"]
            true += run["true"] * one["whole"]
        print(f"all, {measure.replace('_', ' ')}:")
        both = chance.FALSE_ALARM / 2 / len(MEASURES)
        fine = is_chance(hits, whole, true / whole, both) and fine
    return fine


def judge(paths):
    runs = read(paths)
    for name, run in runs.items():
        print(name, run["ticks"], "ticks,", run["ns"], "ns, true", run["true"])
        assert run["ticks"] == run["samples"] > 900 * SECONDS
        assert abs(run["ns"] / 1e9 - SECONDS) < 0.01, run["ns"]
        assert run["stolen"] == 0, run["stolen"]
        assert 0.07 < run["true"] < 0.082, run["true"]
    assert is_fine(runs)


def doubt(paths):
    for name, run in read(paths).items():
        assert not is_fine({name: run}), name


def table(paths):
    runs = read(paths)
    title = "timers' work, %"
    room = max(map(len, [title, *runs]))
    print(
        f"{title:{room}}{'samples':>8}{'true':>6}"
        f"{'sampled':>9}{'interval':>12}{'by time':>9}{'interval':>12}"
    )
    for name, run in runs.items():
        cells = ""
        for measure in MEASURES:
            one = run[measure]
            low, high = (100 * end for end in one["interval"])
            band = f"{low:.2f}-{high:.2f}" + (" " if one["inside"] else "!")
            cells += f"{100 * one['share']:9.2f}{band:>12}"
        whole = run["by_samples"]["whole"]
        print(
            f"{name:{room}}{whole:8,}{100 * run['true']:6.2f}{cells}".rstrip()
        )


if __name__ == "__main__":
    WHAT, *WORDS = sys.argv[1:]
    if WHAT == "compare":
        compare(*WORDS)
    else:
        {"judge": judge, "doubt": doubt, "table": table}[WHAT](WORDS)
