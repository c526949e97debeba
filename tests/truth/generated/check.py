# SPDX-License-Identifier: Apache-2.0
"""check.py WHAT ARGUMENTS...: looks at a run of a generated program, and ends
with 1 if it is not as it should be. WHAT is

claim IMAGE TRUTH CLAIM
        the plugin counted in each function, over the whole run and outside
        interrupts, exactly what the generator claims
small IMAGE TRUTH PARASITE TRACE
        functions that have too few samples to be judged one by one: in groups
        of neighbours they have their shares, and as many functions were met
        never, once, twice, ... as ideal samplers meet so often
masked IMAGE TRUTH PARASITE TRACE CONSOLE
        what is executed with interrupts off is a sample of where they are
        turned on; the report's row "masked" has its share of the time
stolen IMAGE TRUTH PARASITE TRACE CONSOLE HZ PERCENT
        the thief took its share, and the plugin has seen the same; of each
        slice all but a sampling period is in the account of stolen time

TRUTH is the plugin's, and so are the ideal samplers in it. Where all is well
`small` and `masked` fail with probability chance.FALSE_ALARM each.
"""

import collections
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import chance  # noqa: E402
import sampled  # noqa: E402
from symbols import Functions  # noqa: E402

LEAST = 5  # samples that a function or a group should have
OFTEN = 4  # and more often


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def of_functions(functions, rows, key):
    """What the plugin counted, by function; those that it never met have no
    ideal samples."""
    result = collections.Counter()
    for start, row in zip(functions.starts, rows):
        result[functions.name(functions.group_of_start[start])] += row.get(
            key, 0
        )
    return result


def claim(image, truth_path, claim_path):
    functions = Functions(image)
    whole = of_functions(functions, read(truth_path)["functions"], "whole")
    claimed = read(claim_path)["functions"]
    wrong = {
        name: number
        for name, number in claimed.items()
        if whole[name] != number
    }
    for name, wanted in sorted(wrong.items())[:10]:
        print(f"{name}: {wanted} claimed, {whole[name]} counted")
    print(f"{len(claimed)} functions, {sum(claimed.values())} instructions")
    assert len(claimed) > 10 and not wrong, f"{len(wrong)} differ"


def hits_of(parasite, trace, truth):
    """Samples by function, of those that stand for what was counted."""
    found = sampled.samples(parasite, trace)[1 : truth["judged"]]
    return collections.Counter(sample.stack[0] for sample in found)


def ideal_hits(functions, truth, number):
    rows = [
        {"hits": row["ideal_self"][number]} if "ideal_self" in row else {}
        for row in truth["functions"]
    ]
    return of_functions(functions, rows, "hits")


def expected(counts, whole):
    executed = sum(counts.values())
    return {
        name: count / executed * whole
        for name, count in counts.items()
        if count > 0
    }


def groups(counts, samples):
    """Neighbours, in lists that should have LEAST samples each."""
    result, sums = [[]], 0
    for name, wanted in expected(counts, samples).items():
        result[-1].append(name)
        sums += wanted
        if sums >= LEAST:
            result.append([])
            sums = 0
    last = result.pop()
    result[-1] += last
    return result


def square(hits, counts, lists):
    """Chi-square of groups of functions."""
    samples, executed = sum(hits.values()), sum(counts.values())
    value = 0
    for names in lists:
        wanted = sum(counts[name] for name in names) / executed * samples
        value += (sum(hits[name] for name in names) - wanted) ** 2 / wanted
    return value


def often(hits, names):
    """How many of (names) were met never, once, ..., OFTEN times or more."""
    met = collections.Counter(min(hits[name], OFTEN) for name in names)
    return [met[times] for times in range(OFTEN + 1)]


def moments(ideal):
    """Mean and variance, of samplers whose mean is known as well as they are
    many; never so small that a band could not hold a whole number."""
    mean, variance = chance.spread(ideal)
    return max(mean, 0.01), max(variance * (1 + 1 / len(ideal)), 1)


