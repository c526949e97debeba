# SPDX-License-Identifier: Apache-2.0
"""table.py FOLDER JSONL: the measurements of run.sh, as lines and as a table.

FOLDER has linux.log, counted.log and cpus.log of the Linux guest,
counted.marks and cpus.marks of the plugin, WIDTH.log and WIDTH.off.log of our
guests, and size, the output of `size` for the profiler's objects. JSONL gets
one object per line: width, name, value and unit; optionally the goal and its
sense (least or most); spread, the largest minus the smallest of the
repetitions.

Exit status 1 if a goal is missed, a row is missing, or the two guests did not
measure the same: their call chains must have the same length.
"""

import json
import math
import os
import re
import statistics
import sys

import counted
import counted_cpus
import irqs_off
from rows import ROWS, STEP_LEAF, WHOLE

Z95 = 1.959963985
WEIGHTS = {"leaf_a": 4, "leaf_b": 3, "leaf_c": 2, "leaf_d": 1}
FRAMES = 11  # of a chain, in both guests
STEP_UNITS = 24900  # of 4 instructions, and for each of ten weights
STEPS = 10  # runs of ours in step: five places, without and with
MEMORY_GIVEN = 40 * 1024  # PROF_MEMORY_DEFAULT


class Bad(Exception):
    """The measurement is not valid."""


def read(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return None
    with open(path, encoding="utf-8", errors="replace") as lines:
        return [line.rstrip("\r\n") for line in lines]


def read_leaves():
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "../irqs_off/leaves.h")
    with open(path, encoding="utf-8") as header:
        return header.read()


def middle(values):
    """(median, largest minus smallest)"""
    return statistics.median(values), max(values) - min(values)


def worst_error(counts):
    """The leaves' shares of (counts) against 4:3:2:1, the largest error as a
    multiple of its own binomial 95 % interval."""
    whole = sum(counts.values())
    errors = []
    for leaf, weight in WEIGHTS.items():
        true = weight / 10
        reach = Z95 * math.sqrt(true * (1 - true) / whole)
        errors.append(abs(counts.get(leaf, 0) / whole - true) / reach)
    return max(errors)


# ---- the Linux guest


def runs_of(lines):
    """[(name, [line])] of the lines between "run" and "end"."""
    runs = []
    inside = None
    for line in lines:
        if line.startswith("run "):
            inside = (line[4:].strip(), [])
        elif line.startswith("end ") and inside is not None:
            if line != "end 0":
                raise Bad(f"Linux: {inside[0]}: status {line[4:]}")
            runs.append(inside)
            inside = None
        elif inside is not None:
            inside[1].append(line)
    if "done" not in lines:
        raise Bad("Linux: the guest did not come to its end")
    return runs


def shares_of(body):
    """{symbol: samples} of perf report's lines."""
    found = {}
    for line in body:
        match = re.match(r"share\s+[\d.]+%\s+(\d+)\s+\[.\]\s+(\S+)", line)
        if match:
            found[match[2]] = found.get(match[2], 0) + int(match[1])
    if not found:
        raise Bad("Linux: perf report shows nothing")
    return found


def check_depth(runs):
    """Nearly all chains of perf are as long as ours."""
    body = next(body for name, body in runs if name == "depths")
    depths = {int(line.split()[1]): int(line.split()[2]) for line in body}
    if depths.get(FRAMES, 0) < 0.98 * sum(depths.values()):
        raise Bad(f"Linux: chains of other than {FRAMES} frames: {depths}")


def linux(lines):
    """{name: (value, spread or None)}"""
    runs = runs_of(lines)
    work = {}
    for name, body in runs:
        for line in body:
            if line.startswith("work "):
                work.setdefault(name, []).append(
                    [int(word) for word in line.split()[1:4]]
                )
    check_depth(runs)
    alone = statistics.median(run[0] for run in work["none"])
    ticks = statistics.median(run[1] for run in work["none"])
    rows = {}
    for run, name in (
        ("bare", "perf_bare"),
        ("flat", "perf_flat"),
        ("stack", "perf_stack_11"),
    ):
        # the kernel's own ticks come with and without perf
        rows[name] = middle(
            [(taken - alone) / (came - ticks) for taken, came, _ in work[run]]
        )
    shares = dict(runs)
    flat = shares_of(shares["shares"])
    rows["perf_accuracy"] = (
        worst_error({leaf: flat.get(leaf, 0) for leaf in WEIGHTS}),
        None,
    )
    in_step = []
    for name, body in runs:
        if name.startswith("step_shares"):
            found = shares_of(body)
            in_step.append(100 * found.get(STEP_LEAF, 0) / sum(found.values()))
    rows["perf_lock_step"] = max(in_step), None
    memory = re.search(r"memory HWM\s+(\d+) kB", "\n".join(shares["memory"]))
    rows["perf_memory"] = int(memory[1]) * 1024, None
    return rows


