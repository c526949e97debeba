# SPDX-License-Identifier: Apache-2.0
"""The soak's short form: half a minute of everything in real time, on both
widths at the same time, and on four CPUs at 64 bits; FULL=1 takes a minute, and
four CPUs of each width. The seed is always the same; SEED=N in the environment
is another. `make soak` is the long form."""

import os
import sys

from harness.suite import FULL, check, run

CPU_LIMIT_S = 1500
HOW = {
    "one": ("--at-once",),
    "several": ("--cpus", 4, "--widths", "x86_64"),
    "several_i386": ("--cpus", 4, "--widths", "i386"),
}
PARTS = tuple(HOW) if FULL else ("one", "several")


def suite(s):
    done = run(
        *(sys.executable, "tests/soak/soak.py", "--tap", *HOW[s.part]),
        *("--build", s.build, "--folder", s.work, "--kinds", "toil"),
        *("--minutes", 2 if FULL else 1, "--pause", 0.4),
        *("--seed", os.environ.get("SEED", 7)),
        status=None,
        by_lines=True,
        cpu_limit=CPU_LIMIT_S,
    )
    for line in done.lines():
        if line.startswith("# "):
            s.note(line[2:])
    s.tap_of("", done.text)
    check.same(done.status, 0)
