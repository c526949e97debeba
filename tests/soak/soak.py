# SPDX-License-Identifier: Apache-2.0
"""soak.py [OPTIONS]: random actions on guests, for a long time (docs/soak.md).

Two kinds of guests, a program written for it (toil) and the IRC server under
client load, each with a twin whose profiler never runs, are given the commands
that a seed chooses. Prints a line per minute and a table at the end, and writes
all observations to BUILD/soak/soak.jsonl, one JSON object per line. Status 1,
and a line for each violation, if an invariant did not hold.
"""

import argparse
import json
import os
import random
import signal
import sys
import threading
import time

import closing
from actions import actions
from pair import CHECKS, Breach, Pair
from readers import Tools

CHECKPOINT_S = 120
CLOSE_S = 90  # that the last checkpoint takes, or so


class Log:
    """What has been seen and done, for those who come later."""

    def __init__(self, folder, mark):
        self.mark = mark
        self.file = open(f"{folder}/soak.jsonl", "w", encoding="utf-8")
        self.lock = threading.Lock()
        self.begin = time.monotonic()

    def put(self, what, **facts):
        facts = {
            "what": what,
            "s": round(time.monotonic() - self.begin, 2),
            **facts,
        }
        with self.lock:
            self.file.write(json.dumps(facts) + "\n")
            self.file.flush()

    def say(self, text):
        self.put("said", text=text)
        print(self.mark + text, flush=True)


def live(pair, seed, seconds, pause, log):
    """A pair's whole life; its figures, or None if it died early."""
    try:
        pair.begin()
        act(pair, actions(seed), seconds, pause, log)
        figures = closing.close(pair)
    except (Breach, AssertionError, OSError, ValueError) as error:
        pair.breach("alive", str(error))
        figures = {"name": pair.name, "breaches": pair.breaches, "died": True}
    finally:
        pair.end_loads()
        for machine in pair.machines():
            if machine.process is not None:
                machine.process.kill()
        if pair.recorder is not None:
            pair.recorder.process.kill()
    log.put("figures", **figures)
    return figures


def act(pair, chosen, seconds, pause, log):
    begin = time.monotonic()
    checked = begin
    for action in chosen:
        now = time.monotonic()
        if now - begin > seconds:
            return
        if action[0] == "pause":
            time.sleep(action[1] * pause)
            pair.recorder.look()
            continue
        log.put("action", name=pair.name, action=repr(action))
        pair.do(action)
        if now - checked > CHECKPOINT_S:
            pair.checkpoint()
            pair.do(("command", "start"))
            checked = time.monotonic()


def minute(log, pairs, begin):
    """One line of how things are."""
    parts = []
    for pair in pairs:
        last = pair.guest.statistics[-1]
        pair.qemu_rss = [machine.rss() for machine in pair.machines()]
        parts.append(
            f"{pair.name}: {last.samples:,} samples, {last.discarded:,} "
            f"discarded, {last.held >> 10} KiB held, {len(pair.answers)} "
            f"answers, {len(pair.breaches)} breaches"
        )
        log.put("minute", name=pair.name, **last._asdict())
    log.say(f"{(time.monotonic() - begin) / 60:5.1f} min  " + "; ".join(parts))


def soak(width_list, options, log):
    """Pairs of these widths, of all kinds, at the same time."""
    tools = Tools(f"{options.build}/host/parasite")
    seconds = options.seconds
    pairs = [
        Pair(
            kind,
            width,
            options.build,
            options.folder,
            tools,
            log.say,
            int(seconds) + CLOSE_S,
            options.cpus,
        )
        for width in width_list
        for kind in options.kinds
    ]
    leave_nobody(pairs)
    results = [None] * len(pairs)

    def run(at):
        results[at] = live(
            pairs[at],
            f"{options.seed}-{pairs[at].kind}",
            seconds,
            options.pause,
            log,
        )

    threads = [
        threading.Thread(target=run, args=(at,)) for at in range(len(pairs))
    ]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        deadline = time.monotonic() + options.every
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            minute(log, [p for p in pairs if p.heap_before], begin)
    return results


