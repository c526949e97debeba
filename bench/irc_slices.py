# SPDX-License-Identifier: Apache-2.0
"""irc_slices.py BUILD WIDTH PAIRS SECONDS OUT: the cost of sampling the IRC
server, within one boot.

The guest boots once, under constant load. Its profiler is switched on (1 kHz)
and off in slices of SECONDS, in pairs of alternating order (on off, off on,
...), so that other load of the machine and the guest's history affect both
equally.

OUT gets a line for each pair: sessions per second with the profiler on and off,
and CPU nanoseconds of QEMU's threads per session, on and off.
"""

import json
import os
import socket
import subprocess
import sys
import time

PORTS = 32
CLIENTS = 16
WARM_SECONDS = 8  # until lwIP remembers its maximum of old peers
HZ = 1000


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Guest:
    """One, its console a socket that `parasite tell` speaks to."""

    def __init__(self, build, width):
        self.build = build
        number = os.getpid()
        address = (
            f"127.{number >> 16 & 127 | 128}.{number >> 8 & 255}."
            f"{number & 255}"
        )
        self.doors = [f"{address}:{7000 + i}" for i in range(PORTS)]
        forwards = "".join(f",hostfwd=tcp:{door}-:6667" for door in self.doors)
        self.console = free_port()
        self.first = 0
        self.process = subprocess.Popen(
            [
                f"qemu-system-{width}",
                "-accel",
                "tcg",
                "-display",
                "none",
                "-no-reboot",
                "-monitor",
                "none",
                "-nic",
                "none",
                "-m",
                "128",
                "-kernel",
                f"{build}/{width}/irc/irc.elf",
                "-append",
                f"irc.every=0 prof.every=0 prof.start=off prof.hz={HZ}",
                "-chardev",
                f"socket,id=c,host=127.0.0.1,port={self.console},"
                "server=on,wait=off",
                "-serial",
                "chardev:c",
                "-netdev",
                "user,id=load" + forwards,
                "-device",
                "virtio-net-pci,netdev=load",
            ],
            stdin=subprocess.DEVNULL,
        )

    def command(self, what):
        """The profiler's answer; raises if there is none."""
        return subprocess.run(
            [
                f"{self.build}/host/parasite",
                "tell",
                "-w",
                "60",
                f"tcp:127.0.0.1:{self.console}",
                what,
            ],
            check=True,
            text=True,
            capture_output=True,
        ).stdout

    def loadgen(self, *words):
        """Figures of one load run."""
        said = subprocess.run(
            [
                f"{self.build}/host/loadgen",
                "-q",
                "--json",
                "--first",
                str(self.first),
                *words,
                *self.doors,
            ],
            text=True,
            stdout=subprocess.PIPE,
            check=False,
        )
        figures = json.loads(said.stdout)
        self.first += figures["done"] + figures["failed"]
        return figures

    def await_server(self):
        for _ in range(60):
            if self.loadgen("-n", "1", "--timeout", "2")["done"] == 1:
                return
        raise RuntimeError("no server came up")

    def ran_ns(self):
        """CPU nanoseconds of all QEMU threads."""
        folder = f"/proc/{self.process.pid}/task"
        ran = 0
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/schedstat", encoding="ascii") as at:
                ran += int(at.read().split()[0])
        return ran

    def slice(self, seconds):
        """Sessions a second, and nanoseconds of CPU for each."""
        begin = self.ran_ns()
        figures = self.loadgen("-c", str(CLIENTS), "-d", str(seconds))
        ran = self.ran_ns() - begin
        if figures["failed"] > 0:
            raise RuntimeError(f"{figures['failed']} sessions failed")
        return figures["per_second"], ran / figures["done"]

    def end(self):
        self.process.terminate()
        self.process.wait()


def main(build, width, pairs, seconds, out):
    guest = Guest(build, width)
    try:
        guest.await_server()
        guest.slice(WARM_SECONDS)
        with open(out, "w", encoding="ascii") as file:
            for pair in range(int(pairs)):
                found = {}
                for what in (
                    ("start", "stop") if pair % 2 else ("stop", "start")
                ):
                    guest.command(what)
                    time.sleep(0.02)  # a tick of the kernel has passed
                    found[what] = guest.slice(seconds)
                on, off = found["start"], found["stop"]
                print(on[0], off[0], on[1], off[1], file=file, flush=True)
    finally:
        guest.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
