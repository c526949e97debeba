# SPDX-License-Identifier: Apache-2.0
"""A guest under QEMU, and what it says on its console."""

import re
import socket
import subprocess
import threading
import time
from typing import NamedTuple

from harness import qemu
from relay import Relay

MEMORY_MIB = 64
# A busy host may suspend a guest for minutes. So time is counted in turns of
# the guest's loop, which prints its statistics once a second, if it runs.
PATIENCE = 30  # lines of statistics until something must have happened
GIVE_UP_S = 600  # without one, that long
PORTS = 8  # of an IRC server; QEMU takes one client at a time at each
STATISTICS = re.compile(
    r"statistics: (\d+) ns, (\d+) ticks; heap (\d+) bytes, (\d+) of them the "
    r"profiler's, in (\d+) pieces; (\d+) samples, (\d+) discarded"
)


class Statistics(NamedTuple):
    """One line of a guest's, and the host's time (s) when it began to come."""

    host: float
    ns: int
    ticks: int
    heap: int
    held: int
    pieces: int
    samples: int
    discarded: int


class Machine:
    """(image) of (width), which boot() starts. With (profiled) its profiler
    runs; without, it never does. Files are (folder)/(name).*; (options) are
    more words for the command line."""

    def __init__(self, name, width, image, profiled, folder, options, net):
        self.name = name
        self.width = width
        self.profiled = profiled
        self.base = f"{folder}/{name}"
        self.statistics = []
        self.lines = []
        self.changed = threading.Condition()
        self.begun = None
        self.servers = []
        self.relay = Relay(
            self.base + ".guest", self.base + ".sock", self.base + ".stream"
        )
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.image, self.options, self.net = image, options, net
        self.process = None

    def boot(self):
        self.process = self.start(self.image, self.options, self.net)
        self.console, _ = self.listener.accept()
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def start(self, image, options, net):
        port = self.listener.getsockname()[1]
        words = f"prof.every=0 prof.out=virtio statistics=1000 {options}"
        if not self.profiled:
            words += " prof.start=off"
        with open(self.base + ".qemu", "w", encoding="utf-8") as errors:
            return subprocess.Popen(
                qemu.command(
                    self.width,
                    image,
                    words,
                    memory=MEMORY_MIB,
                    serial="chardev:con",
                    network=net,
                    args=[
                        "-chardev",
                        f"socket,id=con,host=127.0.0.1,port={port}",
                        "-chardev",
                        f"socket,id=v,path={self.base}.guest",
                        "-device",
                        "virtio-serial-pci",
                        "-device",
                        "virtconsole,chardev=v",
                        *(self.network() if net else []),
                    ],
                ),
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
            )

    def network(self):
        """An address of this guest's own, as long as the console's port is."""
        port = self.listener.getsockname()[1]
        address = f"127.77.{port >> 8}.{port & 255}"
        self.servers = [f"{address}:{6667 + i}" for i in range(PORTS)]
        forwards = ",".join(f"hostfwd=tcp:{s}-:6667" for s in self.servers)
        return [
            "-netdev",
            f"user,id=load,{forwards}",
            "-device",
            "virtio-net-pci,netdev=load",
        ]

    def listen(self):
        """Lines, each with the time at which its first byte was there."""
        rest = b""
        begun = 0.0
        with open(self.base + ".console", "wb") as log:
            while True:
                try:
                    data = self.console.recv(65536)
                except OSError:
                    data = b""
                now = time.monotonic()
                if not data:
                    break
                log.write(data)
                log.flush()
                if not rest:
                    begun = now
                parts = (rest + data).split(b"\n")
                rest = parts.pop()
                for part in parts:
                    self.take(part.decode("latin-1").rstrip("\r"), begun)
                    begun = now

    def take(self, line, begun):
        match = STATISTICS.match(line)
        with self.changed:
            if match:
                numbers = (int(group) for group in match.groups())
                self.statistics.append(Statistics(begun, *numbers))
            else:
                self.lines.append(line)
            self.changed.notify_all()

    def late(self, since):
        """Whether it has had time enough since it had (since) statistics."""
        return len(self.statistics) - since > PATIENCE

    def wait(self, what):
        """Until what(self) is true; whether it was in time."""
        since = len(self.statistics)
        with self.changed:
            self.changed.wait_for(
                lambda: what(self) or self.late(since), GIVE_UP_S
            )
        return what(self)

    def next_statistics(self):
        """The next line of statistics, None if none comes."""
        count = len(self.statistics)
        return (
            self.statistics[-1]
            if self.wait(lambda m: len(m.statistics) > count)
            else None
        )

    def order(self, line):
        """Sends the service a command; whether it answered in time."""
        before = len(self.lines)
        self.console.sendall(line.encode() + b"\n")
        return self.wait(lambda m: f"toil: ok {line}" in m.lines[before:])

    def rss(self):
        return rss(self.process.pid)

    def end(self, seconds):
        """The guest's exit code, None if it has not ended by itself."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = None
        self.process.wait()
        self.thread.join(10)
        self.relay.stop()
        return code // 2 if code is not None and code % 2 == 1 else None


def rss(pid):
    """Bytes of memory that process (pid) has in use, 0 if there is none."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
