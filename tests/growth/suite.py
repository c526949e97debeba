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


def suite(s):
    results = s.work / "bench/growth.jsonl"
    for part in ("i386", "x86_64", "host"):
        link = s.work / part
        link.unlink(missing_ok=True)
        link.symlink_to(s.build / part)
    with s.test("curves that are made up grow as they were made"):
        run("python3", "tests/growth/fit_test.py")
    with s.test("two points of each curve are measured"):
        run("bench/growth/run.sh", s.work, "short")
    with s.test("no curve is missing"):
        done = run("python3", TABLE, results, "short", status=None)
        check.lacks(done.text, "MISSING")
    with s.test("a square is detected in the drain"):
        check_square(s, results, "quiet_drain_known")
    with s.test("and in the heap"):
        check_square(s, results, "stacks_heap")
    with s.test("the page has a plot for each curve"):
        sys.path.insert(0, "bench/growth")
        from curves import CURVES  # pylint: disable=import-outside-toplevel

        page = (s.work / "bench/growth.html").read_text(encoding="utf-8")
        check.same(page.count("<figure>"), len(CURVES))