# ---- ours


def steps_of(lines):
    """[(jitter, samples, elapsed, rounds, {leaf: cycles})]"""
    steps = []
    for line in lines:
        words = line.split()
        if line.startswith("step "):
            steps.append(
                (int(words[1]), int(words[3]), int(words[4]), int(words[5]), {})
            )
        elif line.startswith("step_share "):
            steps[-1][4][words[1]] = int(words[3])
    return steps


def truth_of(leaf, rounds, elapsed):
    """A leaf's share of (elapsed) instructions, with that many rounds."""
    return 4 * STEP_UNITS * WEIGHTS[leaf] * rounds / elapsed


def lock_step(lines):
    steps = steps_of(lines)
    if len(steps) != STEPS or set(steps[-1][4]) != set(WEIGHTS):
        raise Bad("our guest did not come to its end")
    fixed = [step for step in steps if step[0] == 0]
    jittered = [step for step in steps if step[0] != 0]
    inside = 0
    for _, samples, elapsed, rounds, cycles in jittered:
        for leaf in WEIGHTS:
            true = truth_of(leaf, rounds, elapsed)
            reach = Z95 * math.sqrt(true * (1 - true) / samples)
            inside += abs(cycles[leaf] / elapsed - true) <= reach
    samples = sum(step[1] for step in jittered)
    elapsed = sum(step[2] for step in jittered)
    share = sum(step[4][STEP_LEAF] for step in jittered) / elapsed
    true = truth_of(STEP_LEAF, sum(step[3] for step in jittered), elapsed)
    reach = Z95 * math.sqrt(true * (1 - true) / samples)
    return {
        "ours_lock_step_fixed": (
            100
            * max(
                cycles[STEP_LEAF] / whole for _, _, whole, _, cycles in fixed
            ),
            None,
        ),
        "perf_lock_step_true": (100 * true, None),
        "ours_lock_step": (100 * share, None),
        "ours_lock_step_interval": (100 * reach, None),
        "ours_lock_step_error": (abs(share - true) / reach, None),
        "ours_lock_step_inside": (inside, None),
    }


def ours(lines, width):
    values = {}
    leaves = {}
    for line in lines:
        if line.startswith("perf: "):
            raise Bad(f"{width}: {line[6:]}")
        words = line.split()
        if line.startswith("bench "):
            values.setdefault(words[1], []).append(float(words[2]))
        elif line.startswith("share "):
            leaves[words[1]] = int(words[2])
    if values.get("frames") != [FRAMES] or values["frames_stopped"] != [0]:
        raise Bad(
            f'{width}: chains of {values.get("frames")} frames, '
            f'{values.get("frames_stopped")} cut short'
        )
    rows = {
        "ours_flat": middle(values["flat"]),
        "ours_stack_11": middle(values["stack"]),
        "ours_flat_own": middle(values["flat_own"]),
        "ours_stack_11_own": middle(values["stack_own"]),
        "ours_flat_whole": middle(values["flat_whole"]),
        "ours_stack_11_whole": middle(values["stack_whole"]),
        "ours_accuracy": (worst_error(leaves), None),
    }
    rows.update(lock_step(lines))
    return rows


def memory(lines, width):
    """Bytes of the object's data and of the memory given to it."""
    for line in lines:
        words = line.split()
        if words[-1].endswith(f"/{width}/profiler.o"):
            return int(words[1]) + int(words[2]) + MEMORY_GIVEN
    raise Bad(f"{width}: no size of the profiler")


# ---- both


# name: numerator, denominator, what is subtracted from the numerator
RATIOS = {
    f"perf_{what}{name}_ratio": (
        f"perf_{what}{perf}",
        f"ours_{what}{ours}",
        less,
    )
    for what in ("flat", "stack_11")
    for name, perf, ours, less in (
        ("", "", "", None),
        ("_own", "", "_own", None),
        ("_beyond", "", "", "perf_bare"),
        ("_whole", "_whole", "_whole", None),
    )
}


