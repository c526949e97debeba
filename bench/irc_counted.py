# SPDX-License-Identifier: Apache-2.0
"""irc_counted.py BUILD WIDTH: the cost of a sample of the IRC server in
instructions: interrupt, drain and stream. Counted by the plugin that profiles
are compared with (tests/truth), under the load that is recorded there.

Samples of an idle CPU cost almost nothing to drain: they are not counted, and
their interrupts are subtracted.

The clients answer in the host's time. How their requests meet in one turn of
the server's loop, and so which stacks there are, is different in each run:
hence several runs, of which each figure is the median. Prints lines
"NAME VALUE":

irc_sample_interrupt    instructions per sample in the timer interrupt
irc_sample_drain        the same in the drain, with callees and stream
irc_whole               both; irc_whole_least and irc_whole_most: of the runs
irc_nodes               nodes of the stack tree per sample
irc_cost_1000_mips      percent of the time of a CPU that executes 1,000
                        million instructions per second, sampled at 1 kHz
"""

import json
import os
import sys
from pathlib import Path
from statistics import median

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "truth")]
from harness import tap  # noqa: E402 (its folder comes first)
from harness.suite import Suite  # noqa: E402
from load import Irc, irc_append  # noqa: E402
from symbols import Functions  # noqa: E402

KHZ_PER_MIPS = 1000 / 1e9  # samples a second, instructions a second
RATE = 997
RUNS = int(os.environ.get("COUNTED_RUNS", "3"))
# Some twenty seconds of the server's time at work, as with lua: in a server
# that has just begun most stacks are new.
SESSIONS = os.environ.get("COUNTED_SESSIONS", "3000")


def recorded(build, width):
    """One run of the server, and the output of info on its profile."""
    work = (Path(build) / "bench" / "counted" / width).resolve()
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "log", "w", encoding="utf-8") as log:
        suite = Suite("", work, Path(build).resolve(), tap.Writer(log))
        one = Irc(suite, "irc", width, "irc", RATE)
        one.record_busy(irc_append(SESSIONS))
        return one, one.trace()


def counted(build, width):
    """The figures of one run: interrupt, drain, nodes, per busy sample."""
    one, counts = recorded(build, width)
    functions = Functions(one.image)
    truth = json.loads(one.file("json").read_text(encoding="ascii"))
    (drain,) = [
        row["total"]
        for start, row in zip(functions.starts, truth["functions"])
        if functions.name(start) == "prof_drain"
    ]
    busy = counts["samples"] - counts["idle"]
    return (
        truth["in_handlers"] / truth["ticks"],
        drain / busy,
        counts["nodes"] / busy,
    )


def main(build, width):
    runs = [counted(build, width) for _ in range(RUNS)]
    wholes = [interrupt + drain for interrupt, drain, _ in runs]
    whole = median(wholes)
    print(f"irc_sample_interrupt {median(run[0] for run in runs):.2f}")
    print(f"irc_sample_drain {median(run[1] for run in runs):.2f}")
    print(f"irc_whole {whole:.2f}")
    print(f"irc_whole_least {min(wholes):.2f}")
    print(f"irc_whole_most {max(wholes):.2f}")
    print(f"irc_nodes {median(run[2] for run in runs):.3f}")
    print(f"irc_cost_1000_mips {100 * whole * KHZ_PER_MIPS:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
