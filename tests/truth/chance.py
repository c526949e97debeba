# SPDX-License-Identifier: Apache-2.0
"""What chance does to shares, and tests of it. Shares are fractions."""

import functools
import math

Z95 = 1.959963985

# How probable it is that a judgement finds fault where there is none, in all
# that it compares together: a run repeats, and whoever builds an image with
# another layout makes other runs, of which none should fail.
FALSE_ALARM = 1e-6


def interval(hits, whole):
    """Wilson's, as host/profile/interval.c has it."""
    share = hits / whole
    scale = 1 + Z95 * Z95 / whole
    middle = (share + Z95 * Z95 / (2 * whole)) / scale
    reach = (
        Z95
        / scale
        * math.sqrt(
            share * (1 - share) / whole + Z95 * Z95 / (4 * whole * whole)
        )
    )
    return (
        middle - reach if hits > 0 else 0,
        middle + reach if hits < whole else 1,
    )


def error(sampled, true, whole):
    """The signed error of (sampled), as a multiple of the binomial 95 %
    interval of (whole) samples; the Wilson interval around (sampled) holds
    (true) where that is -1 to 1, for it is the inverse of this very test."""
    reach = Z95 * math.sqrt(max(true * (1 - true), 0) / whole)
    if reach > 0:
        return (sampled - true) / reach
    return 0 if sampled == true else math.copysign(math.inf, sampled - true)


def is_inside(off):
    return abs(off) <= 1 + 1e-12


@functools.lru_cache(maxsize=None)
def coverage(true, whole):
    """How often (whole) independent samples have an interval that holds
    (true), exactly: as samples are whole, it is not 95 %."""
    if true <= 0 or true >= 1:
        return 1.0
    mean = true * whole
    reach = Z95 * math.sqrt(mean * (1 - true))
    begin, end = math.ceil(mean - reach - 1e-9), math.floor(mean + reach + 1e-9)
    begin, end = max(begin, 0), min(end, whole)
    return sum(
        math.exp(
            math.lgamma(whole + 1)
            - math.lgamma(hits + 1)
            - math.lgamma(whole - hits + 1)
            + hits * math.log(true)
            + (whole - hits) * math.log1p(-true)
        )
        for hits in range(begin, end + 1)
    )


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


def chi_square(shares, whole, least):
    """Of (shares), pairs of hits and true shares, and of all else together,
    where that should have (least) samples: value and degrees of freedom."""
    value = sum(
        (hits - true * whole) ** 2 / (true * whole) for hits, true in shares
    )
    rest = (1 - sum(true for _, true in shares)) * whole
    degrees = len(shares) - 1
    if rest >= least:
        hits = whole - sum(hits for hits, _ in shares)
        value += (hits - rest) ** 2 / rest
        degrees += 1
    return value, degrees


def spread(values):
    """Mean and variance of a sample."""
    mean = sum(values) / len(values)
    return mean, sum((value - mean) ** 2 for value in values) / max(
        len(values) - 1, 1
    )


def gamma_band(mean, variance, probability):
    """Below the first, and above the second, a gamma distribution lies with
    half the (probability) each. It has no less than 0 and a longer tail above,
    as counts of what comes in clusters do."""
    shape, scale = mean * mean / variance, variance / mean

    def where(tail):
        low, high = 0, mean + 100 * (math.sqrt(variance) + scale)
        for _ in range(80):
            middle = (low + high) / 2
            if chi_square_tail(2 * middle / scale, 2 * shape) > tail:
                low = middle
            else:
                high = middle
        return low

    return where(1 - probability / 2), where(probability / 2)


def binomial_band(draws, share, probability):
    """The least and the most hits that (draws) independent ones have, beyond
    which there are others with at most half the (probability) each."""
    chances = [
        math.exp(
            math.lgamma(draws + 1)
            - math.lgamma(hits + 1)
            - math.lgamma(draws - hits + 1)
            + hits * math.log(share)
            + (draws - hits) * math.log1p(-share)
        )
        for hits in range(draws + 1)
    ]

    def where(some):
        tail = 0
        for number, one in enumerate(some):
            tail += one
            if tail > probability / 2:
                return number
        return len(chances) - 1

    return where(chances), draws - where(reversed(chances))


def counts_band(mean, variance, whole, probability):
    """How many of (whole) may hit, where they have (mean) and (variance): at
    least and at most. Hits that depend on each other are worth fewer draws that
    do not, by which the variance is larger than the binomial one. Such draws
    have the longer tail below, a gamma distribution has it above; the wider
    bound counts."""
    if whole == 0:
        return 0, 0
    if mean > whole / 2:  # the tails are those of what does not hit
        few, many = counts_band(whole - mean, variance, whole, probability)
        return whole - many, whole - few
    mean = max(mean, 0.01)
    share = mean / whole
    worth = variance / (whole * share * (1 - share))
    draws = max(round(whole / worth), 1)
    few, many = binomial_band(draws, share, probability)
    less, more = gamma_band(mean, variance, probability)
    scale = whole / draws
    return (
        math.floor(min(few * scale, less)),
        min(math.ceil(max(many * scale, more)), whole),
    )


def poisson_tail(hits, mean):
    """The probability of (hits) or of what is further from the mean, to the
    same side."""
    if hits <= mean:
        return chi_square_tail(2 * mean, 2 * (hits + 1))
    return 1 - chi_square_tail(2 * mean, 2 * hits)