def ratios(rows):
    """The cost of perf as a multiple of ours, of what was measured."""
    for name, (perf, our, less) in RATIOS.items():
        if {perf, our, less or perf} <= rows.keys():
            left = rows[perf][0] - (rows[less][0] if less else 0)
            rows[name] = left / rows[our][0], None


def reached(value, goal, sense):
    return value >= goal if sense == "least" else value <= goal


def part(folder, log, width):
    """{name: (value, spread)} of one of the guests."""
    lines = read(folder, log)
    if lines is None:
        raise Bad(f"{log}: nothing was measured")
    if log == "linux.log":
        return linux(lines)
    if log == "counted.log":
        marks = read(folder, "counted.marks") or []
        return counted.rows_of(runs_of(lines), marks)
    if log == "cpus.log":
        marks = read(folder, "cpus.marks") or []
        runs = runs_of(lines)
        return {
            **counted_cpus.rows_of(runs, marks, lines),
            **irqs_off.rows_of(dict(runs)["irqs_off"], "perf"),
        }
    if log.endswith(".off.log"):
        return {
            "irqs_off_true": (irqs_off.truth(read_leaves()), None),
            **irqs_off.rows_of(lines, "ours"),
        }
    size = read(folder, "size") or []
    return {
        **ours(lines, width),
        "ours_memory": (memory(size, width), None),
    }


def collect(folder):
    """({width: {name: (value, spread)}}, [what is wrong])"""
    rows = {"i386": {}, "x86_64": {}}
    wrong = []
    for log, width in (
        ("i386.log", "i386"),
        ("x86_64.log", "x86_64"),
        ("linux.log", "x86_64"),
        ("counted.log", "x86_64"),
        ("cpus.log", "x86_64"),
        ("i386.off.log", "i386"),
        ("x86_64.off.log", "x86_64"),
    ):
        try:
            rows[width].update(part(folder, log, width))
        except Bad as error:
            wrong.append(str(error))
        except (
            KeyError,
            IndexError,
            ValueError,
            TypeError,
            StopIteration,
            ArithmeticError,
            statistics.StatisticsError,
        ) as error:
            wrong.append(f"{log}: broken: {error!r}")
    ratios(rows["x86_64"])
    return rows, wrong


def write(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        for width, values in rows.items():
            for name, _, unit, goal, sense in ROWS:
                if name not in values:
                    continue
                value, spread = values[name]
                line = {
                    "width": width,
                    "name": name,
                    "value": round(value, 3),
                    "unit": unit,
                }
                if spread is not None:
                    line["spread"] = round(spread, 3)
                if goal is not None:
                    line.update(goal=goal, sense=sense)
                print(json.dumps(line, separators=(",", ":")), file=out)


def cell(values, name, unit):
    if name not in values:
        return "-"
    return f"{values[name][0]:.{0 if unit in WHOLE else 2}f}"


def show(rows):
    """The table; whether all goals are reached and no row is missing."""
    fine = True
    print(
        f'{"beside Linux perf (under -icount)":<49}'
        f'{"i386":>11}{"x86_64":>11}{"goal":>6}'
    )
    for name, words, unit, goal, sense in ROWS:
        verdict = ""
        missing = name not in rows["x86_64"]
        if goal is not None:
            found = [
                values[name][0] for values in rows.values() if name in values
            ]
            good = found and all(reached(value, goal, sense) for value in found)
            verdict = "  reached" if good else "  NOT REACHED"
        verdict = "  MISSING" if missing else verdict
        fine = fine and not missing and "NOT" not in verdict
        print(
            f'{words:<49}{cell(rows["i386"], name, unit):>11}'
            f'{cell(rows["x86_64"], name, unit):>11}'
            f'{"-" if goal is None else goal:>6}{verdict}'
        )
    return fine


def main(folder, path):
    rows, wrong = collect(folder)
    write(path, rows)
    fine = show(rows)
    for what in wrong:
        print(f"perf/table.py: {what}", file=sys.stderr)
    return 0 if fine and not wrong else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: table.py FOLDER JSONL")
    sys.exit(main(*sys.argv[1:]))
