# SPDX-License-Identifier: Apache-2.0
"""measure.py BUILD [LOOPS [SECONDS [RUNS [PROGRAMS]]]]: causal profiling on a
busy host, without counting instructions.

Beside each number of busy loops in LOOPS (0,2,4), each of PROGRAMS (made,irc)
does experiments for SECONDS (60), RUNS (1) times. `made` is the program of
tests/guest/causal/causal_options, whose truth is known from a run that counts
instructions; `irc` is the IRC server under load from the host, whose truth is
not. Prints a row for each target at 50 % faster:

    gain and +-   what `parasite causal` says: experiments in pairs
    unpaired      the interval from the same experiments, without pairs
    ratio         of the two intervals
    to +-1        seconds of experiments until the paired interval is one
                  point, if it narrows with the square root of their number

and what `parasite causal` says is needed. The recorded experiments are analysed
by the rules of <prof/gain.h>. Traces stay in BUILD/bench/busy."""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

GROUPS, GROUPS_MIN = 16, 4  # as <prof/gain.h> has them, and
STUDENT = (0, 31.821, 6.965, 4.541, 3.747, 3.365, 3.143, 2.998)
STUDENT += (2.896, 2.821, 2.764, 2.718, 2.681, 2.650, 2.624, 2.602)
SPEEDUP = 0.5
TRUTH_SECONDS = 2
COUNTED = ("-icount", "shift=0,align=off,sleep=off")
MADE = (
    "prof.causal=on prof.progress=work_done prof.target=cold_work "
    "prof.target=hot_work units=2000000000"
)
IRC = (
    "prof.causal=on prof.progress=irc::Server::privmsg prof.target=tcp_input "
    "prof.every=2000 irc.every=2000 irc.warm=1"
)
HEADING = (
    f"{'program':<8} {'loops':>5} {'target':<24} {'truth':>6} {'gain':>7} "
    f"{'+-':>6} {'unpaired':>8} {'ratio':>5} {'tests':>5} {'to +-1':>7}"
)


