# SPDX-License-Identifier: Apache-2.0
"""A service as a Linux process (`make hosted`): what a Guest is under QEMU, as
far as the suites of services need it."""

import os
import socket
from itertools import count
from pathlib import Path

from . import progress
from .guest import Guest

# Below what Linux chooses ports of clients from; suites have other numbers.
FIRST_PORT, PORTS = 10000, 20000
PROFILER = 9999  # of ports that are forwarded, that of prof.port=
_numbers = count(os.getpid() * 37)


def free_port():
    """A port of 127.0.0.1 at which nobody listens, for a server that is begun
    later: a client gets none of these meanwhile."""
    while True:
        port = FIRST_PORT + next(_numbers) % PORTS
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


class Process(Guest):
    """(program), started at once. (append), (modules), (typed), (limit) and
    (cpu_limit) are as for Guest; (stream) is the file of its second serial
    line, (disk) that of its disk. With (forward) the service listens at
    port(N) of 127.0.0.1, and the profiler at port(PROFILER). Other options of
    Guest have no effect.
    """

    def __init__(
        self,
        program,
        log,
        *,
        append="",
        modules=(),
        typed=False,
        forward=None,
        stream=None,
        disk=None,
        cpu_limit=progress.CPU_LIMIT_S,
        limit=progress.WAIT_S,
        **_,
    ):
        self.log = Path(log)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.errors = Path(f"{log}.errors")
        self.iso = self.sockets = self.monitor = self.why = self.code = None
        self.channels, self.interrupted = {}, False
        self.listens_at = {}
        line = [program]
        for module in modules:
            line += ["--module", module]
        for option, value in (("--stream", stream), ("--disk", disk)):
            line += [option, value] if value else []
        line += append.split()
        for port in forward or ():
            owner = "prof" if port == PROFILER else Path(program).name
            self.listens_at[port] = free_port()
            line.append(f"{owner}.port={self.listens_at[port]}")
        self.process = self._start(line, typed)
        self.pid = self.process.pid
        self.watch = progress.Watch(self.pid, cpu_limit, limit=limit)
        progress.has_begun(self)

    def ports(self, guest_port):
        return [self.listens_at[guest_port]]

    def exit_code(self):
        return self.process.returncode
