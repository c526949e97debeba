# SPDX-License-Identifier: Apache-2.0
"""irc_counted.py IMAGE TRUTH PARASITE TRACE: instructions that a sample costs,
from the plugin's counts (TRUTH) and the trace of the same run.

Those of an idle CPU cost next to nothing to drain, and so are not counted as
samples; their interrupts are taken off. Prints lines "NAME VALUE":

irc_sample_interrupt    instructions in the timer's interrupt, for each
irc_sample_drain        in the drain, what it calls and the stream
irc_cost_1000_mips      per cent of the time of a CPU that executes 1,000
                        million instructions a second, sampled at 1 kHz
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests/truth"))
from symbols import Functions  # noqa: E402

KHZ_PER_MIPS = 1000 / 1e9  # samples a second, instructions a second


def main(image, truth_path, parasite, trace):
    functions = Functions(image)
    with open(truth_path, encoding="ascii") as file:
        truth = json.load(file)
    drain, = [row["total"] for start, row
              in zip(functions.starts, truth["functions"])
              if functions.name(start) == "prof_drain"]
    counts = json.loads(subprocess.run(
        [parasite, "info", "--json", trace], text=True, capture_output=True,
        check=True).stdout)
    busy = counts["samples"] - counts["idle"]
    interrupt = truth["in_handlers"] / truth["ticks"]
    print(f"irc_sample_interrupt {interrupt:.2f}")
    print(f"irc_sample_drain {drain / busy:.2f}")
    print(f"irc_cost_1000_mips "
          f"{100 * (interrupt + drain / busy) * KHZ_PER_MIPS:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
