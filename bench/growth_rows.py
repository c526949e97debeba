# SPDX-License-Identifier: Apache-2.0
"""growth_rows.py JSONL: the bounds of the curves, as figures of the bench.

Rewrites JSONL: each point of a curve gets its kind and the better direction.
After the points a figure CURVE_BOUND is added for each bound of each curve: the
measured value, with the bound as its goal. The table shows how many bounds of a
group are missed, and lists them; a curve without points counts as missed.
"""

import json
import os
import re
import sys

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "growth")
)

import curves  # noqa: E402
import fit  # noqa: E402


def read(path):
    """The lines that are points of curves."""
    with open(path, encoding="utf-8") as lines:
        points = [json.loads(line) for line in lines]
    return [point for point in points if "x" in point]


def by_width(points, name):
    """{width: [(x, y), ...]}, x rising."""
    found = {}
    for point in points:
        if point["name"] == name:
            found.setdefault(point["width"], []).append(
                (point["x"], point["value"])
            )
    return {width: sorted(places) for width, places in found.items()}


def kind_of(curve):
    return "noisy" if curve.noisy else "exact"


def better(curve):
    return (
        "more" if any(bound[0] == "least" for bound in curve.bounds) else "less"
    )


def with_curve(point, known):
    """(point) with the properties of its curve."""
    curve = known.get(point["name"])
    if curve is None:
        return point
    return {
        **point,
        "unit": curve.unit,
        "goal": better(curve),
        "kind": kind_of(curve),
    }


def bound_lines(curve, width, places):
    """A line for each bound; a missed one has words for the table."""
    for bound, limit in curve.bounds:
        measured, kept = fit.judge(places, bound, limit)
        line = {
            "width": width,
            "name": f"{curve.name}_{bound}",
            "value": min(round(measured, 4), 1e9),
            "unit": bound,
            "goal": f"{'>=' if bound == 'least' else '<='} {limit:g}",
            "kind": kind_of(curve),
        }
        if not kept:
            line["words"] = f"  {curve.name}: {bound}"
        yield line, kept


def group_lines(title, group, points):
    """The number of missed bounds of a group, then its bounds."""
    lines, missed, bounds = [], {}, {}
    for curve in group:
        found = by_width(points, curve.name)
        for width in found or ["host"]:
            judged = (
                list(bound_lines(curve, width, found[width]))
                if found
                else [(None, False)]
            )
            lines += [line for line, _ in judged if line]
            bounds[width] = bounds.get(width, 0) + len(judged)
            missed[width] = missed.get(width, 0) + sum(
                not kept for _, kept in judged
            )
    name = "growth_missed_" + re.sub("[^a-z]+", "_", title.lower())
    for width, count in missed.items():
        yield {
            "width": width,
            "name": name,
            "value": count,
            "unit": "bounds",
            "goal": "<= 0",
            "kind": "exact",
            "words": f"{title.split(',')[0]}: missed of {bounds[width]}",
        }
    yield from lines


def total_lines(lines):
    """The total number of missed bounds per width."""
    total = {}
    for line in lines:
        if line["name"].startswith("growth_missed_"):
            total[line["width"]] = total.get(line["width"], 0) + line["value"]
    for width, count in total.items():
        yield {"width": width, "name": "growth_missed", "value": count}


def main(path):
    known = {curve.name: curve for curve in curves.CURVES}
    points = read(path)
    lines = [with_curve(point, known) for point in points]
    for title, group in curves.GROUPS:
        lines += group_lines(title, group, points)
    lines += list(total_lines(lines))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    main(sys.argv[1])
