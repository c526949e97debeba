# SPDX-License-Identifier: Apache-2.0
"""compare.py IMAGE TRUTH TICKS PARASITE TRACE: a profile against the truth.

TRUTH and TICKS are the plugin's, TRACE is of the same run. Prints one JSON
object:

ticks, samples   as the plugin counted them, and as they are in the trace;
accounts         of the trace: samples with stacks, idle, overflowed, dropped
                 and discarded
judged, idle     of these: those that stand for a time that was counted, and
                 were not idle; the idle ones among them
ns, between      the time that all those stand for, and the instructions that
                 were executed in it; stolen, the time that was taken from it
report           whether `parasite report` shows what the samples add up to
self, total      of each function: true and sampled share; error, signed, as a
                 multiple of the binomial 95 % interval; the same of its share
                 of time; coverage, how often independent samples come inside
                 their interval
inside           of self, total and of both by time ("self_time", ...): how
                 many functions are; independent, how many would be of
                 independent samples; ideal, how many were, of each of the
                 plugin's own samplers (ideal.h)
chi_square       over all functions' self, with its degrees and probability,
                 and what the plugin's own samplers have
chains           how many stacks are as they were; cut short; without the
                 caller of the innermost function, which has pushed too much
                 for it to be found; in the midst of a longjmp, which changes
                 from one stack to another; and impossible otherwise
"""

import collections
import json
import sys

import chance
import sampled
from symbols import Functions

EXPECTED_LEAST = 5  # samples, for a function to be judged
IDLE = "arch_idle"  # where the kernel halts; its samples are [idle]
KINDS = "self", "total"
CHAINS = "right", "cut_short", "caller_missing", "switching", "impossible"
EXAMPLES = 3  # of each kind


def true_stacks(path, functions):
    """Groups at each tick, up to the first caller outside the image."""
    stacks = []
    with open(path, encoding="ascii") as file:
        for line in file:
            words = [int(word, 16) for word in line.split()]
            stack = [functions.group_at(words[0])]
            for back in words[1:]:
                caller = functions.group_at(back - 1)
                if caller is None:
                    break
                stack.append(caller)
            stacks.append(stack)
    return stacks


def is_switching(ours, theirs, functions):
    """Whether it is longjmp with the frame pointer of where it goes; its own
    caller is still on top of the stack until it has changed that as well."""
    if ours[:1] != theirs[:1] or functions.name(ours[0]) != "longjmp":
        return False
    callers = ours[2:] if ours[:2] == theirs[:2] else ours[1:]
    return len(callers) > 0 and callers == theirs[-len(callers) :]


def chain_kind(ours, theirs, functions):
    if ours == theirs:
        return "right"
    if ours and ours == theirs[: len(ours)]:
        return "cut_short"
    if ours[:1] == theirs[:1] and ours[1:] == theirs[2:]:
        return "caller_missing"
    if is_switching(ours, theirs, functions):
        return "switching"
    return "impossible"


def compare_chains(found, true, functions):
    """Counts of stacks by how they agree, and some that do not."""
    counts = dict.fromkeys(CHAINS, 0)
    examples = []
    for number, (sample, theirs) in enumerate(zip(found, true)):
        if sample.is_idle:
            continue
        ours = [functions.group_of_name.get(name) for name in sample.stack]
        kind = chain_kind(ours, theirs, functions)
        counts[kind] += 1
        if kind != "right" and counts[kind] <= EXAMPLES:
            examples.append(
                {
                    "sample": number,
                    "kind": kind,
                    "sampled": [functions.name(one) for one in ours],
                    "true": [functions.name(one) for one in theirs],
                }
            )
    return {**counts, "examples": examples}


