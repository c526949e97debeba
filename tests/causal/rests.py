# SPDX-License-Identifier: Apache-2.0
"""What parasite says of what results rest on, and of traces that were cut."""

from made import Trace, coz_of, curves_of
from harness.suite import check


def assumptions_are_said(trace):
    """The last words of each; control characters never reach the terminal."""
    check.same(
        trace.json()["assumptions"],
        ["disk: any number of requests at a time", "network: \x1b peers wait"],
    )
    text = trace().out
    check.has(text, "^# assumed: disk: any number of requests at a time$")
    check.has(text, r"^# assumed: network: \\x1b peers wait$")
    check.lacks(text, "to be said")
    check.has(text, "^# assumed: what answers does so also with more to do;")
    check.has(
        text, "^# model check: 3 of 500 answers .* possible: its kind is wrong$"
    )
    check.has(text, "^# targets are measured from enter to leave, unless")


def contradictions_are_of_agents(trace):
    """And of those of which nothing is assumed."""
    disk = "disk: any number of requests at a time"
    network = "network: \x1b peers wait"
    check.same(
        [
            (each["assumption"], each["contradictions"], each["checked"])
            for each in trace.json()["agents"]
        ],
        [(disk, 0, 100), (network, 3, 390), (None, 0, 10)],
    )
    text = trace().out
    check.has(text, f"^# 0 of 100: {disk}$")
    check.has(text, r"^# 3 of 390: network: \\x1b peers wait$")
    check.has(text, "^# 0 of 10: other agents$")


def old_traces_say_less(s, trace):
    old = Trace(s, "old")
    text = old().out
    check.same(old.json()["assumptions"], [])
    check.lacks(text, "other agents")
    check.same(len(old.json()["points"]), len(trace.json()["points"]))
    check.has(text, "^# assumed: devices and peers are of the kinds that their")
    check.has(text, ": 1000 samples were in it$")


def another_run_voids_all(s, trace):
    """Though the packet that says so is missing: not even Coz has the first."""
    again = Trace(s, "again")
    found = again.json()
    check.same(found["experiments"], 400)
    check.has(again().out, "^# the account of these experiments is missing$")
    for point in (0, 1):
        for target, truth in again.truth.items():
            values = curves_of(found, point)[target]["values"]
            for value, gain in zip(values, truth):
                check.true(abs(value["gain"] - gain) < 0.01, (target, value))
    coz = s.work / "again.coz"
    coz_of(again, coz)
    lines = coz.read_text().splitlines()
    check.same(sum(line.startswith("experiment\t") for line in lines), 400)


def too_short_is_said(s):
    """A trace that was cut before the first account with an experiment."""
    short = Trace(s, "short", experiments=0)
    text = short().out
    check.has(text, "^# 0 experiments$")
    check.has(
        text,
        "^# too short: no experiment has ended in the 300 ms of them that the "
        "trace has$",
    )
    check.lacks(text, "experiments go on")
    unended = Trace(s, "unended", experiments=40)
    text = unended().out
    check.has(text, "^# 40 experiments$")
    check.has(text, "^# experiments go on$")
    check.lacks(text, "too short|known by their sums")
    check.same(unended.json()["experiments"], 40)


def test_rests(s, trace):
    s.holds(assumptions_are_said, trace)
    s.holds(contradictions_are_of_agents, trace)
    s.holds(old_traces_say_less, s, trace)
    s.holds(another_run_voids_all, s, trace)
    s.holds(too_short_is_said, s)
