# SPDX-License-Identifier: Apache-2.0
"""Others that read what the command wrote: babeltrace2, flamegraph.pl, go tool
pprof. Each comes to the report's numbers."""

import collections
import re
import xml.dom.minidom

from harness.command import event_counts
from harness.suite import check, run

FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"


def babeltrace_agrees(parasite, trace):
    counts, info = event_counts(trace), parasite.info(trace)
    check.same(sum(counts.values()), info["events"])
    check.same(counts["sample"] + counts["leaf"], info["stacks"])


def of_folded(stacks):
    """{function: (self, total)}, a function once for each stack."""
    own, total = collections.Counter(), collections.Counter()
    for names, weight in stacks:
        own[names[-1]] += weight
        for name in set(names):
            total[name] += weight
    return {name: (own[name], total[name]) for name in total}


def folded_agrees(parasite, trace):
    ours = check.true(parasite.selves(trace))
    check.same(of_folded(parasite.folded(trace)), ours)


def flamegraph_agrees(s, parasite, trace):
    """The sum over all boxes of a name, there and in the folded stacks."""
    stacks, theirs = collections.Counter(), collections.Counter()
    for names, weight in parasite.folded(trace):
        for name in names:
            stacks[name] += weight
    folded = s.work / "folded"
    counted = ("-q", "-f", "folded", "--weight", "samples")
    parasite("export", *counted, "-o", folded, trace)
    drawn = run("perl", FLAMEGRAPH, "--minwidth", 0, folded).data
    for title in xml.dom.minidom.parseString(drawn).getElementsByTagName(
        "title"
    ):
        found = re.match(r"(.*) \(([0-9,]+) samples", title.firstChild.data)
        if found and found[1] != "all":
            theirs[found[1]] += int(found[2].replace(",", ""))
    check.true(stacks)
    check.same(theirs, stacks)


def pprof(s, parasite, trace, *words):
    """What go tool pprof says of it."""
    file = s.work / "x.pb.gz"
    counted = ("-q", "-f", "pprof", "--weight", "samples")
    parasite("export", *counted, "-o", file, trace)
    return run("go", "tool", "pprof", *words, file, env={"HOME": s.work}).out


def pprof_agrees(s, parasite, trace):
    said = pprof(
        s,
        parasite,
        trace,
        "-top",
        "-unit",
        "count",
        "-nodefraction=0",
        "-nodecount=100000",
    )
    rows = said.partition("cum%\n")[2].splitlines()
    theirs = {}
    for row in rows:
        own, _, _, total, _, name = row.split(None, 5)
        theirs[name] = int(own), int(total)
    check.true(theirs)
    check.same(theirs, parasite.selves(trace))


def pprof_raw_agrees(s, parasite, trace):
    """The samples of -raw are lines "COUNT NANOSECONDS: LOCATION...", and
    their sum is that of the folded stacks."""
    said = pprof(s, parasite, trace, "-raw")
    said = said.partition("\nSamples:\n")[2].partition("\nLocations")[0]
    counts = re.findall(r"^ +(\d+) +\d+: ", said, re.M)
    wanted = sum(weight for _, weight in parasite.folded(trace))
    check.true(wanted > 0)
    check.same(sum(map(int, counts)), wanted)
