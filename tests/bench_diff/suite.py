# SPDX-License-Identifier: Apache-2.0
"""The bench's table, and what compares two of them, on made-up figures: what is
missing, missed or worse must be reported, and unusable files must be named."""

import json
import re
import sys
from pathlib import Path

from harness.suite import check, run

LESS = {"goal": "<= 40", "kind": "exact"}
MORE = {"goal": "more", "kind": "exact"}
NOISY = {"goal": ">= 1", "kind": "noisy", "low": 1.8, "high": 2.2}
POINT = {"goal": "less", "kind": "exact", "x": 64}
ROWS = """\
[one exact i386] instructions
sample | <= 40 | n | a sample
walk | less | n | a walk
[two noisy i386] times ours
times | >= 1 | times | as fast
size exact | <= 8 | bytes | as large
"""


def figure(name, value, **rest):
    """One of width i386."""
    return json.dumps({"width": "i386", "name": name, "value": value, **rest})


def outcome(status, pattern, *words, env=None):
    """How (words) end, and what they print, as one line without runs of
    spaces."""
    done = run(*words, status=status, env=env)
    line = re.sub(r" +", " ", done.text.replace("\n", " "))
    check.lacks(line, "Traceback")
    check.has(line, pattern)


class Files:
    """Files of figures in the suite's folder."""

    def __init__(self, work):
        self.work = work

    def path(self, name):
        return self.work / f"{name}.jsonl"

    def write(self, name, *lines):
        self.path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def version(self, name, sample=30, ratio=5, times=None, walk=900, **more):
        """Six figures, as a run of the bench may have them."""
        head = {"commit": name, "qemu": more.get("qemu", "7")}
        plain = [figure("plain", more.get("plain", 1))]
        self.write(
            name,
            json.dumps({"head": head}),
            figure("sample", sample, **LESS),
            figure("ratio", ratio, **MORE),
            times or figure("times", 2, **NOISY),
            figure("walk", walk, **POINT),
            *(plain if more.get("plain") != "left out" else []),
            figure(
                "unspread", more.get("unspread", 50), goal="less", kind="noisy"
            ),
        )

    def differ(self, status, pattern, a, b, *options):
        outcome(
            status,
            pattern,
            *("python3", "bench/diff.py", *options, self.path(a), self.path(b)),
        )


# what it shows, the second version, status, pattern, options
COMPARED = (
    (
        "an exact figure that became 2 % worse is an error",
        {"sample": 30.6},
        (3, r" worse i386 sample 30 30.6 \+2.00 %"),
    ),
    (
        "and is none where 5 % are allowed",
        {"sample": 30.6},
        (0, r" worse i386 sample 30 30.6"),
        "--worse=5",
    ),
    (
        "a digit is seen, and allowed",
        {"sample": 30.01},
        (0, r" worse i386 sample 30 30.01 \+0.03 %"),
    ),
    (
        "where more is better, less is worse",
        {"ratio": 4},
        (3, r" worse i386 ratio 5 4 -20.00 %"),
    ),
    (
        "a point on a curve became worse",
        {"walk": 950},
        (3, r" worse i386 walk at 64 900 950"),
    ),
    (
        "where neither way is better it is a change",
        {"plain": 2},
        (0, r" changed i386 plain 1 2 \+100.00 %"),
    ),
    (
        "noisy figures whose spreads overlap are the same",
        {"times": figure("times", 1.7, **{**NOISY, "low": 1.5, "high": 1.9})},
        (0, "the same: 4 to the digit, 2 noisy"),
    ),
    (
        "noisy figures apart are reported, but no error",
        {"times": figure("times", 1.7, **{**NOISY, "low": 1.6, "high": 1.75})},
        (0, r" worse i386 times 2 1.7 -15.00 % ~"),
    ),
    (
        "without a spread, 10 % to either side",
        {"unspread": 58},
        (0, "2 noisy"),
    ),
    (
        "or as many as are asked for",
        {"unspread": 58},
        (0, " worse i386 unspread"),
        "--noise=5",
    ),
    (
        "what only one has, and another QEMU, are reported",
        {"plain": "left out", "qemu": "8"},
        (0, "another qemu: 7; 8 .*only in A i386 plain "),
    ),
)


def comparisons(s, files):
    files.version("old")
    with s.test("a file is the same as itself"):
        files.differ(0, "the same: 4 to the digit, 2 noisy", "old", "old")
    for what, changed, (status, pattern), *options in COMPARED:
        with s.test(what):
            files.version("new", **changed)
            files.differ(status, pattern, "old", "new", *options)
    with s.test("the other way round it is better"):
        files.version("new", sample=30.6)
        pattern = r" better i386 sample 30.6 30 -1.96 %"
        files.differ(0, pattern, "new", "old")