def small(image, truth_path, parasite, trace):
    functions, truth = Functions(image), read(truth_path)
    counts = of_functions(functions, truth["functions"], "self")
    hits = hits_of(parasite, trace, truth)
    ideals = [
        ideal_hits(functions, truth, number)
        for number in range(len(truth["ideals"]))
    ]
    lists = groups(counts, sum(hits.values()))
    value = square(hits, counts, lists)
    theirs = [square(ideal, counts, lists) for ideal in ideals]
    # it, and each number of times
    probability = chance.FALSE_ALARM / (OFTEN + 2)
    low, high = chance.gamma_band(*moments(theirs), probability)
    print(
        f"{len(lists)} groups of {len(expected(counts, 1))} functions: "
        f"chi-square {value:.1f}, {chance.spread(theirs)[0]:.1f} of ideal "
        f"samplers, accepted {low:.1f} to {high:.1f}"
    )
    fine = low <= value <= high
    few = [
        name
        for name, wanted in expected(counts, sum(hits.values())).items()
        if wanted < LEAST
    ]
    met = often(hits, few)
    theirs = list(zip(*(often(ideal, few) for ideal in ideals)))
    for times, count in enumerate(met):
        mean, variance = moments(theirs[times])
        low, high = chance.counts_band(mean, variance, len(few), probability)
        print(
            f"of {len(few)} small ones {count} met {times} times"
            f"{' or more' if times == OFTEN else ''}, {mean:.1f} of ideal "
            f"samplers, accepted {low} to {high}"
        )
        fine = fine and low <= count <= high
    assert fine


def masked_row(console):
    """Ticks that the report calls masked, and all."""
    with open(console, encoding="utf-8", errors="replace") as file:
        said = file.read()
    return (
        int(re.search(r"% +(\d+) +masked", said)[1]),
        int(re.search(r"% +(\d+) +all ticks", said)[1]),
    )


def masked(image, truth_path, parasite, trace, console):
    functions, truth = Functions(image), read(truth_path)
    own, off, opened = (
        of_functions(functions, truth["functions"], key)
        for key in ("self", "masked", "opened")
    )
    hits = hits_of(parasite, trace, truth)
    samples, executed = sum(hits.values()), sum(own.values())
    seen = {name: own[name] - off[name] + opened[name] for name in own}
    shares = []
    for name, count in sorted(seen.items(), key=lambda one: -own[one[0]]):
        if max(count, own[name]) / executed * samples < LEAST:
            continue
        print(
            f"{name:20} {100 * own[name] / executed:6.2f} % in truth, "
            f"{100 * off[name] / executed:6.2f} % with interrupts off, "
            f"{100 * count / executed:6.2f} % to be seen, "
            f"{100 * hits[name] / samples:6.2f} % sampled"
        )
        if count > 0:
            shares.append((hits[name], count / executed))
        assert count > 0 or hits[name] == 0
    value, degrees = chance.chi_square(shares, samples, LEAST)
    tail = chance.chi_square_tail(value, degrees)
    share = sum(off.values()) / executed
    row, ticks = masked_row(console)
    row_tail = chance.poisson_tail(row, share * ticks)
    probability = chance.FALSE_ALARM / 4
    print(
        f"chi-square {value:.1f} of {degrees}, {tail:.3f}; masked "
        f"{100 * share:.2f} % in truth, {100 * row / ticks:.2f} % of "
        f"{ticks} ticks, probability {row_tail:.3f}"
    )
    assert probability < tail < 1 - probability
    assert row_tail > probability and share > 0.1


def stolen(_image, truth_path, parasite, trace, console, hz, percent):
    truth = read(truth_path)
    with open(console, encoding="utf-8", errors="replace") as file:
        said = file.read()
    slices, taken = map(
        int, re.search(r"^thief: (\d+) slices, (\d+) ns", said, re.M).groups()
    )
    found = sampled.stolen_ns(parasite, trace)
    period = 1e9 / int(hz)
    print(
        f"{slices} slices, {taken} ns taken; the plugin's: {truth['thief']}; "
        f"{found} ns found, {(taken - found) / slices / period:.2f} periods "
        "a slice less"
    )
    assert slices == truth["thief"][0] >= 4
    # the plugin counts the whole interrupt
    assert 0 < truth["thief"][1] - taken < 1000 * slices
    # slices are few, and of any length
    share = 100 * taken / truth["between"]
    assert 0.5 * int(percent) < share < min(2 * int(percent), 95), share
    assert taken - slices * period <= found <= taken


if __name__ == "__main__":
    {
        "claim": claim,
        "small": small,
        "masked": masked,
        "stolen": stolen,
    }[
        sys.argv[1]
    ](*sys.argv[2:])
