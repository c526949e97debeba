# SPDX-License-Identifier: Apache-2.0
"""How a curve grows: its exponent, and whether it keeps a bound.

A curve is a list of (x, y) with increasing x > 0 and y >= 0. Bounds:

    power P   y = a + b x^p, fitted, has p <= P
    step S    y grows by at most S with each doubling of x
    each E    y grows by at most E per unit of x, over the whole curve
    flat F    the largest y is at most F times the smallest
    most M    all y are at most M
    least M   all y are at least M
"""

import math

EVEN = 1.02  # below this variation a curve is flat
POWERS = [step / 100 for step in range(1, 401)]


def line_through(points, power):
    """The (error, a, b) of the best a + b x^power, neither below 0. Errors
    are relative: a curve over five decades counts in all of them."""
    weights = [1 / y**2 for _, y in points]
    grown = [x**power for x, _ in points]
    whole = sum(weights)
    mean_grown = sum(w * g for w, g in zip(weights, grown)) / whole
    mean_y = sum(w * y for w, (_, y) in zip(weights, points)) / whole
    spread = sum(w * (g - mean_grown) ** 2 for w, g in zip(weights, grown))
    b = (
        sum(
            w * (g - mean_grown) * (y - mean_y)
            for w, g, (_, y) in zip(weights, grown, points)
        )
        / spread
        if spread
        else 0
    )
    a = mean_y - b * mean_grown
    if a < 0:
        a = 0
        b = sum(
            w * g * y for w, g, (_, y) in zip(weights, grown, points)
        ) / sum(w * g * g for w, g in zip(weights, grown))
    if b < 0:
        a, b = mean_y, 0
    error = sum(
        w * (a + b * g - y) ** 2 for w, g, (_, y) in zip(weights, grown, points)
    )
    return error, a, b


def exponent(points):
    """The exponent p of the best a + b x^p; 0 if y does not grow."""
    points = [(x, y) for x, y in points if y > 0]
    if len(points) < 2 or points[-1][1] <= EVEN * points[0][1]:
        return 0.0
    if len(points) == 2:
        (x, y), (next_x, next_y) = points
        return math.log(next_y / y) / math.log(next_x / x)
    fits = [(line_through(points, power)[0], power) for power in POWERS]
    return min(fits)[1]


def steepest(points):
    """The largest growth of y per doubling of x, between neighbours."""
    rises = [
        (next_y - y) / math.log2(next_x / x)
        for (x, y), (next_x, next_y) in zip(points, points[1:])
    ]
    return max(rises, default=0.0)


def each(points):
    """Growth of y per unit of x, over the whole curve; rounded to hundredths,
    because the kernel's own ticks are unevenly distributed."""
    (x, y), (last_x, last_y) = points[0], points[-1]
    return round((last_y - y) / (last_x - x), 2) if last_x > x else 0.0


def spread(points):
    """The largest y as a multiple of the smallest."""
    values = [y for _, y in points]
    if max(values) == min(values):
        return 1.0
    return max(values) / min(values) if min(values) > 0 else math.inf


MEASURES = {
    "power": (exponent, "x^{:g}"),
    "step": (steepest, "{:g} a doubling"),
    "each": (each, "{:g} for each"),
    "flat": (spread, "{:g} times the least"),
    "most": (lambda points: max(y for _, y in points), "{:,g}"),
    "least": (lambda points: min(y for _, y in points), "{:,g}"),
}


def judge(points, kind, limit):
    """(measured, kept) of one bound."""
    measured = MEASURES[kind][0](points)
    kept = measured >= limit if kind == "least" else measured <= limit
    return measured, kept


def words(kind, limit):
    form = MEASURES[kind][1].format(limit)
    return ("at least " if kind == "least" else "at most ") + form