def unusable(s, files):
    sample = figure("sample", 30, **LESS)
    for what, name, lines, pattern in (
        (
            "a broken line",
            "broken",
            [sample, '{"width":"i386",'],
            "bench-diff: .*/broken.jsonl:2: not a line of JSON",
        ),
        (
            "a line that is no figure",
            "words",
            ['"sample"'],
            "words.jsonl:1: no figure",
        ),
        (
            "a value that is no number",
            "nan",
            [sample.replace("30", "NaN")],
            "nan.jsonl:1: sample: value is not a number",
        ),
        (
            "an unknown goal",
            "goal",
            [figure("sample", 1, goal="soon")],
            "goal.jsonl:1: 'soon' is not a goal",
        ),
        (
            "a figure given twice",
            "twice",
            [figure("sample", 1), figure("sample", 2)],
            "twice.jsonl:2: sample: a second time",
        ),
    ):
        with s.test(f"{what} is named"):
            files.write(name, *lines)
            files.differ(1, pattern, "old", name)
    with s.test("a missing file is named"):
        files.differ(1, "none.jsonl: No such file", "old", "none")
    with s.test("two widths cannot be compared"):
        text = files.path("old").read_text(encoding="utf-8")
        files.write("wide", text.strip().replace("i386", "x86_64"))
        files.differ(1, "no figure in common: other widths", "old", "wide")
    with s.test("a folder must have kept two"):
        (s.work / "parts/kept").mkdir(parents=True, exist_ok=True)
        pattern = "two results are needed, and 0 kept"
        words = ("python3", "bench/diff.py", s.work / "parts/kept")
        outcome(1, pattern, *words)


class Table:
    """The table of parts whose figures are made up."""

    def __init__(self, work):
        self.parts = work / "parts"
        self.results = self.parts / "results.jsonl"
        self.env = {"ROWS": work / "rows"}
        (work / "rows").write_text(ROWS, encoding="utf-8")
        self.files = Files(self.parts)

    def shows(self, status, pattern, *parts):
        words = ("python3", "bench/gather.py", self.parts, *parts)
        run(*words, env=self.env)
        words = ("python3", "bench/table.py", self.results)
        outcome(status, pattern, *words, env=self.env)


def tables(s):
    table = Table(s.work)
    one = figure("sample", 34), figure("walk", 1900.5), figure("rest", 1)
    table.files.write("one", *one)
    table.files.write(
        "two",
        figure("times", 1.5),
        figure("times_least", 1.25),
        figure("times_most", 1.75),
        figure("size", 8),
    )
    with s.test("all rows are reached"):
        pattern = (
            "a sample 34 <= 40 reached a walk 1,9.* - .*as fast 1.50 "
            "1.25..1.75 >= 1 reached as large 8 exact <= 8 reached"
        )
        table.shows(0, pattern, "one", "two")
    with s.test("the two ends of a spread become its own"):
        check.contains(
            table.results.read_text(encoding="utf-8"),
            '"name": "times", "value": 1.5, "low": 1.25, "high": 1.75}',
        )
    with s.test("the results are kept"):
        kept = list((table.parts / "kept").iterdir())
        check.same(len(kept), 1)
        words = ("python3", "bench/diff.py", table.results, kept[0])
        outcome(0, "the same: 4 to the digit, 1 noisy", *words, env=table.env)
    with s.test("a part that was not chosen is not shown"):
        table.shows(0, r"a walk 1,9[0-9]* - $", "one")
    with s.test("a goal is missed, and a row is missing"):
        table.files.write("one", figure("sample", 41))
        pattern = r"a sample 41 <= 40 NOT REACHED a walk \? - MISSING"
        table.shows(1, pattern, "one")
    with s.test("a part without figures is missing"):
        table.files.path("two").unlink()
        table.shows(1, r"as fast \? >= 1 MISSING as large", "two")
    with s.test("a line may bring its own words and goal"):
        grows = {"goal": "<= 2", "words": "grows by", "kind": "exact"}
        fit = figure("fit", 2.5, **grows)
        table.files.write("two", figure("times", 2), figure("size", 8), fit)
        table.shows(1, "grows by 2.50 exact <= 2 NOT REACHED", "two")
    with s.test("a full table is published, and one of some parts is not"):
        page = s.work / "page.md"
        empty = "<!-- figures: made by make bench -->\n<!-- end of figures -->"
        for parts, published in ((["one"], False), (["one", "two"], True)):
            page.write_text(empty, encoding="utf-8")
            run(
                "python3", "bench/gather.py", table.parts, *parts, env=table.env
            )
            words = ("python3", "bench/table.py", table.results, page)
            run(*words, status=1 if published else 2, env=table.env)
            text = page.read_text(encoding="utf-8")
            check.same("    a sample" in text, published)


