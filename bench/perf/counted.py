# SPDX-License-Identifier: Apache-2.0
"""All that perf costs, as linux/counted and host/marks.c counted it."""

import re

# our name, the run, the run whose file has its samples
RUNS = (("flat", "flat"), ("stack_11", "stack"), ("default_11", "default"))
MARKS = 2  # of each counted run: before and after it


def totals(marks, names):
    """{run: (instructions of the kernel, of other programs than the work)}"""
    counts = [[int(word) for word in line.split()] for line in marks]
    if len(counts) != MARKS * len(names):
        raise ValueError(f"{len(counts)} marks of {len(names)} runs")
    pairs = zip(counts[::MARKS], counts[1::MARKS])
    return {
        name: (end[0] - begin[0], end[2] - begin[2])
        for name, (begin, end) in zip(names, pairs)
    }


def rows_of(runs, marks):
    """{name: (value, None)} of the runs [(name, [line])] and the lines of the
    plugin. A sample's cost is what the long run has more than the short one,
    less what the work alone has more, by the samples in perf's file."""
    counted = [name for name, _ in runs if not name.startswith("samples")]
    found = totals(marks, counted)
    short, long = sorted({int(name.split()[1]) for name in counted})
    samples = {
        name: int(re.search(r"^samples (\d+)$", "\n".join(body), re.M)[1])
        for name, body in runs
        if name.startswith("samples")
    }

    def more(run):
        """(in the kernel, in other programs)"""
        return [
            a - b
            for a, b in zip(found[f"{run} {long}"], found[f"{run} {short}"])
        ]

    def more_samples(file):
        return (
            samples[f"samples {file} {long}"]
            - samples[f"samples {file} {short}"]
        )

    rows = {}
    alone = more("none")
    for name, run in RUNS:
        kernel, user = (
            (a - b) / more_samples(run) for a, b in zip(more(run), alone)
        )
        rows[f"perf_{name}_user"] = user, None
        rows[f"perf_{name}_whole"] = kernel + user, None
    rows["perf_report_11"] = sum(more("report")) / more_samples("user"), None
    return rows
