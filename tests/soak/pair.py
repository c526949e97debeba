# SPDX-License-Identifier: Apache-2.0
"""A guest with everything on, and its twin: the same image under the same load
whose profiler never runs. What the twin does is what the host does to it."""

import re
import subprocess
import time

from harness import progress
from machine import PATIENCE, Machine
from readers import Recorder
from tables import tables, wrong

FLUSH_S = 60

WORD = {"i386": 4, "x86_64": 8}  # malloc()'s own, beside each piece


# what must hold, by the word that a breach of it is filed under
CHECKS = {
    "alive": "the guests live, end as they should, and never panic",
    "answers": f"every command is answered in {PATIENCE} turns of a second",
    "tables": "every table adds up",
    "ticks": "every tick that was counted is in the trace, or reported as lost",
    "readers": "every trace can be read, by babeltrace2 as well",
    "heap": "what the service has of the heap is what it was",
    "held": "what the profiler has of the heap is bounded",
    "clock": "the clocks are as true as the twin's",
    "record": "parasite record does not grow",
}


class Breach(Exception):
    """What must hold does not, and going on makes no sense."""


class Pair:
    """(kind) is toil or irc. (log) is called with each action."""

    def __init__(self, kind, width, build, folder, tools, log, seconds, cpus=1):
        self.kind = kind
        self.width = width
        self.tools = tools
        self.log = log
        self.name = f"{width}-{kind}"
        self.cpus = cpus
        kept = f"{build}/smp/{width}" if cpus > 1 else f"{build}/{width}"
        self.image = (
            f"{kept}/"
            + {
                "toil": "tests/soak/toil/toil.elf",
                "irc": "irc/irc.elf",
            }[kind]
        )
        self.loadgen = f"{build}/host/loadgen"
        # a server is not ended from the console, and is given its time
        options = f"irc.every=0 irc.seconds={seconds}" if kind == "irc" else ""
        self.guest, self.twin = (
            Machine(
                f"{self.name}{ending}",
                width,
                self.image,
                ending == "",
                folder,
                options,
                kind == "irc",
                cpus,
            )
            for ending in ("", "-twin")
        )
        self.recorder = None
        self.loads = []
        self.answers = []  # how many lines of statistics each has taken
        self.unheard = 0  # that came on the console only
        self.breaches = []
        self.checkpoints = 0
        self.qemu_rss = None
        self.heap_before = []
        self.folder = folder

    def machines(self):
        return (self.guest, self.twin)

    def breach(self, check, what):
        self.breaches.append((check, what))
        self.log(f"BREACH {self.name}: {what}")

    # ---- from the beginning

    def begin(self):
        """Who records is there before the first sample is."""
        self.recorder = Recorder(
            self.tools,
            self.guest.relay.client_path,
            f"{self.folder}/{self.name}-live.trace",
            self.image,
        )
        if not progress.until(lambda: self.guest.relay.clients):
            raise Breach("parasite record does not connect")
        for machine in self.machines():
            machine.boot()
        for machine in self.machines():
            if (
                machine.next_statistics() is None
                or machine.next_statistics() is None
            ):
                raise Breach(f"{machine.name} does not boot")
            self.heap_before.append(self.heap(machine))
            machine.begun = len(machine.statistics)

    def heap(self, machine):
        """Bytes that the service has, as of the newest statistics."""
        last = machine.statistics[-1]
        return last.heap - last.held - last.pieces * WORD[self.width]

    # ---- what an action does

    def do(self, action):
        getattr(self, "do_" + action[0])(*action[1:])
        for machine in self.machines():
            if machine.process.poll() is not None:
                raise Breach(f"{machine.name} has ended")

    def do_command(self, line):
        while self.guest.relay.held():
            time.sleep(0.1)
        lines, since = len(self.guest.lines), len(self.guest.statistics)
        status, said = self.tools.command(self.guest, line)
        self.answers.append(len(self.guest.statistics) - since)
        if status is None and self.answered(f"#prof! ok {line}", lines):
            self.unheard += 1  # the stream's line was full then
        elif status != 0 or not re.search(f"^ok {re.escape(line)}", said, re.M):
            # before it may be what looks like text of a packet's second half
            self.breach("answers", f"command '{line}': status {status}: {said}")

    def answered(self, words, since):
        """Whether a line after line (since) of the console begins so."""
        return any(l.startswith(words) for l in self.guest.lines[since:])

    def do_wrong(self, line):
        self.expect_error(line.encode(), line.strip())

    def do_garbage(self, data):
        self.expect_error(data, data.strip(b" \t"))

    def expect_error(self, data, something):
        """A line that is no command is refused, unless there is nothing in
        it; and then as well the next one is understood."""
        lines, since = len(self.guest.lines), len(self.guest.statistics)
        self.guest.relay.say(b"\n" + data + b"\n")
        if something and not self.guest.wait(
            lambda _: self.answered("#prof! error: ", lines)
        ):
            self.breach("answers", f"no answer to {data!r}")
        self.answers.append(len(self.guest.statistics) - since)

    def do_load(self, kinds, clients):
        if self.kind == "toil":
            for machine in self.machines():
                if not machine.order(f"work {kinds}".strip()):
                    self.breach("answers", f"{machine.name} does not answer")
        else:
            self.end_loads()
            self.begin_loads(clients)

    def begin_loads(self, clients):
        if clients == 0:
            return
        for machine in self.machines():
            self.loads.append(
                subprocess.Popen(
                    [
                        self.loadgen,
                        "-q",
                        "-r",
                        str(clients),
                        "-d",
                        "600",
                        *machine.servers,
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

    def end_loads(self):
        for load in self.loads:
            load.terminate()
            load.wait()
        self.loads = []

    def do_hold(self, seconds):
        self.guest.relay.hold(seconds)

    def do_wait(self, seconds):
        time.sleep(seconds)

    def do_late(self, seconds):
        """Somebody who begins to listen now has a trace that can be read."""
        late = Recorder(
            self.tools,
            self.guest.relay.client_path,
            f"{self.folder}/{self.name}-late.trace",
            self.image,
            seconds,
        )
        status = late.wait()
        if status not in (0, 1):  # 1: sampling was stopped, nothing came
            self.breach("readers", f"a late reader ended with {status}")
        if status == 0:
            for problem in self.problems(late.folder):
                self.breach("readers", f"a late trace: {problem}")

    def do_kill(self, seconds):
        victim = Recorder(
            self.tools,
            self.guest.relay.client_path,
            f"{self.folder}/{self.name}-killed.trace",
            self.image,
        )
        time.sleep(seconds)
        victim.kill()
        victim.log.close()

    def problems(self, trace):
        """What is wrong with the trace of somebody who has listened."""
        return self.tools.problems(trace, self.guest.relay.thrown_away > 0)

    # ---- what must hold

    def rest(self):
        """Nothing to do, nothing queued, all sent."""
        if self.kind == "toil":
            self.do_load("", 0)
        self.end_loads()
        self.do_command("start")
        time.sleep(2)
        self.do_command("report")
        self.do_command("stop")

    def flushed(self):
        """The guest's statistics, once the count of samples is constant and all
        samples are sent, which takes a second more."""
        before = self.guest.next_statistics()
        for _ in range(FLUSH_S):
            last = self.guest.next_statistics()
            if None in (before, last):
                raise Breach(f"{self.guest.name} prints nothing any more")
            if (last.samples, last.discarded) == (
                before.samples,
                before.discarded,
            ) and last.ns - before.ns > 3e9:
                return last
            if last.samples != before.samples:
                before = last
        raise Breach(f"{self.guest.name} counts on after a stop")

    def checkpoint(self):
        self.rest()
        counted = self.flushed()
        self.twin.next_statistics()
        self.checkpoints += 1
        if self.kind == "toil":
            self.check_heap()
        info = self.check_trace(counted)
        self.check_tables()
        self.recorder.look()
        return info

    def check_heap(self):
        for machine, before in zip(self.machines(), self.heap_before):
            now = self.heap(machine)
            if now != before:
                self.breach(
                    "heap",
                    f"{machine.name}: {now} bytes of the heap "
                    f"are in use, {before} were",
                )

    def check_trace(self, counted):
        """Everything that was counted is in the trace, or reported as lost."""
        trace = f"{self.folder}/{self.name}-whole.trace"
        wrong_trace = self.tools.trace(
            self.guest.relay.kept_path, trace, self.image
        )
        info = self.tools.info(trace) if wrong_trace is None else None
        if info is None:
            self.breach("readers", wrong_trace or "info cannot read the trace")
            return None
        if (
            info["samples"] + info["lost"] != counted.samples
            or info["discarded"] != counted.discarded
            or info["missing_packets"] != 0
        ):
            self.breach(
                "ticks",
                f"{counted.samples} samples counted, "
                f"{counted.discarded} discarded;"
                f" in the trace {info['samples']} + {info['lost']} lost, "
                f"{info['discarded']} discarded, "
                f"{info['missing_packets']} packets missing",
            )
        return info

    def check_tables(self):
        for table in tables(self.guest.lines):
            problem = wrong(table)
            if problem:
                self.breach("tables", problem)
        with self.guest.changed:
            for machine in self.machines():
                for line in machine.lines:
                    if "panic" in line.lower():
                        self.breach("alive", f"{machine.name}: {line}")
                machine.lines.clear()
