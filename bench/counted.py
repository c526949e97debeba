# SPDX-License-Identifier: Apache-2.0
"""counted.py BUILD WIDTH lua|irc|loop: what the profiler adds, in instructions,
counted by the plugin that profiles are compared with (tests/truth). Prints
lines "NAME VALUE".

lua: a sample of a Lua script, with whole stacks and the stream, from the first
tick to the last; a run repeats to the instruction.

lua_sample_interrupt    instructions per sample in the timer interrupt
lua_sample_drain        the same in the drain, with callees and stream
whole_lua               both

irc: a sample of the IRC server under load. Samples of an idle CPU cost almost
nothing to drain: they are not counted. The clients answer in the host's time.
How their requests meet in one turn of the server's loop, and so which stacks
there are, is different in each run: hence several runs, of which each figure is
the median.

irc_sample_interrupt    as above
irc_sample_drain
irc_whole               both; irc_whole_least and irc_whole_most: of the runs
irc_nodes               nodes of the stack tree per sample
irc_cost_1000_mips      percent of the time of a CPU that executes 1,000
                        million instructions per second, sampled at 1 kHz

loop: the statistics of the event loop in the IRC server, in per cent of the
instructions that it executes otherwise. The difference between a run with the
statistics and one without is smaller than that between two runs; so it is
counted function by function: all that a turn of the loop, an interrupt and a
drain call, with observed interrupts; of the calls themselves only what is
inside the functions. What it is compared with: the server without the sampler,
the drain and the report. The more requests meet in one turn of the loop, the
less is added. With one client at a time each request has a turn, and an
interrupt, of its own.

irc_loop_percent        with 24 clients at a time
irc_loop_alone_percent  with one
"""

import collections
import json
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "truth")]
import load  # noqa: E402 (its folder comes first)
from guests import Sampled  # noqa: E402
from harness import tap  # noqa: E402
from harness.suite import Guest, Suite  # noqa: E402
from symbols import Functions  # noqa: E402

KHZ_PER_MIPS = 1000 / 1e9  # samples a second, instructions a second
RUNS = int(os.environ.get("COUNTED_RUNS", "3"))
SCRIPT = ROOT / "services" / "lua" / "scripts" / "parser.lua"
# Long enough that stacks which are new are as few as in a program that has run
# for some time: some twenty seconds of work.
SECONDS = os.environ.get("COUNTED_SECONDS", "20")
SESSIONS = os.environ.get("COUNTED_SESSIONS")
HOT = re.compile(
    r"prof_loop_put_|prof_utilisation_mark|prof_histograms_(add|carry)$"
    r"|prof_held_(add|notable)$|prof_loop_(site_new|node_of)$"
    r"|(count_notable|(leave|run|wake|enter)_rebased|leave_all|held_by)$"
    r"|observed_\d+$"
)


@contextmanager
def suite(build, width, what):
    """What starts guests, with a folder to write to."""
    work = (Path(build) / "bench" / "counted" / what / width).resolve()
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "log", "w", encoding="utf-8") as log:
        yield Suite("", work, Path(build).resolve(), tap.Writer(log))


def counts(one):
    """Of a run: the plugin's result, and instructions by function, its own and
    in total."""
    truth = json.loads(one.file("json").read_text(encoding="ascii"))
    functions = Functions(one.image)
    own, total = collections.Counter(), collections.Counter()
    for start, row in zip(functions.starts, truth["functions"]):
        name = functions.name(start).removesuffix(".cold")
        own[name] += row["self"]
        total[name] += row["total"]
    return truth, own, total


def lua(build, width):
    with suite(build, width, "lua") as s:
        one = Sampled(s, "lua", width, "lua", 1000)
        one.watch(
            f"prof.reports=1 prof.every={int(SECONDS) * 1000}",
            modules=[SCRIPT],
        )
    truth, _, total = counts(one)
    interrupt = truth["in_handlers"] / truth["ticks"]
    drain = total["prof_drain"] / truth["ticks"]
    print(f"lua_sample_interrupt {interrupt:.2f}")
    print(f"lua_sample_drain {drain:.2f}")
    print(f"whole_lua {interrupt + drain:.2f}")


def irc_run(build, width):
    """The figures of one run: interrupt, drain, nodes, per busy sample."""
    with suite(build, width, "irc") as s:
        one = load.Irc(s, "irc", width, "irc", 997)
        one.record_busy(load.irc_append(SESSIONS or "3000"))
        info = one.trace()
    truth, _, total = counts(one)
    busy = info["samples"] - info["idle"]
    return (
        truth["in_handlers"] / truth["ticks"],
        total["prof_drain"] / busy,
        info["nodes"] / busy,
    )


def irc(build, width):
    runs = [irc_run(build, width) for _ in range(RUNS)]
    wholes = [interrupt + drain for interrupt, drain, _ in runs]
    whole = median(wholes)
    print(f"irc_sample_interrupt {median(run[0] for run in runs):.2f}")
    print(f"irc_sample_drain {median(run[1] for run in runs):.2f}")
    print(f"irc_whole {whole:.2f}")
    print(f"irc_whole_least {min(wholes):.2f}")
    print(f"irc_whole_most {max(wholes):.2f}")
    print(f"irc_nodes {median(run[2] for run in runs):.3f}")
    print(f"irc_cost_1000_mips {100 * whole * KHZ_PER_MIPS:.4f}")


class RealTime(load.Irc):
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


def loop_percent(build, width, clients):
    """The figure of one run."""
    load.CLIENTS = clients
    with suite(build, width, "loop") as s:
        one = RealTime(s, "irc", width, "irc", 100)
        one.record(load.irc_append(SESSIONS or "600"), [])
    truth, own, total = counts(one)
    added = sum(count for name, count in own.items() if HOT.match(name))
    rest = sum(own.values()) - added - truth["in_handlers"]
    rest -= total["prof_drain"] + total["prof_report"]
    return 100 * (added + total["prof_loop_drained"]) / rest


def loop(build, width):
    for name, clients in (("", 24), ("_alone", 1)):
        runs = [loop_percent(build, width, clients) for _ in range(RUNS)]
        print(f"irc_loop{name}_percent {median(runs):.3f}", flush=True)


if __name__ == "__main__":
    {"lua": lua, "irc": irc, "loop": loop}[sys.argv[3]](*sys.argv[1:3])
