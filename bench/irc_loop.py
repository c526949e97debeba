# SPDX-License-Identifier: Apache-2.0
"""irc_loop.py BUILD WIDTH: what the statistics of the event loop add to the
IRC server, in per cent of the instructions that it executes otherwise.

Counted by the plugin of tests/truth, function by function: the difference
between a run with the statistics and one without is smaller than that between
two runs, as clients answer in the host's time. What is counted: all that a
turn of the loop, an interrupt and a drain call, with observed interrupts; of
the calls themselves only what is inside the functions. What it is compared
with: the server without the sampler, the drain and the report.

The more requests meet in one turn of the loop, the less is added. With one
client at a time each request has a turn, and an interrupt, of its own.

Prints lines "NAME VALUE", medians of the runs:

irc_loop_percent        with 24 clients at a time
irc_loop_alone_percent  with one
"""

import json
import os
import re
import sys
from pathlib import Path
from statistics import median

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "truth")]
import load  # noqa: E402 (its folder comes first)
from harness import tap  # noqa: E402
from harness.suite import Guest, Suite  # noqa: E402
from symbols import Functions  # noqa: E402

RATE = 100
RUNS = int(os.environ.get("COUNTED_RUNS", "3"))
SESSIONS = os.environ.get("COUNTED_SESSIONS", "600")
HOT = re.compile(
    r"prof_loop_put_|prof_utilisation_mark|prof_histograms_(add|carry)$"
    r"|prof_held_(add|notable)$|prof_loop_(site_new|node_of)$"
    r"|(count_notable|(leave|run|wake|enter)_rebased|leave_all|held_by)$"
    r"|observed_\d+$"
)


class Counted(load.Irc):
    """The server in real time, under the plugin."""

    def machine(self, mode, append, forwards="", args=()):
        return Guest(
            self.image,
            self.width,
            self.file(f"{mode}.log"),
            append=f"prof.hz={self.rate} prof.loop=20 {append}",
            serial=f"file:{self.file('console')}",
            args=[
                *("-netdev", f"user,id=load{forwards}"),
                *("-device", "virtio-net-pci,netdev=load"),
                *("-plugin", self.plugin_words(1000000, traps=True)),
                *args,
            ],
        )


def percent(build, width, clients):
    """The figure of one run."""
    work = (Path(build) / "bench" / "loop" / width).resolve()
    work.mkdir(parents=True, exist_ok=True)
    load.CLIENTS = clients
    with open(work / "log", "w", encoding="utf-8") as log:
        suite = Suite("", work, Path(build).resolve(), tap.Writer(log))
        one = Counted(suite, "irc", width, "irc", RATE)
        one.record(load.irc_append(SESSIONS), [])
    truth = json.loads(one.file("json").read_text(encoding="ascii"))
    functions = Functions(one.image)
    own, total = {}, {}
    for start, row in zip(functions.starts, truth["functions"]):
        name = functions.name(start).removesuffix(".cold")
        own[name] = own.get(name, 0) + row["self"]
        total[name] = total.get(name, 0) + row["total"]
    added = sum(count for name, count in own.items() if HOT.match(name))
    rest = sum(own.values()) - added - truth["in_handlers"]
    rest -= total["prof_drain"] + total["prof_report"]
    return 100 * (added + total["prof_loop_drained"]) / rest


def main(build, width):
    for name, clients in (("", 24), ("_alone", 1)):
        runs = [percent(build, width, clients) for _ in range(RUNS)]
        print(f"irc_loop{name}_percent {median(runs):.3f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