class Loops:
    """So many busy loops meanwhile."""

    def __init__(self, count):
        script = "while :; do :; done # busyloop"
        self.running = [
            subprocess.Popen(["sh", "-c", script]) for _ in range(count)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.running:
            each.kill()
            each.wait()


class Recorder:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.parasite = build / "host" / "parasite"

    def guest(self, image, words, trace, args=()):
        machine = (
            "-M pc -accel tcg -display none -no-reboot -monitor none -nic none "
            "-m 128 -device isa-debug-exit,iobase=0xf4,iosize=0x04"
        )
        return [
            *(self.parasite, "record", "-F", "1000", "-o", trace, "--"),
            *("qemu-system-x86_64", *machine.split(), *args),
            *("-kernel", image, "-append", words),
        ]

    def record(self, program, name, seconds, args=()):
        """The trace of a run."""
        trace = self.folder / f"{name}.trace"
        words = f"prof.reports=0 prof.causal_for={seconds}s "
        environment = dict(os.environ)
        if program == "made":
            image = "test/causal_options/causal_options.elf"
            command = self.guest(
                self.build / "x86_64" / image, words + MADE, trace, args
            )
        else:
            environment |= {
                **{"SESSIONS": str(10**9), "CLIENTS": "8", "ENDS": "y"},
                "APPEND": words + IRC,
            }
            image = self.build / "x86_64" / "irc" / "irc.elf"
            inner = self.guest(image, "@", trace)
            script = " ".join(
                '"$APPEND"' if str(word) == "@" else f"'{word}'"
                for word in inner
            )
            command = [
                *("tools/loadgen/under.sh", self.build / "host" / "loadgen"),
                *("sh", "-c", f"{script} $QEMU_ARGS"),
            ]
        with open(self.folder / f"{name}.log", "w", encoding="utf-8") as log:
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                check=False,
            )
        return trace

    def read(self, trace):
        """What parasite says, and its experiments in order: {(target,
        speed-up): [(ns, visits), ...]}."""
        done = subprocess.run(
            [self.parasite, "causal", "-q", "--json", trace],
            stdout=subprocess.PIPE,
            check=True,
        )
        lines = trace.with_suffix(".jsonl")
        subprocess.run(
            [self.parasite, "causal", "-q", "--coz", lines, trace],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return json.loads(done.stdout), experiments(lines)


def experiments(path):
    found, last = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["type"] == "experiment":
            last = record
        elif record["type"] == "throughput-point" and last is not None:
            key = (last["selected"], last["speedup"])
            one = (int(last["duration"]), int(record["delta"]))
            found.setdefault(key, []).append(one)
            last = None  # the first point
    return found


# ---- the interval, as <prof/gain.h> has it


def groups_of(values):
    """The sums of consecutive experiments."""
    groups = []
    for ns, visits in values:
        at = next(
            (i for i, g in enumerate(groups) if g[2] < groups[0][2]), None
        )
        if at is None and len(groups) == GROUPS:
            pairs = zip(groups[::2], groups[1::2])
            groups = [[a + b for a, b in zip(*pair)] for pair in pairs]
        if at is None:
            groups.append([0, 0, 0])
            at = -1
        for i, more in enumerate((ns, visits, 1)):
            groups[at][i] += more
    return groups


def total(groups, without=None):
    rest = [g for i, g in enumerate(groups) if i != without]
    return sum(g[0] for g in rest), sum(g[1] for g in rest)


def gain(normal, faster):
    return 1 - faster[0] / faster[1] / (normal[0] / normal[1])


def variance(estimates):
    mean = sum(estimates) / len(estimates)
    squares = sum((x - mean) ** 2 for x in estimates)
    return squares * (len(estimates) - 1) / len(estimates)


def intervals(normal, faster):
    """The gain, and its interval with pairs, if there are, and without, in per
    cent; None: there are too few experiments."""
    normal, faster = groups_of(normal), groups_of(faster)
    count = min(len(normal), len(faster))
    if count < GROUPS_MIN:
        return None
    all_normal, all_faster = total(normal), total(faster)
    unpaired = variance(
        [gain(total(normal, i), all_faster) for i in range(len(normal))]
    ) + variance(
        [gain(all_normal, total(faster, i)) for i in range(len(faster))]
    )
    paired = unpaired
    ahead = sum(abs(a[2] - b[2]) for a, b in zip(normal, faster))
    if len(normal) == len(faster) and ahead <= 1:
        paired = variance(
            [gain(total(normal, i), total(faster, i)) for i in range(count)]
        )
    factor = 100 * STUDENT[count - 1]
    return (
        100 * gain(all_normal, all_faster),
        factor * math.sqrt(paired),
        factor * math.sqrt(unpaired),
    )


# ---- rows


def value_at(curve):
    return next(
        v for v in curve["values"] if abs(v["speedup"] - SPEEDUP) < 0.01
    )


def truths(recorder):
    found, _ = recorder.read(
        recorder.record("made", "truth", TRUTH_SECONDS, COUNTED)
    )
    return {
        curve["target"]: 100 * value_at(curve)["gain"]
        for curve in found["points"][0]["curves"]
    }


def print_row(program, loops, curve, records, truth, seconds):
    name, value = curve["target"], value_at(curve)
    speedup = round(value["speedup"], 2)
    found = intervals(
        records.get((name, 0), []), records.get((name, speedup), [])
    )
    if found is None or value["gain"] is None:
        print(f"{program:<8} {loops:>5} {name:<24.24} too few experiments")
        return
    percent, interval = 100 * value["gain"], 100 * value["interval"]
    inside = truth is None or abs(percent - truth) <= interval
    tests = sum(len(v) for k, v in records.items() if k[0] == name)
    truth_text = "-" if truth is None else f"{truth:.2f}"
    print(
        f"{program:<8} {loops:>5} {name:<24.24} {truth_text:>6} {percent:>7.2f}"
        f" {interval:>6.2f} {found[2]:>8.2f} {found[2] / found[1]:>5.2f}"
        f" {tests:>5} {seconds * found[1] ** 2:>7.0f}"
        f"{'' if inside else '  the truth is outside'}"
    )
    if "more experiments" in curve["explanation"]:
        print(f"{'':<15}{curve['explanation'].split(';')[0]}")
    sys.stdout.flush()


def measure(recorder, program, loops, run, seconds, truth):
    began = time.monotonic()
    with Loops(loops):
        trace = recorder.record(program, f"{program}-{loops}-{run}", seconds)
    took = time.monotonic() - began
    found, records = recorder.read(trace)
    curves = found["points"][0]["curves"]
    for curve in sorted(curves, key=lambda each: each["target"]):
        known = truth.get(curve["target"]) if program == "made" else None
        print_row(program, loops, curve, records, known, seconds)
    for note in found["notes"]:
        if note.startswith(("one ", "warning", "progress", "the host took")):
            print(f"{'':<15}{note}")
    load = os.getloadavg()[0]
    print(
        f"{'':<15}{found['experiments']} experiments, {took:.0f} s, "
        f"load average {load:.1f}"
    )
    sys.stdout.flush()


def main():
    words = sys.argv[1:]
    build = Path(words[0])
    defaults = ("0,2,4", "60", "1", "made,irc")
    given = words[1:] + list(defaults[len(words) - 1 :])
    folder = build / "bench" / "busy"
    folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(build, folder)
    truth = truths(recorder)
    print(HEADING)
    for run in range(int(given[2])):
        for loops in map(int, given[0].split(",")):
            for program in given[3].split(","):
                seconds = int(given[1])
                measure(recorder, program, loops, run, seconds, truth)


main()
