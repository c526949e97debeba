# SPDX-License-Identifier: Apache-2.0
"""table.py RESULTS [short]: the curves as a table, each with its bounds.
Exit status 1 if a bound is missed or a curve is missing. With "short" only two
points were measured, which is too few to judge growth: no bound is checked."""

import json
import sys

import curves
import fit


EVEN = 1.5  # below this variation a curve is flat, and its exponent meaningless


def read(path):
    """{name: {width: [(x, y), ...]}}, x rising."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            one = json.loads(line)
            found.setdefault(one["name"], {}).setdefault(
                one["width"], []
            ).append((one["x"], one["value"]))
    for widths in found.values():
        for points in widths.values():
            points.sort()
    return found


def short_number(value):
    """About four digits: 0.03, 12.6, 1,234, 1.2 M."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:,.4g} M"
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.4g}"


def grows(points):
    """The exponent in words."""
    if fit.spread(points) < EVEN:
        return "even"
    return f"x^{fit.exponent(points):.2f}"


def verdicts(curve, widths):
    """[(bound's words, kept by all widths)]"""
    return [
        (
            fit.words(kind, limit),
            all(
                fit.judge(points, kind, limit)[1] for points in widths.values()
            ),
        )
        for kind, limit in curve.bounds
    ]


def row(curve, width, points):
    (first_x, first), (last_x, last) = points[0], points[-1]
    return (
        f"  {width:7} {short_number(first_x):>9} {short_number(first):>10}"
        f" {short_number(last_x):>9} {short_number(last):>10}"
        f"  {grows(points)}"
    )


def print_curve(curve, widths, judged):
    """Returns whether all bounds are kept."""
    noisy = ", of this host" if curve.noisy else ""
    print(f"{curve.words} ({curve.unit}{noisy}), by {curve.x}")
    for width, points in widths.items():
        print(row(curve, width, points))
    if not judged:
        return True
    found = verdicts(curve, widths)
    for words, kept in found:
        print(f"  {words}: {'reached' if kept else 'NOT REACHED'}")
    return all(kept for _, kept in found)


def main(path, form="full"):
    found = read(path)
    missing = [curve.name for curve in curves.CURVES if curve.name not in found]
    kept = True
    for title, group in curves.GROUPS:
        print(f"\n{title}: from x, y  to x, y  fitted exponent\n")
        for curve in group:
            if curve.name in found:
                kept &= print_curve(curve, found[curve.name], form == "full")
    if missing:
        print("\nMISSING: " + ", ".join(missing))
    return 0 if kept and not missing else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
