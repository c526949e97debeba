# SPDX-License-Identifier: Apache-2.0
"""What the command parasite says of a trace."""

import json
import re
import subprocess
import typing


class Sample(typing.NamedTuple):
    """One, as `parasite script` shows it."""

    ns: int  # the time that it carries
    stack: list  # the names of the functions, the innermost first

    @property
    def is_idle(self):
        return self.stack == ["[idle]"]


def ask(parasite, *words):
    return subprocess.run(
        [parasite, *words], text=True, capture_output=True, check=True
    ).stdout


def samples(parasite, trace):
    """All that have an address, in the order of time."""
    found = []
    for line in ask(parasite, "script", "-q", trace).splitlines():
        if line.startswith("\t"):
            found[-1].stack.append(
                re.sub(r" \([^()]*:\d+\)$", "", line.strip())
            )
        else:
            head = re.search(r" (sample|idle|overflow|drop): (\d+) ns$", line)
            if head:
                found.append(Sample(int(head[2]), []))
    return found


def info(parasite, trace):
    """What it counts: a tick is in one of these."""
    said = json.loads(ask(parasite, "info", "--json", trace))
    return {
        key: said[key]
        for key in ("stacks", "idle", "overflowed", "dropped", "discarded")
    }


def stolen_ns(parasite, trace):
    return json.loads(ask(parasite, "info", "--json", trace))["stolen_ns"]


def report(parasite, trace):
    """The rows of `parasite report` by name: self, total and their times."""
    words = ("report", "--profiler", "--json", "-q", trace)
    said = json.loads(ask(parasite, *words))
    return {
        row["symbol"]: (
            row["self"],
            row["total"],
            row["self_ns"],
            row["total_ns"],
        )
        for row in said["rows"]
    }


def sums(found):
    """The same rows, added up from samples."""
    rows = {}
    for sample in found:
        for number, name in enumerate(dict.fromkeys(sample.stack)):
            row = rows.setdefault(name, [0, 0, 0, 0])
            row[1] += 1
            row[3] += sample.ns
            if number == 0:
                row[0] += 1
                row[2] += sample.ns
    return {name: tuple(row) for name, row in rows.items()}
