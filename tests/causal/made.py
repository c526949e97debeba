# SPDX-License-Identifier: Apache-2.0
"""Traces of harness/made_causal.py, and what is said of them."""

import json

from harness.command import Command
from harness.made_causal import causal, truth
from harness.suite import check


class Trace:
    """A trace of (experiments) with these words."""

    def __init__(self, s, *words, experiments=400):
        self.parasite = Command(s)
        name = "-".join(("made", *words))
        self.truth = truth()
        self.path = s.work / f"{name}.trace"
        self.parasite.record(
            self.path, "-q", "-", data=causal(experiments, *words)
        )

    def __call__(self, *words, **options):
        return self.parasite("causal", *words, self.path, **options)

    def json(self):
        return json.loads(self("--json").out)


def curves_of(found, point=0):
    return {
        curve["target"]: curve for curve in found["points"][point]["curves"]
    }


def coz_of(trace, path, *words):
    """What a file for Coz says: {(target, speed-up, point): [ns, visits]}, and
    of a latency [ns of all requests at a time, requests]."""
    trace("-q", "--coz", path, *words)
    sums, experiment = {}, None
    for line in path.read_text().splitlines():
        if path.suffix == ".jsonl":
            record = json.loads(line)
            kind = record["type"]
        else:
            kind, *fields = line.split("\t")
            record = dict(field.split("=", 1) for field in fields)
        if kind == "experiment":
            experiment = record
        elif kind == "throughput-point":
            key = (experiment["selected"], float(experiment["speedup"]))
            found = sums.setdefault((*key, record["name"]), [0, 0])
            found[0] += int(experiment["duration"])
            found[1] += int(record["delta"])
        elif kind == "latency-point":
            key = (experiment["selected"], float(experiment["speedup"]))
            ns = int(experiment["duration"]) * int(record["difference"])
            check.same(record["arrivals"], record["departures"])
            check.true((*key, record["name"]) not in sums, record)
            sums[(*key, record["name"])] = [ns, int(record["arrivals"])]
    return sums
