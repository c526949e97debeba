# SPDX-License-Identifier: Apache-2.0
"""The rate of progress before experiments, in them and after them, and whether
there are two: the guest's table, what parasite says, and its JSON, whose notes
are those of the page (pages.js)."""

import json
import re

from harness.command import Command
from harness.suite import check, run

# experiments last 20 ms, and each rate for 150 to 200
WORDS = (
    "prof.causal=on prof.progress=work_done prof.target=cold_work "
    "prof.causal_for=10s units=2000000000 more=24000 jumps=2000"
)
RATES = re.compile(
    r"one work_done takes (?P<before>6[78]\.\d) us before experiments, "
    r"(?P<during>\d\d\.\d) at normal speed in them, (?P<after>6[78]\.\d) after "
    r"them"
)
CHANGE = re.compile(
    r"warning: experiments change the program: at normal speed it is "
    r"\d\d\.\d\d \+- \d+\.\d\d % slower than before, and "
    r"\d\d\.\d\d \+- \d+\.\d\d % slower than after; gains are those of such a "
    r"program"
)
REGIMES = re.compile(
    r"progress jumps between two rates: at normal speed one work_done takes "
    r"(?P<shorter>\d+\.\d) us in (?P<percent>\d+) % of the experiments, and "
    r"(?P<longer>\d+\.\d) in the others; gains are between those of the two"
)


def record(s):
    """The trace, and the lines of the guest's table."""
    parasite, trace = Command(s), s.work / "rates.trace"
    done = parasite.record(
        *(trace, "-q", "-t", "virtio"),
        *parasite.machine(
            *(s.part, "test/causal_options", f"prof.every=0 {WORDS}"),
            *("-serial", "stdio"),
            icount=0,
        ),
    )
    text = done.text.replace("\r", "")
    return trace, text[text.index("--- causal profile") :].splitlines()


def line_of(lines, pattern):
    """The only one of these."""
    (found,) = filter(None, map(pattern.fullmatch, lines))
    return found


def test_rates(s):
    trace, table = record(s)
    rates, change, regimes = (
        line_of(table, pattern) for pattern in (RATES, CHANGE, REGIMES)
    )
    during = float(rates["during"])
    shorter, longer = float(regimes["shorter"]), float(regimes["longer"])
    check.between(shorter, 65, 75)
    check.between(longer / shorter, 1.25, 1.45)
    check.between(during, shorter, longer)
    text = run(s.parasite, "causal", trace).out
    found = json.loads(run(s.parasite, "causal", "--json", trace).out)
    for line in (rates, change, regimes):
        check.has(text, f"^# {re.escape(line[0])}$")
        check.true(line[0] in found["notes"], line[0])
    for name in ("before", "during", "after"):
        check.near(found["rates"][f"{name}_ns"], 1e3 * float(rates[name]), 1e-9)
    check.same(found["rates"]["changed"], True)
    check.near(found["regimes"]["shorter_ns"], 1e3 * shorter, 0.002)
    check.near(found["regimes"]["longer_ns"], 1e3 * longer, 0.002)
