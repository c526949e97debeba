# SPDX-License-Identifier: Apache-2.0
"""counted.py BUILD WIDTH lua|irc|loop: what the profiler adds, in instructions,
counted by the plugin that profiles are compared with (tests/truth). Prints
lines "NAME VALUE".

lua: a sample of a Lua script, with whole stacks and the stream, from the first
tick to the last; a run repeats to the instruction.

lua_sample_interrupt    instructions per sample in the timer interrupt
lua_sample_drain        the same in the drain, with callees and stream
whole_lua               both

irc: a sample of the IRC server under load, whose clients are in its image, so
that this run repeats to the instruction, too. An instruction takes 64 ns, for
otherwise the server would wait for its clients most of the time. The number of
samples excludes those of an idle CPU, which cost almost nothing to drain, and
those taken in the clients.

irc_sample_interrupt    as above
irc_sample_drain
irc_whole               both, over a minute and a half
irc_whole_early         the same of the first 24 s alone, in which more stacks
                        are new
irc_nodes               nodes of the stack tree per sample
irc_cost_1000_mips      percent of the time of a CPU that executes 1,000
                        million instructions per second, sampled at 1 kHz

loop: the statistics of the event loop in the same server, in per cent of the
instructions that it executes otherwise. The difference between a run with the
statistics and one without has what they make the loop do differently, as it
turns more often; so it is counted function by function: all that a turn of the
loop, an interrupt and a drain call, with observed interrupts; of the calls
themselves only what is inside the functions. What it is compared with: the
server without the sampler, the drain, the report and the clients. The more
requests meet in one turn of the loop, the less is added. With one client at a
time each request has a turn, and an interrupt, of its own.

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

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "truth")]
from guests import Sampled  # noqa: E402 (its folder comes first)
from harness import tap  # noqa: E402
from harness.suite import Suite  # noqa: E402
from symbols import Functions  # noqa: E402

KHZ_PER_MIPS = 1000 / 1e9  # samples a second, instructions a second
SCRIPT = ROOT / "services" / "lua" / "scripts" / "parser.lua"
# Long enough that stacks which are new are as few as in a program that has run
# for some time: some twenty seconds of work.
SECONDS = os.environ.get("COUNTED_SECONDS", "20")
SHIFT = 6  # 2**SHIFT ns an instruction
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


def ticks_in(one, name):
    """How many ticks of a run found a function on the stack."""
    functions = Functions(one.image)
    start = next(at for at in functions.starts if functions.name(at) == name)
    end = functions.ends[start]
    with open(one.file("ticks"), encoding="ascii") as ticks:
        return sum(
            any(start <= int(pc, 16) <= end for pc in tick.split())
            for tick in ticks
        )


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


def server(s, width, rate, clients, sessions, append="", shift=0):
    """A run of the IRC server with so many clients at a time."""
    one = Sampled(s, "irc", width, "load/irc", rate)
    one.watch(
        "prof.reports=0 prof.every=0 irc.every=0 net.per_address=2048 "
        f"net.load_clients={clients} net.load_sessions={sessions} "
        f"prof.seed={one.seed} {append}".rstrip(),
        shift=shift,
    )
    return one


def irc_run(build, width, sessions):
    """The figures of one run: interrupt, drain, nodes, per sample."""
    with suite(build, width, "irc") as s:
        one = server(s, width, 997, 48, sessions, shift=SHIFT)
        info = one.parasite.info(one.file("trace"))
    truth, _, total = counts(one)
    busy = info["samples"] - info["idle"] - ticks_in(one, "load_work")
    return (
        truth["in_handlers"] / truth["ticks"],
        total["prof_drain"] / busy,
        info["nodes"] / busy,
    )


def irc(build, width):
    interrupt, drain, _ = irc_run(build, width, 3000)
    print(f"irc_whole_early {interrupt + drain:.2f}")
    interrupt, drain, nodes = irc_run(build, width, 12000)
    print(f"irc_sample_interrupt {interrupt:.2f}")
    print(f"irc_sample_drain {drain:.2f}")
    print(f"irc_whole {interrupt + drain:.2f}")
    print(f"irc_nodes {nodes:.3f}")
    percent = 100 * (interrupt + drain) * KHZ_PER_MIPS
    print(f"irc_cost_1000_mips {percent:.4f}")


def loop(build, width):
    for name, clients in (("", 24), ("_alone", 1)):
        with suite(build, width, "loop") as s:
            one = server(s, width, 100, clients, 600, "prof.loop=20")
        truth, own, total = counts(one)
        added = sum(n for function, n in own.items() if HOT.match(function))
        rest = sum(own.values()) - added - truth["in_handlers"]
        for other in ("prof_drain", "prof_report", "load_work"):
            rest -= total[other]
        percent = 100 * (added + total["prof_loop_drained"]) / rest
        print(f"irc_loop{name}_percent {percent:.3f}", flush=True)


if __name__ == "__main__":
    {"lua": lua, "irc": irc, "loop": loop}[sys.argv[3]](*sys.argv[1:3])
