# SPDX-License-Identifier: Apache-2.0
"""The curves of bench/growth in their short form, two points of each, on both
widths; and that growth which is made up is detected."""

import json
import sys

from harness.suite import check, run

TABLE = "bench/growth/table.py"


def check_square(s, results, name):
    """The table must detect a square in place of the curve (name)."""
    lines = [
        line
        for line in results.read_text(encoding="utf-8").splitlines()
        if json.loads(line).get("name") != name
    ]
    for x in (10, 100, 1000, 10000):
        point = {"width": "i386", "name": name, "x": x, "value": x * x}
        lines.append(json.dumps(point))
    broken = s.work / "broken.jsonl"
    broken.write_text("\n".join(lines) + "\n", encoding="utf-8")
    shown = run("python3", TABLE, broken, status=1).lines()
    at = next(i for i, line in enumerate(shown) if "x^2.00" in line)
    check.contains("\n".join(shown[at : at + 4]), "NOT REACHED")


def check_page():
    """A curve that grows is plotted with its fit; one that does not is a
    sentence; a bound that is exceeded is marked."""
    sys.path.insert(0, "bench/growth")
    import page  # pylint: disable=import-outside-toplevel
    from curves import CURVES  # pylint: disable=import-outside-toplevel

    flat = {"i386": [(10, 40), (100, 41), (1000, 42)]}
    square = {"i386": [(x, 3 * x * x) for x in (10, 100, 1000, 10000)]}
    grows = ("stacks_heap", "rate_drain_share")
    shown = page.body(
        {c.name: square if c.name in grows else flat for c in CURVES}
    )
    check.same(shown.count("<figure>"), len(grows))
    check.same(shown.count("does not grow from 10 to 1,000"), len(CURVES) - 2)
    check.same(shown.count('class="fit i386"'), len(grows))
    check.has(shown, "exponent 2.00")
    check.has(shown, "exponent at most 1.05: <b class=missed>exceeded")
    check.has(shown, "at most 2 times the smallest: kept")
    for word in ("Fit", "Exponent", "Bound"):
        check.has(shown, f"<b>{word}[.]</b>")


def suite(s):
    results = s.work / "bench/growth.jsonl"
    for part in ("i386", "x86_64", "host"):
        link = s.work / part
        link.unlink(missing_ok=True)
        link.symlink_to(s.build / part)
    with s.test("curves that are made up grow as they were made"):
        run("python3", "tests/growth/fit_test.py")
    with s.test("two points of each curve are measured"):
        run("bench/growth/run.sh", s.work, "short", by_lines=True)
    with s.test("no curve is missing"):
        done = run("python3", TABLE, results, "short", status=None)
        check.lacks(done.text, "MISSING")
    with s.test("a square is detected in the drain"):
        check_square(s, results, "quiet_drain_known")
    with s.test("and in the heap"):
        check_square(s, results, "stacks_heap")
    with s.test("the page plots what grows, and says what does not"):
        check_page()