def perf_is_counted():
    """bench/perf: what perf adds to a sample is the long run less the short
    one, without the work and without what starts and ends a run."""
    sys.path.insert(0, "bench/perf")
    import counted  # pylint: disable=import-outside-toplevel

    runs, marks, at = [], [], [7, 7, 7]
    for rounds, kernel, samples in ((10, 100, 5), (40, 400, 20)):
        for what in ("none", "flat", "stack", "default", "report"):
            # an interrupt of 30, a process of 2, a start of 5000 and 3000
            took = [kernel, 1000 * rounds, 0]
            if what != "none":
                took = [5000 + kernel + 30 * samples, took[1]]
                took.append(3000 + 2 * samples)
            marks.append(" ".join(map(str, at)))
            at = [a + b for a, b in zip(at, took)]
            marks.append(" ".join(map(str, at)))
            at[0] += 99  # between two runs
            runs.append((f"{what} {rounds}", []))
        for file in ("flat", "stack", "default", "user"):
            runs.append((f"samples {file} {rounds}", [f"samples {samples}"]))
    rows = counted.rows_of(runs, marks)
    for name in ("flat", "stack_11", "default_11"):
        check.same(rows[f"perf_{name}_user"], (2, None))
        check.same(rows[f"perf_{name}_whole"], (32, None))
    check.same(rows["perf_report_11"], ((300 + 32 * 15) / 15, None))
    try:
        counted.rows_of(runs, marks[:-1])
    except ValueError:
        return
    raise AssertionError("a missing mark is not noticed")


def perf_is_counted_on_cpus():
    """The same of all CPUs, which perf must have sampled."""
    sys.path.insert(0, "bench/perf")
    import counted_cpus  # pylint: disable=import-outside-toplevel

    lines = ["cpus 2"]
    runs, marks, at = [], [], [7, 7, 7]
    for rounds, samples in ((10, 5), (40, 20)):
        for what, each in (("none", 0), ("flat", 30), ("stack", 40)):
            took = [10 * rounds, 1000 * rounds, 0]
            if what != "none":
                took = [5000 + took[0] + each * samples, took[1], 3000]
            marks.append(" ".join(map(str, at)))
            at = [a + b for a, b in zip(at, took)]
            marks.append(" ".join(map(str, at)))
            runs.append((f"{what} {rounds}", []))
        for file in ("flat", "stack"):
            runs.append((f"samples {file} {rounds}", [f"samples {samples}"]))
    both = ("sampled", ["cpu [000] 12", "cpu [001] 8"])
    rows = counted_cpus.rows_of([*runs, both], marks, lines)
    check.same(rows["perf_cpus_flat_whole"], (30, None))
    check.same(rows["perf_cpus_stack_11_whole"], (40, None))
    try:
        counted_cpus.rows_of([*runs, ("sampled", both[1][:1])], marks, lines)
    except ValueError:
        return
    raise AssertionError("a CPU that was not sampled is not noticed")


def lines_declared(rows):
    """Lines of the whole table: what is noisy has one for each width."""
    lines = each = 0
    for line in rows.splitlines():
        if head := re.match(r"\[[a-z_]+ (noisy|exact) ([^\]]*)\]", line):
            each = len(head[2].split()) if head[1] == "noisy" else 1
        elif not line.startswith("#") and line.count(" | ") >= 3:
            lines += each
    return lines


def suite(s):
    s.holds("all of perf is counted from marks", perf_is_counted)
    s.holds("and on all CPUs", perf_is_counted_on_cpus)
    for old in (*s.work.glob("*.jsonl"), *s.work.glob("parts/**/*.jsonl")):
        old.unlink()
    files = Files(s.work)
    comparisons(s, files)
    unusable(s, files)
    tables(s)
    with s.test("a part that does not exist is refused"):
        pattern = "no part 'cots' in: cost"
        words = ("bench/run.sh", s.work / "parts")
        outcome(2, pattern, *words, env={"BENCH": "names cots"})
    with s.test("all rows of the real table fit into 80 columns"):
        rows = Path("bench/rows.txt").read_text(encoding="utf-8")
        parts = sorted(set(re.findall(r"^\[([a-z_]*) ", rows, re.M)))
        files.write("all", json.dumps({"head": {"parts": parts}}))
        words = ("python3", "bench/table.py", files.path("all"))
        shown = run(*words, status=1).text
        check.same(shown.count("MISSING"), lines_declared(rows))
        check.lacks(shown, "^.{81}")
