# SPDX-License-Identifier: Apache-2.0
"""fit_test.py: growth that is made up is found to be what it is. Prints
nothing where all is well, else what is not and status 1."""

import math
import sys

sys.path.insert(0, "bench/growth")
import curves  # noqa: E402
import fit  # noqa: E402

X = [10**power for power in range(1, 7)]
MADE = {
    # what: (function, its exponent, how far off that may be)
    "constant": (lambda x: 700, 0, 0.01),
    "falling": (lambda x: 9000 / x + 100, 0, 0.01),
    "logarithm": (lambda x: 100 + 12 * math.log2(x), 0.1, 0.1),
    "root": (lambda x: 3 * math.sqrt(x), 0.5, 0.02),
    "linear": (lambda x: 5 * x, 1, 0.02),
    "linear, late": (lambda x: 1e5 + 5 * x, 1, 0.02),
    "linear, in steps": (lambda x: 2 ** math.ceil(math.log2(x)), 1, 0.04),
    "x log x": (lambda x: x * math.log2(x), 1.1, 0.05),
    "square": (lambda x: x**2, 2, 0.02),
    "square, late": (lambda x: 1e7 + x**2, 2, 0.02),
}
failed = []


def expect(good, what):
    if not good:
        failed.append(what)


def points(function):
    return [(x, function(x)) for x in X]


def test_exponents():
    for what, (function, exponent, off) in MADE.items():
        found = fit.exponent(points(function))
        expect(abs(found - exponent) <= off, f"{what}: {found:.2f}")


def test_bounds():
    """Each kind is kept by what keeps it and missed by what does not."""
    log = points(MADE["logarithm"][0])
    for made, kind, limit, kept in (
        (points(MADE["square, late"][0]), "power", 1.3, False),
        (points(MADE["linear, late"][0]), "power", 1.05, True),
        (log, "step", 12.01, True),
        (log, "step", 11.9, False),
        (points(MADE["linear"][0]), "step", 12, False),
        (points(MADE["linear"][0]), "each", 5, True),
        (points(MADE["linear"][0]), "each", 4.9, False),
        (points(MADE["constant"][0]), "flat", 1, True),
        (log, "flat", 1.5, False),
        ([(1, 0), (2, 3)], "flat", 100, False),
        ([(1, 0), (2, 1)], "most", 0, False),
        ([(1, 0), (2, 0)], "most", 0, True),
        ([(1, 99), (2, 98)], "least", 99, False),
        ([(1, 99), (2, 100)], "least", 99, True),
    ):
        expect(
            fit.judge(made, kind, limit)[1] == kept,
            f"{kind} {limit} of {made[:2]}...",
        )


def test_curves():
    """A square breaks a bound of every curve that is to have one."""
    square = points(MADE["square"][0])
    for curve in curves.CURVES:
        grows = [bound for bound in curve.bounds if bound[0] != "least"]
        expect(curve.bounds, f"{curve.name} has no bound")
        expect(
            not grows
            or any(not fit.judge(square, *bound)[1] for bound in grows),
            f"{curve.name} would not find a square",
        )
    names = [curve.name for curve in curves.CURVES]
    expect(len(names) == len(set(names)), "names are not unique")


if __name__ == "__main__":
    test_exponents()
    test_bounds()
    test_curves()
    print("\n".join(failed), end="\n" if failed else "")
    sys.exit(1 if failed else 0)
