# SPDX-License-Identifier: Apache-2.0
"""What perf costs that samples all CPUs, as linux/cpus and host/marks.c counted
it."""

import re

from counted import totals

RUNS = (("flat", "flat"), ("stack_11", "stack"))
KINDS = ("none", *(run for _, run in RUNS))


def rows_of(runs, marks, lines):
    """{name: (value, None)} of the runs [(name, [line])], the lines of the
    plugin and all that the guest has printed. A sample's cost is what the long
    run has more than the short one, less what the work alone has more, by the
    samples in perf's file."""
    counted = [name for name, _ in runs if name.split()[0] in KINDS]
    found = {
        name: sum(counts) for name, counts in totals(marks, counted).items()
    }
    bodies = {name: "\n".join(body) for name, body in runs}
    short, long = sorted({int(name.split()[1]) for name in counted})
    cpus = int(re.search(r"^cpus (\d+)$", "\n".join(lines), re.M)[1])
    sampled = re.findall(r"^cpu \[(\d+)\]", bodies["sampled"], re.M)
    if cpus < 2 or len(sampled) != cpus:
        raise ValueError(f"perf has sampled CPUs {sampled} of {cpus}")

    def more(values, run):
        return values[f"{run} {long}"] - values[f"{run} {short}"]

    samples = {
        name[len("samples ") :]: int(
            re.search(r"^samples (\d+)$", body, re.M)[1]
        )
        for name, body in bodies.items()
        if name.startswith("samples ")
    }
    return {
        f"perf_cpus_{name}_whole": (
            (more(found, run) - more(found, "none")) / more(samples, run),
            None,
        )
        for name, run in RUNS
    }
