#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""story.py BUILD ARCH: a story in four parts: the IRC server under the same
load with the device notified of each frame or once a turn, and the clock that
it asks being the CMOS's or the TSC's. Prints the profile of each of the four,
then side by side how much CPU time the guest takes for a session, and what the
profile says of the two culprits: how much of its work is spent below each.

The CPU time is that of the thread of QEMU's that is the guest's CPU. What the
guest does is in it, and what it makes QEMU do at once; waiting is not, neither
the guest's nor for a CPU that other programs have.

These still make it work more slowly, as they share caches, and differ from one
second to the next. So all four servers are booted at once and take turns, the
others being idle: there and back again, ROUNDS times (40), with SESSIONS (300)
each and CLIENTS (24) at a time. A turn is compared with the first server's of
the same round. The logs and traces stay in OUT (BUILD/story)."""

import json
import math
import os
import secrets
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.dont_write_bytecode = True

from harness import qemu  # noqa: E402

SETTINGS = [
    (kick, clock) for kick in ("each", "batch") for clock in ("cmos", "tsc")
]
CULPRITS = "VirtioNet::transmit", "VirtioNet::flush", "gettimeofday"


def number(name, default):
    return int(os.environ.get(name) or default)


ROUNDS = number("ROUNDS", 40)
SESSIONS = number("SESSIONS", 300)
CLIENTS = number("CLIENTS", 24)
# before the first turn, until lwIP remembers its maximum of old peers
WARM = number("WARM", 2500)
PATIENCE_S = 120  # for one session
ATTEMPTS = 300  # to reach a server that boots
# QEMU's user network listens with a backlog of one: who comes while somebody
# else does waits for a second, unless there are more ports.
PORTS = min(CLIENTS, 32)


class Server:
    """One, booted; in a `with`, at whose end it has ended."""

    def __init__(self, build, width, out, number):
        self.kick, self.clock = SETTINGS[number]
        self.name = f"net.kick={self.kick} clock={self.clock}"
        self.build, self.first = build, 0
        self.image = build / width / "irc" / "irc.elf"
        self.files = out / f"{self.kick}.{self.clock}"
        self.password = secrets.token_hex(8)
        pid = os.getpid()  # two stories have two addresses
        host = f"127.{pid >> 14 & 127}.{pid >> 6 & 255}"
        host += f".{(pid & 63) * 4 + number}"
        self.doors = [f"{host}:{6667 + port}" for port in range(PORTS)]
        self.turns = []  # microseconds for each session
        self.process = subprocess.Popen(
            self.line(width), stdin=subprocess.DEVNULL
        )

    def file(self, kind):
        return self.files.with_name(f"{self.files.name}.{kind}")

    def line(self, width):
        doors = "".join(f",hostfwd=tcp:{door}-:6667" for door in self.doors)
        return qemu.command(
            width,
            self.image,
            f"{self.name} irc.every=0 irc.warm={WARM} "
            f"irc.oper={self.password} net.per_address=2048 "
            "prof.every=0 prof.reports=1 prof.out=e9",
            serial=f"file:{self.file('log')}",
            network=True,
            args=[
                *("-debugcon", f"file:{self.file('packets')}"),
                *("-name", "story,debug-threads=on"),
                *("-netdev", f"user,id=load{doors}"),
                *("-device", "virtio-net-pci,netdev=load"),
            ],
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # where it has not ended by itself
        self.process.wait()

    def load(self, *words):
        """Figures of a load."""
        said = subprocess.run(
            [
                self.build / "host" / "loadgen",
                *("-q", "--json", "--first", str(self.first)),
                *(str(word) for word in words),
                *self.doors,
            ],
            text=True,
            stdout=subprocess.PIPE,
            check=False,
        )
        if said.returncode > 1:
            sys.exit(f"story: loadgen failed; see {self.file('log')}")
        found = json.loads(said.stdout)
        self.first += found["done"] + found["failed"]
        return found

    def warm_up(self):
        for _ in range(ATTEMPTS):
            if self.process.poll() is not None:
                break
            if self.load("-n", 1, "--timeout", 5)["done"] == 1:
                self.load(*("-n", WARM, "-c", CLIENTS, "--timeout", PATIENCE_S))
                return
            time.sleep(0.2)
        sys.exit(f"story: no server; see {self.file('log')}")

    def cpu_time(self):
        """Where the system counts that of the guest's CPU."""
        for thread in Path(f"/proc/{self.process.pid}/task").iterdir():
            name = (thread / "comm").read_text(encoding="ascii")
            found = thread / "schedstat"
            if name.startswith(("CPU 0/", "ALL CPUs/")) and found.exists():
                return found
        sys.exit("story: this system counts no CPU time (schedstat)")

    def turn(self):
        found = self.load(
            *("-n", SESSIONS, "-c", CLIENTS, "--timeout", PATIENCE_S),
            *("--cpu-time", self.cpu_time()),
        )
        if found["failed"] > 0:
            sys.exit(f"story: sessions failed; see {self.file('log')}")
        self.turns.append(found["cpu_us_per_session"])

    def end(self):
        self.load("-n", 1, "--end", self.password)
        self.process.wait()
        self.parasite(
            *("record", "-q", "-o", self.file("trace")),
            f"file:{self.file('packets')}",
        )

    def parasite(self, *words):
        return subprocess.run(
            [self.build / "host" / "parasite", *words],
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout

    def report(self, *words):
        """Of its work: all but idle time."""
        return self.parasite(
            *("report", "-q", "-k", self.image, "-i", self.file("trace")),
            *("-X", r"^\[idle\]$", *words),
        )


def interval(values):
    """95 % of the median, by the binomial distribution."""
    each = sorted(values)
    below = max(int((len(each) - 1.96 * math.sqrt(len(each))) / 2), 0)
    return each[below], each[-1 - below]


def middle_half(values):
    each = sorted(values)
    return each[len(each) // 4], each[-1 - len(each) // 4]


def row(server, first):
    """Of the table."""
    ratios = [mine / its for mine, its in zip(server.turns, first.turns)]
    info = json.loads(server.parasite("info", "--json", server.file("trace")))
    everything = info["sampled_ns"] + info["stolen_ns"]
    report = json.loads(server.report("--json"))
    below = [
        max(
            (
                one["total_percent"]
                for one in report["rows"]
                if one["symbol"].startswith(culprit)
            ),
            default=0,
        )
        for culprit in CULPRITS
    ]
    return (
        f"{server.name:25}{statistics.median(server.turns):6.1f}"
        f"{'{:.0f}-{:.0f}'.format(*middle_half(server.turns)):>9}"
        f"{statistics.median(ratios):7.3f}"
        f"{'{:.2f}-{:.2f}'.format(*interval(ratios)):>11}"
        f"{100 * info['stolen_ns'] / everything:7.1f} %"
        "{:8.1f} %{:7.1f} %{:11.1f} %".format(*below)
    )


def show(servers):
    for server in servers:
        us = statistics.median(server.turns)
        print(f"{server.name}: {us:.1f} us of CPU time for a session")
        print(server.report("--rows", "8"))
    print(
        f"CPU time of the guest for a session in us: the median of {ROUNDS} "
        "turns and the middle\nhalf of them; as a multiple of the first "
        "setting's in the same round, with the 95 %\ninterval of its median; "
        "the time that was stolen; of the guest's work, spent below"
    )
    print(
        f"{'setting':25}{'us':>6}{'half':>9}{'times':>7}{'interval':>11}"
        f"{'stolen':>9}{'transmit':>10}{'flush':>9}{'gettimeofday':>13}"
    )
    for server in servers:
        print(row(server, servers[0]))


def main(build, width):
    build = Path(build)
    out = Path(os.environ.get("OUT") or build / "story")
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(Server(build, width, out, number))
            for number in range(len(SETTINGS))
        ]
        for server in servers:
            server.warm_up()
        for number in range(ROUNDS):
            for server in servers if number % 2 else reversed(servers):
                server.turn()
        for server in servers:
            server.end()
        show(servers)


if __name__ == "__main__":
    main(*sys.argv[1:])
