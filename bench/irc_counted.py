# SPDX-License-Identifier: Apache-2.0
"""irc_counted.py BUILD WIDTH: the cost of a sample of the IRC server in
instructions: interrupt, drain and stream. Counted by the plugin that profiles
are compared with (tests/truth), under the load that is recorded there.

Samples of an idle CPU cost almost nothing to drain: they are not counted, and
their interrupts are subtracted. Prints lines "NAME VALUE":

irc_sample_interrupt    instructions per sample in the timer interrupt
irc_sample_drain        the same in the drain, with callees and stream
irc_whole               both
irc_cost_1000_mips      percent of the time of a CPU that executes 1,000
                        million instructions per second, sampled at 1 kHz
"""

import json
import os
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "truth")]
from harness import tap  # noqa: E402 (its folder comes first)
from harness.suite import Suite  # noqa: E402
from load import Irc, irc_append  # noqa: E402
from symbols import Functions  # noqa: E402

KHZ_PER_MIPS = 1000 / 1e9  # samples a second, instructions a second
RATE = 997
# Enough samples that new stacks are as rare as in a server that has been
# running for some time: about ten thousand.
SESSIONS = 1500


def recorded(build, width):
    """One run of the server, and the output of info on its profile."""
    work = (Path(build) / "bench" / "counted" / width).resolve()
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "log", "w", encoding="utf-8") as log:
        suite = Suite("", work, Path(build).resolve(), tap.Writer(log))
        one = Irc(suite, "irc", width, "irc", RATE)
        one.record_busy(
            irc_append(os.environ.get("COUNTED_SESSIONS", SESSIONS))
        )
        return one, one.trace()


def main(build, width):
    one, counts = recorded(build, width)
    functions = Functions(one.image)
    truth = json.loads(one.file("json").read_text(encoding="ascii"))
    (drain,) = [
        row["total"]
        for start, row in zip(functions.starts, truth["functions"])
        if functions.name(start) == "prof_drain"
    ]
    busy = counts["samples"] - counts["idle"]
    interrupt = truth["in_handlers"] / truth["ticks"]
    print(f"irc_sample_interrupt {interrupt:.2f}")
    print(f"irc_sample_drain {drain / busy:.2f}")
    print(f"irc_whole {interrupt + drain / busy:.2f}")
    print(
        f"irc_cost_1000_mips "
        f"{100 * (interrupt + drain / busy) * KHZ_PER_MIPS:.4f}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
