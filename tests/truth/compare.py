# SPDX-License-Identifier: Apache-2.0
"""compare.py IMAGE TRUTH TICKS PARASITE TRACE: a profile against the truth.

TRUTH and TICKS are the plugin's, TRACE is of the same run. Prints one JSON
object:

ticks, samples   as the plugin counted them, and as they are in the trace;
                 judged: those that stand for a time that was counted;
                 between: instructions from the first to the last of these
self, total      of each function: true and sampled share, and whether the
                 truth lies in the 95 % interval around what was sampled
chi_square       over all functions' self, with its degrees and probability
chains           how many stacks are as they were; cut short; without the
                 caller of the innermost function, which has pushed too much
                 for it to be found; in the midst of a longjmp, which changes
                 from one stack to another; and impossible otherwise
"""

import collections
import json
import math
import re
import subprocess
import sys

from symbols import Functions

Z95 = 1.959963985
EXPECTED_LEAST = 5  # samples, for a function to be judged


def interval(hits, whole):
    """Wilson's, as tools/parasite/interval.c has it."""
    share = hits / whole
    scale = 1 + Z95 * Z95 / whole
    middle = (share + Z95 * Z95 / (2 * whole)) / scale
    reach = Z95 / scale * math.sqrt(share * (1 - share) / whole
                                    + Z95 * Z95 / (4 * whole * whole))
    return (middle - reach if hits > 0 else 0,
            middle + reach if hits < whole else 1)


def chi_square_tail(value, degrees):
    """The probability of a larger one: the regularised upper incomplete gamma
    function, by its series or by its continued fraction."""
    a, x = degrees / 2, value / 2
    if x <= 0 or a <= 0:
        return 1.0
    front = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > abs(total) * 1e-15:
            n += 1
            term *= x / n
            total += term
        return 1 - front * total
    b = x + 1 - a
    c, d = 1e300, 1 / b
    fraction = d
    for i in range(1, 10000):
        step = -i * (i - a)
        b += 2
        d = 1 / (step * d + b)
        c = b + step / c
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction


def sampled_stacks(parasite, trace, functions):
    """Each sample's groups, the innermost first; what is no function is
    None."""
    said = subprocess.run([parasite, "script", "-q", trace], text=True,
                          capture_output=True, check=True).stdout
    stacks = []
    for line in said.splitlines():
        if line.startswith("\t"):
            name = re.sub(r" \([^()]*:\d+\)$", "", line.strip())
            stacks[-1].append(functions.group_of_name.get(name))
        elif re.search(r" (sample|idle|drop|spill): ", line):
            stacks.append([])
    return stacks


def true_stacks(path, functions):
    """The same from the plugin, up to the first caller outside the image."""
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
    """Whether it is longjmp with the frame pointer of where it goes."""
    return ours[:1] == theirs[:1] and ours[1:] == theirs[1 - len(ours):] \
        and functions.name(ours[0]) == "longjmp"


def compare_chains(sampled, true, functions):
    """Counts of stacks by how they agree, and some that do not."""
    counts = collections.Counter()
    examples = []
    for number, (ours, theirs) in enumerate(zip(sampled, true)):
        if ours == theirs:
            counts["right"] += 1
        elif ours and ours == theirs[:len(ours)]:
            counts["cut_short"] += 1
        elif ours[:1] == theirs[:1] and ours[1:] == theirs[2:]:
            counts["caller_missing"] += 1
        elif is_switching(ours, theirs, functions):
            counts["switching"] += 1
        else:
            counts["impossible"] += 1
            if len(examples) < 5:
                examples.append({
                    "sample": number,
                    "sampled": [functions.name(one) for one in ours],
                    "true": [functions.name(one) for one in theirs]})
    kinds = "right", "cut_short", "caller_missing", "switching", "impossible"
    return {**{kind: counts[kind] for kind in kinds}, "examples": examples}


def judge(hits, true_share, whole):
    """One function's share."""
    low, high = interval(hits, whole)
    reach = Z95 * math.sqrt(max(true_share * (1 - true_share), 0) / whole)
    return {"samples": hits, "true": true_share, "sampled": hits / whole,
            "inside": low <= true_share <= high,
            "error": abs(hits / whole - true_share) / reach if reach else 0}


def shares(truth, key, hits, whole, functions):
    """All functions that should have enough samples, the largest first."""
    true = collections.Counter()
    for start, row in zip(functions.starts, truth["functions"]):
        true[functions.group_of_start[start]] += row[key]
    executed = sum(row["self"] for row in truth["functions"])
    result = []
    for group, count in true.most_common():
        share = count / executed
        if share * whole >= EXPECTED_LEAST:
            one = judge(hits[group], min(share, 1), whole)
            one["function"] = functions.name(group)
            result.append(one)
    return result


def chi_square(rows, whole):
    """Over the functions in (rows) and all others together."""
    value = sum((row["samples"] - row["true"] * whole) ** 2
                / (row["true"] * whole) for row in rows)
    rest = 1 - sum(row["true"] for row in rows)
    degrees = len(rows) - 1
    if rest * whole >= EXPECTED_LEAST:
        hits = whole - sum(row["samples"] for row in rows)
        value += (hits - rest * whole) ** 2 / (rest * whole)
        degrees += 1
    return {"value": value, "degrees": degrees,
            "probability": chi_square_tail(value, degrees)}


def main(image, truth_path, ticks_path, parasite, trace):
    functions = Functions(image)
    with open(truth_path, encoding="ascii") as file:
        truth = json.load(file)
    true = true_stacks(ticks_path, functions)
    sampled = sampled_stacks(parasite, trace, functions)
    # The truth begins with the first tick, so that its sample is of before.
    counted = sampled[1:truth["judged"]]
    whole = len(counted)
    self_hits = collections.Counter(stack[0] for stack in counted)
    total_hits = collections.Counter()
    for stack in counted:
        total_hits.update(set(stack))
    rows = shares(truth, "self", self_hits, whole, functions)
    json.dump({
        "ticks": truth["ticks"], "samples": len(sampled),
        "judged": len(counted), "between": truth["between"],
        "executed": truth["executed"], "in_handlers": truth["in_handlers"],
        "left": truth["left"], "unmatched": truth["unmatched"],
        "self": rows,
        "total": shares(truth, "total", total_hits, whole, functions),
        "chi_square": chi_square(rows, whole),
        "chains": compare_chains(sampled, true, functions),
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
