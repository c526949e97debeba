# SPDX-License-Identifier: Apache-2.0
"""A guest under QEMU, and what it says on its console."""

import re
import socket
import subprocess
import threading
import time
from typing import NamedTuple

from harness import progress, qemu
from relay import Relay

MEMORY_MIB = 64
# A busy host may suspend a guest for minutes. So time is counted in turns of
# the guest's loop, which prints its statistics once a second, if it runs.
PATIENCE = 30  # lines of statistics until something must have happened
GIVE_UP_S = 600  # of the guest's CPU time without one
LOOK_S = 5  # between two looks at whether it still runs
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

    def __init__(
        self, name, width, image, profiled, folder, options, net, cpus=1
    ):
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
            self.base + ".line", self.base + ".sock", self.base + ".heard"
        )
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(progress.WAIT_S)
        self.image, self.options, self.net = image, options, net
        self.cpus = cpus
        self.process = None

    def boot(self):
        self.process = self.start(self.image, self.options, self.net)
        self.console, _ = self.listener.accept()
        self.console.settimeout(None)  # what listens ends with the guest
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def start(self, image, options, net):
        port = self.listener.getsockname()[1]
        # of several CPUs the PIT samples all, so that there is no tick
        timer = "prof.tick=nmi" if self.cpus > 1 else "alarm=tick"
        words = (
            f"prof.every=0 prof.out=virtio statistics=1000 {timer} {options}"
        )
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
                        "-smp",
                        str(self.cpus),
                        "-chardev",
                        f"socket,id=con,host=127.0.0.1,port={port}",
                        "-chardev",
                        f"pipe,id=v,path={self.relay.line}",
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
        watch = self.watch(GIVE_UP_S)
        with self.changed:
            while not self.changed.wait_for(
                lambda: what(self) or self.late(since), LOOK_S
            ):
                if watch.verdict() or self.process.poll() is not None:
                    break
        return what(self)

    def watch(self, seconds):
        """For what must come while the guest uses (seconds) of CPU time."""
        pid = self.process.pid
        used = progress.cpu_seconds(pid)
        return progress.Watch(pid, used + seconds, [self.base + ".console"])

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
        """The guest's exit code, None if it has not ended by itself within
        (seconds) of CPU time."""
        watch = self.watch(seconds)
        watch.outputs = ()  # what it still says does not bring its end
        cut_off = progress.wait(self.process, watch)
        code = None if cut_off else self.process.returncode
        self.thread.join()
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