ROWS = (
    ("samples", "samples"),
    ("lost", "of them lost"),
    ("discarded", "  refused by the way out"),
    ("dropped", "  dropped"),
    ("overflowed", "through the overflow table"),
    ("missed_ticks", "ticks missed"),
    ("packets", "packets"),
    ("bytes", "bytes of them"),
    ("thrown_away", "  not handed on to readers"),
    ("nodes", "nodes"),
    ("held", "bytes held by the profiler"),
    ("held_at_half", "  at half-time"),
    ("heap_before", "bytes in use, at first"),
    ("heap", "  in the end"),
    ("lingering", "connections that linger"),
    ("ticks_ppm", "clock by ticks, ppm"),
    ("ns_ppm", "clock by TSC, ppm"),
    ("record_rss", "record's memory, from, to"),
    ("qemu_rss", "QEMU's memory, its twin's"),
    ("answers", "commands answered"),
    ("slowest_answer", "  slowest, in its seconds"),
    ("unheard", "  on the console only"),
    ("checkpoints", "checkpoints"),
)


def text(value):
    """Figures as they stand in the table; clocks: ours, and the twin's."""
    if isinstance(value, list) and len(value) == 4:
        return "{:+.1f}±{:.1f} {:+.1f}±{:.1f}".format(*value)
    if isinstance(value, list):
        return " ".join(f"{each:,}" for each in value)
    return "-" if value is None else f"{value:,}"


def table(results):
    yield f"{'':26}" + "".join(f"{r['name']:>27}" for r in results)
    for key, label in ROWS:
        yield f"{label:26}" + "".join(
            f"{text(result.get(key)):>27}" for result in results
        )


def tap(results):
    """A test for each thing that must hold, in each pair."""
    number = 0
    for result in results:
        for check, what in CHECKS.items():
            number += 1
            broken = [why for kind, why in result["breaches"] if kind == check]
            if result.get("died") and not broken:
                broken = ["not looked at to the end"]
            for why in broken[:10]:
                print(f"# {why}")
            verdict = "not ok" if broken else "ok"
            print(f"{verdict} {number} - {result['name']}: {what}")
    print(f"1..{number}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--folder", help="for files (BUILD/soak)")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", default=str(random.randrange(1 << 32)))
    parser.add_argument("--widths", default="i386,x86_64")
    parser.add_argument("--kinds", help="of guests (toil,irc)")
    parser.add_argument(
        "--cpus",
        type=int,
        default=1,
        help="of each guest; with several there is only toil",
    )
    parser.add_argument(
        "--at-once",
        action="store_true",
        help="both widths, instead of half the time each",
    )
    parser.add_argument(
        "--pause",
        type=float,
        default=6,
        help="seconds between actions, at most",
    )
    parser.add_argument("--tap", action="store_true")
    options = parser.parse_args()
    kinds = options.kinds or ("toil" if options.cpus > 1 else "toil,irc")
    options.kinds = kinds.split(",")
    options.widths = options.widths.split(",")
    options.folder = options.folder or f"{options.build}/soak"
    options.every = 60 if not options.tap else 20
    return options


def leave_nobody(pairs):
    """Ends all guests when we are ended."""

    def leave(number, _):
        for pair in pairs:
            for process in (m.process for m in pair.machines()):
                if process is not None:
                    process.kill()
            if pair.recorder is not None:
                pair.recorder.kill()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)


def main():
    options = arguments()
    os.makedirs(options.folder, exist_ok=True)
    turns = [[width] for width in options.widths]
    if options.at_once:
        turns = [options.widths]
    options.seconds = max(options.minutes * 60 / len(turns) - CLOSE_S, 20)
    mark = "# " if options.tap else ""
    log = Log(options.folder, mark)
    log.put("begin", seed=options.seed, minutes=options.minutes)
    print(f"{mark}seed {options.seed}", flush=True)
    results = []
    for widths in turns:
        results += soak(widths, options, log)
    for line in table(results):
        print(mark + line)
    if options.tap:
        tap(results)
        return 0
    broken = sum(len(result["breaches"]) for result in results)
    for result in results:
        for _, why in result["breaches"]:
            print(f"BREACH {result['name']}: {why}")
    print(f"{broken} breaches, seed {options.seed}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
