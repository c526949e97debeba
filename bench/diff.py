# SPDX-License-Identifier: Apache-2.0
"""diff.py [--worse=PERCENT] [--noise=PERCENT] KEPT | A B: compares two results.

A and B are results of `make bench`, or the two latest of a folder. The goal of
a figure, in B or else in A, says which direction is better. Exact figures are
compared digit by digit. Noisy ones differ if their spreads do not overlap; one
without a spread gets --noise percent (10) on either side. Points on curves are
compared too.

Exit status: 3 if an exact figure became worse by more than --worse percent (1),
1 if something could not be read or compared, otherwise 0.
"""

import argparse
import glob
import os
import sys

import figures

WORSE, BETTER, CHANGED, SAME = "worse", "better", "changed", "same"


def arguments():
    parser = argparse.ArgumentParser(prog="bench-diff")
    parser.add_argument("--worse", type=float, default=1.0, metavar="PERCENT")
    parser.add_argument("--noise", type=float, default=10.0, metavar="PERCENT")
    parser.add_argument("files", nargs="+", metavar="KEPT | A B")
    return parser.parse_args()


def two_files(given):
    """The paths of A and B; for a folder, the two latest in it."""
    if len(given) == 2 and not os.path.isdir(given[1]):
        return given
    if len(given) > 2 or not os.path.isdir(given[0]):
        raise figures.Bad("give two files, or a folder of kept results")
    kept = sorted(glob.glob(os.path.join(given[0], "*.jsonl")))
    if len(kept) < 2:
        raise figures.Bad(
            f"{given[0]}: two results are needed, and "
            f"{len(kept)} kept; `make bench` makes one"
        )
    return kept[-2:]


def percent(before, after):
    """The change in percent of (before); 100 if that was 0."""
    if before == 0:
        return 0.0 if after == 0 else 100.0
    return 100 * (after - before) / abs(before)


def ends(figure, noise):
    """The interval of a noisy figure."""
    reach = abs(figure["value"]) * noise / 100
    return (
        figure.get("low", figure["value"] - reach),
        figure.get("high", figure["value"] + reach),
    )


def differ(a, b, noise):
    if b.get("kind", a.get("kind")) != "noisy":
        return a["value"] != b["value"]
    (low_a, high_a), (low_b, high_b) = ends(a, noise), ends(b, noise)
    return high_a < low_b or high_b < low_a


def judge(a, b, noise):
    """Whether (b) is worse than (a), better, or only different."""
    goal = b.get("goal") or a.get("goal") or "-"
    direction, _ = figures.bound(goal, b["name"])
    if not differ(a, b, noise):
        return SAME
    if direction == "-" or a["value"] == b["value"]:
        return CHANGED
    return (
        WORSE if (b["value"] > a["value"]) == (direction == "less") else BETTER
    )


def label(key):
    _, width, name, x = key
    return f"{width} {name}" + ("" if x is None else f" at {x:g}")


def show(title, rows):
    if not rows:
        return
    print(f"\n{title}")
    for key, a, b in rows:
        kind = b.get("kind", "exact")
        print(
            f"  {label(key):<44}{a['value']:>12g}{b['value']:>12g}"
            f"{percent(a['value'], b['value']):>+9.2f} %"
            + ("" if kind == "exact" else "  ~")
        )


def show_heads(paths, heads):
    for name, path, head in zip("AB", paths, heads):
        print(
            f"{name}  {head.get('commit', '?')} of {head.get('date', '?')}, "
            f"{path}"
        )
    for what in ("qemu", "compiler", "cpu"):
        a, b = (head.get(what) for head in heads)
        if a != b:
            print(f"another {what}: {a}; {b}")


def show_only(name, those, others):
    """Keys of parts in both results that one of them lacks."""
    parts = {figure.get("part") for figure in others.values()}
    only = [
        key
        for key in those
        if key not in others and those[key].get("part") in parts
    ]
    if only:
        print(f"\nonly in {name}")
        for key in only:
            print(f"  {label(key)}")


def compare(a, b, noise):
    """Lists of (key, of A, of B) for each verdict."""
    found = {verdict: [] for verdict in (WORSE, BETTER, CHANGED, SAME)}
    for key in a:
        if key in b:
            found[judge(a[key], b[key], noise)].append((key, a[key], b[key]))
    return found


def main():
    options = arguments()
    paths = two_files(options.files)
    (head_a, a), (head_b, b) = (figures.read(path) for path in paths)
    if not a.keys() & b.keys():
        raise figures.Bad(
            f"{paths[0]} and {paths[1]} have no figure in "
            "common: other widths, or other parts"
        )
    show_heads(paths, (head_a, head_b))
    found = compare(a, b, options.noise)
    for verdict in (WORSE, BETTER, CHANGED):
        show(verdict, found[verdict])
    show_only("A", a, b)
    show_only("B", b, a)
    exact = [row for row in found[SAME] if row[2].get("kind") != "noisy"]
    print(
        f"\nthe same: {len(exact)} to the digit, "
        f"{len(found[SAME]) - len(exact)} noisy ones within their spread"
    )
    bad = [
        row
        for row in found[WORSE]
        if row[2].get("kind") != "noisy"
        and abs(percent(row[1]["value"], row[2]["value"])) > options.worse
    ]
    if bad:
        print(
            f"{len(bad)} exact figures are worse by more than "
            f"{options.worse:g} %"
        )
    return 3 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except figures.Bad as error:
        print(f"bench-diff: {error}", file=sys.stderr)
        sys.exit(1)