class Sampler:
    """Hits by group, of one sampler: the one that is judged or an ideal."""

    def __init__(self):
        self.whole = self.time = 0
        self.effective = 0  # independent samples that are worth all times
        self.hits = {kind: collections.Counter() for kind in KINDS}
        self.times = {kind: collections.Counter() for kind in KINDS}

    @classmethod
    def of_samples(cls, found, functions):
        self = cls()
        self.whole = len(found)
        self.time = sum(sample.ns for sample in found)
        self.effective = self.time**2 / sum(
            sample.ns**2 for sample in found
        )
        for sample in found:
            groups = [
                functions.group_of_name.get(name) for name in sample.stack
            ]
            for kind, some in (("self", groups[:1]), ("total", set(groups))):
                for group in some:
                    self.hits[kind][group] += 1
                    self.times[kind][group] += sample.ns
        return self

    @classmethod
    def of_plugin(cls, number, truth, functions, worth):
        """(worth): how many independent samples each of those that are weighed
        by their time is worth."""
        self = cls()
        self.whole = truth["ideals"][number]
        self.time = truth["ideal_times"][number]
        for start, row in zip(functions.starts, truth["functions"]):
            if "ideal_self" not in row:
                continue
            if functions.name(start) == IDLE:
                self.whole -= row["ideal_self"][number]
                self.time -= row["ideal_self_time"][number]
                continue
            for kind in KINDS:
                self.hits[kind][start] = row["ideal_" + kind][number]
                self.times[kind][start] = row[f"ideal_{kind}_time"][number]
        self.effective = self.whole * worth
        return self

    def errors(self, kind, true):
        """By count and by time, of all groups in (true)."""
        return {
            group: (
                chance.error(
                    self.hits[kind][group] / self.whole, share, self.whole
                ),
                chance.error(
                    self.times[kind][group] / self.time, share, self.effective
                ),
            )
            for group, share in true.items()
        }

    def inside(self, kind, true):
        """How many are inside, by count and by time."""
        errors = self.errors(kind, true).values()
        return [sum(map(chance.is_inside, column)) for column in zip(*errors)]

    def chi_square(self, true):
        return chance.chi_square(
            [
                (self.hits["self"][group], share)
                for group, share in true.items()
            ],
            self.whole,
            EXPECTED_LEAST,
        )


def true_shares(truth, kind, whole, functions):
    """By group, of all that should have enough of (whole) samples."""
    counts = {
        start: row[kind]
        for start, row in zip(functions.starts, truth["functions"])
        if functions.name(start) != IDLE
    }
    executed = sum(row["self"] for row in truth["functions"]) - sum(
        row["self"]
        for start, row in zip(functions.starts, truth["functions"])
        if functions.name(start) == IDLE
    )
    shares = {
        group: min(count / executed, 1)
        for group, count in counts.items()
        if count / executed * whole >= EXPECTED_LEAST
    }
    return dict(sorted(shares.items(), key=lambda one: -one[1]))


def rows_of(sampler, kind, true, functions):
    errors = sampler.errors(kind, true)
    return [
        {
            "function": functions.name(group),
            "true": share,
            "samples": sampler.hits[kind][group],
            "sampled": sampler.hits[kind][group] / sampler.whole,
            "error": errors[group][0],
            "sampled_time": sampler.times[kind][group] / sampler.time,
            "error_time": errors[group][1],
            "coverage": chance.coverage(share, sampler.whole),
        }
        for group, share in true.items()
    ]


def judge(sampler, ideals, truth, functions):
    """What compares one sampler with the truth and with ideal ones."""
    result = {"inside": {}}
    for kind in KINDS:
        true = true_shares(truth, kind, sampler.whole, functions)
        rows = result[kind] = rows_of(sampler, kind, true, functions)
        independent = sum(row["coverage"] for row in rows)
        ours = sampler.inside(kind, true)
        theirs = list(zip(*(ideal.inside(kind, true) for ideal in ideals)))
        for number, name in enumerate((kind, kind + "_time")):
            result["inside"][name] = {
                "of": len(rows),
                "count": ours[number],
                "independent": independent,
                "ideal": theirs[number],
            }
    true = true_shares(truth, "self", sampler.whole, functions)
    value, degrees = sampler.chi_square(true)
    result["chi_square"] = {
        "value": value,
        "degrees": degrees,
        "probability": chance.chi_square_tail(value, degrees),
        "ideal": [ideal.chi_square(true)[0] for ideal in ideals],
    }
    return result


def main(image, truth_path, ticks_path, parasite, trace):
    functions = Functions(image)
    with open(truth_path, encoding="ascii") as file:
        truth = json.load(file)
    found = sampled.samples(parasite, trace)
    accounts = sampled.info(parasite, trace)
    # The truth begins with the first tick, so that its sample is of before.
    counted = found[1 : truth["judged"]]
    busy = [sample for sample in counted if not sample.is_idle]
    sampler = Sampler.of_samples(busy, functions)
    worth = sampler.effective / sampler.whole
    ideals = [
        Sampler.of_plugin(number, truth, functions, worth)
        for number in range(len(truth["ideals"]))
    ]
    json.dump(
        {
            "ticks": truth["ticks"],
            "samples": sum(accounts.values()),
            "accounts": accounts,
            "judged": len(busy),
            "idle": len(counted) - len(busy),
            "effective": sampler.effective,
            "ns": sum(sample.ns for sample in counted),
            "stolen": sampled.stolen_ns(parasite, trace),
            "between": truth["between"],
            "executed": truth["executed"],
            "in_handlers": truth["in_handlers"],
            "left": truth["left"],
            "unmatched": truth["unmatched"],
            "report": sampled.report(parasite, trace) == sampled.sums(found),
            **judge(sampler, ideals, truth, functions),
            "chains": compare_chains(
                found, true_stacks(ticks_path, functions), functions
            ),
        },
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
