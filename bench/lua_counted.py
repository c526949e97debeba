# SPDX-License-Identifier: Apache-2.0
"""lua_counted.py BUILD WIDTH: what a sample of a Lua script costs, with whole
stacks and the stream, in instructions: the interrupt, the drain and the stream.
Counted by the plugin that profiles are held against (tests/truth), from the
first tick to the last. A run repeats to the instruction.

Prints lines "NAME VALUE":

lua_sample_interrupt    instructions in the timer's interrupt, for each sample
lua_sample_drain        in the drain, what it calls and the stream
whole_lua               both
"""

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "truth")]
from guests import Sampled  # noqa: E402 (its folder comes first)
from harness import tap  # noqa: E402
from harness.suite import Suite  # noqa: E402
from symbols import Functions  # noqa: E402

RATE = 1000
SCRIPT = ROOT / "services" / "lua" / "scripts" / "parser.lua"
# Long enough that stacks which are new are as few as in a program that has run
# for some time.
SECONDS = os.environ.get("COUNTED_SECONDS", "20")


def main(build, width):
    work = (Path(build) / "bench" / "counted" / width).resolve()
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "lua.log", "w", encoding="utf-8") as log:
        suite = Suite("", work, Path(build).resolve(), tap.Writer(log))
        one = Sampled(suite, "lua", width, "lua", RATE)
        one.watch(
            f"prof.reports=1 prof.every={int(SECONDS) * 1000}",
            modules=[SCRIPT],
        )
        truth = json.loads(one.file("json").read_text(encoding="ascii"))
    functions = Functions(one.image)
    (drain,) = [
        row["total"]
        for start, row in zip(functions.starts, truth["functions"])
        if functions.name(start) == "prof_drain"
    ]
    interrupt = truth["in_handlers"] / truth["ticks"]
    print(f"lua_sample_interrupt {interrupt:.2f}")
    drain /= truth["ticks"]
    print(f"lua_sample_drain {drain:.2f}")
    print(f"whole_lua {interrupt + drain:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
