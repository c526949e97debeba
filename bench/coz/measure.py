# SPDX-License-Identifier: Apache-2.0
"""measure.py PROGRAMS FOLDER RESULTS [ROUNDS [SECONDS [PERCENT]]]: Coz's
predictions for programs of which a part takes PERCENT (50, or a multiple of 5)
less time, beside the truth.

PROGRAMS is host/programs.c, compiled. Its programs take turns of which each is
ROUNDS (5) times: as it is and with a part that really is faster, without Coz,
for as many units of work as make 1.5 seconds; and under `coz run`, experiments
with the part's line, at normal speed and faster, for SECONDS (3) each. The
order changes from round to round. Prints a table and writes lines of JSON to
RESULTS; profiles and what Coz has said are in FOLDER.

The truth is the median of the rounds, with the least and the most. So is the
prediction, 1 less the time of a unit in experiments that are faster in
multiples of that in those that are not; its interval (95 %) comes from the
variance of the experiments, all rounds together. "to +-1" is how many seconds
of experiments would make that one point, if it becomes narrower with the square
root of their number.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

SCALE = 4  # us of the machine for one of a program
TRUTH_SECONDS = 1.5
WITHOUT_END = 10**9  # units of work, or seconds
# name, program of host/programs.c, words
PROGRAMS = (
    ("closed", "0", "closed loop, bound by the CPU"),
    ("disk", "2", "disk of any number of requests"),
    ("open", "9", "open loop, 90 % loaded"),
    ("tick", "10", "periodic tick"),
    ("retry", "18", "timeout that races with the answer"),
    ("mutex", "19", "mutex that is held over a sleep"),
    ("worker", "20", "worker that takes all, and sleeps"),
    ("lock", "lock", "two threads, one lock: inside"),
    ("queue", "queue", "two threads, a queue: make"),
)
HEADING = (
    f"{'program':<36} {'truth':>6} {'between':>13} {'Coz':>6} {'+-':>5}"
    f" {'between':>13} {'error':>6} {'s':>4} {'to +-1':>6}"
)


class Machine:
    """The programs, and Coz, which gets the line of their part."""

    def __init__(self, programs, folder, seconds, percent):
        self.programs, self.folder = programs, folder
        self.seconds, self.percent = seconds, percent
        self.rounds, self.line = self.output(programs).split()

    @staticmethod
    def output(*command):
        return subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def words(self, program, shorter, visits, seconds):
        words = (program, shorter, SCALE, self.rounds, visits, seconds)
        return [self.programs, *map(str, words)]

    def period(self, program, shorter, visits, seconds=WITHOUT_END):
        """(units of work, ns of each), without Coz."""
        done, took = self.output(
            *self.words(program, shorter, visits, seconds)
        ).split()
        return int(done), int(took) / int(done)

    def experiments(self, name, program, speedup):
        """(ns, units of work) of each, of one run of Coz."""
        profile = self.folder / f"{name}-{speedup}.coz"
        profile.unlink(missing_ok=True)
        log = profile.with_suffix(".log")
        with log.open("w", encoding="utf-8") as said:
            subprocess.run(
                [
                    *("coz", "run", "-o", profile, "--fixed-line", self.line),
                    *("--fixed-speedup", str(speedup), "---"),
                    *self.words(program, 0, WITHOUT_END, self.seconds),
                ],
                check=False,
                stdout=said,
                stderr=said,
                env={**os.environ, "COZ_OUTPUT_FORMAT": "text"},
            )
        found = read(profile)
        if len(found) < 2:
            sys.exit(f"measure.py: {name}: no experiments of Coz, see {log}")
        return found


def read(profile):
    """The experiments of a profile, in Coz's lines of WORD=VALUE."""
    found, ns = [], None
    if not profile.exists():
        return found
    for line in profile.read_text(encoding="utf-8").splitlines():
        kind, *fields = line.split("\t")
        values = dict(field.partition("=")[::2] for field in fields)
        if kind == "experiment":
            ns = int(values["duration"])
        elif kind == "throughput-point" and ns is not None:
            found.append((ns, int(values["delta"])))
            ns = None
    return found


def mean_period(experiments):
    return sum(ns for ns, _ in experiments) / sum(n for _, n in experiments)


def variance(experiments):
    """Of mean_period(), in multiples of its square."""
    period, count = mean_period(experiments), len(experiments)
    visits = sum(n for _, n in experiments)
    off = sum((ns - period * n) ** 2 for ns, n in experiments)
    return off * count / (count - 1) / (visits * period) ** 2


class Row:
    def __init__(self, machine, name, program, rounds):
        self.truths, self.found = [], []
        percent = machine.percent
        self.all = {0: [], percent: []}
        self.seconds = 2 * rounds * machine.seconds
        visits, period = machine.period(program, 0, WITHOUT_END, 1)
        visits = max(1, int(TRUTH_SECONDS * 1e9 / period))
        for number in range(rounds):
            order = (0, percent) if number % 2 == 0 else (percent, 0)
            really = {p: machine.period(program, p, visits)[1] for p in order}
            coz = {p: machine.experiments(name, program, p) for p in order}
            self.truths.append(100 * (1 - really[percent] / really[0]))
            for each in order:
                self.all[each] += coz[each]
            self.found.append(
                100 * (1 - mean_period(coz[percent]) / mean_period(coz[0]))
            )
        self.truth, self.predicted = median(self.truths), median(self.found)
        self.interval = (
            1.96
            * (100 - self.predicted)
            * math.sqrt(sum(variance(each) for each in self.all.values()))
        )

    def show(self, words):
        def between(values):
            return f"{min(values):.1f}..{max(values):.1f}"

        print(
            f"{words:<36} {self.truth:6.2f} {between(self.truths):>13}"
            f" {self.predicted:6.2f} {self.interval:5.2f}"
            f" {between(self.found):>13} {self.predicted - self.truth:6.2f}"
            f" {self.seconds:4.0f} {self.seconds * self.interval**2:6.0f}",
            flush=True,
        )

    def figures(self, name):
        yield f"coz_{name}_truth", self.truth, min(self.truths), max(
            self.truths
        )
        yield f"coz_{name}", self.predicted, (
            self.predicted - self.interval
        ), self.predicted + self.interval


def main():
    programs, folder, results = map(Path, sys.argv[1:4])
    words = sys.argv[4:7]
    rounds, seconds, percent = map(int, words + ["5", "3", "50"][len(words) :])
    machine = Machine(programs.resolve(), folder, seconds, percent)
    print(HEADING)
    with results.open("w", encoding="utf-8") as file:
        for name, program, words in PROGRAMS:
            row = Row(machine, name, program, rounds)
            row.show(words)
            for figure, value, low, high in row.figures(name):
                line = {"width": "host", "name": figure, "unit": "%"}
                line.update(value=round(value, 2) + 0.0)  # no -0
                line.update(low=round(low, 1) + 0.0, high=round(high, 1) + 0.0)
                file.write(json.dumps(line) + "\n")


main()
