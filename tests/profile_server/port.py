# SPDX-License-Identifier: Apache-2.0
"""The port of a guest, and who asks it: curl, the command, and bytes."""

import contextlib
import os
import socket

from harness.command import Command
from harness.process import PROFILER
from harness.suite import check, run

# with what HTTP and queries must not take for something else
TOKEN = "s3cret-token.hz=1"
APPEND = f"prof.port={PROFILER} prof.token={TOKEN} prof.every=0"
ANSWER_S = 120
ENVIRONMENT = {**os.environ, "PARASITE_TOKEN": TOKEN}


class Port:
    """That of (guest), once it listens."""

    def __init__(self, s, guest):
        self.s, self.guest, self.command = s, guest, Command(s)
        # the timer of a process has one rate
        self.rate = () if s.processes else ("-F", 500)
        guest.wait_line(r"^prof: port \d+, behind a token$")
        self.address = ("127.0.0.1", guest.port(PROFILER))
        self.url = f"http://127.0.0.1:{self.address[1]}"
        guest.soon(lambda: self.get("/", status=None), "an answer of the port")

    def parasite(self, *words, **options):
        """The command, with the token in its environment."""
        return self.command(*words, env=ENVIRONMENT, **options)

    def tell(self, *words, **options):
        """Answers may take long on a busy host, under sanitizers."""
        return self.parasite(
            *("tell", "-w", ANSWER_S, self.url, *words), **options
        )

    def record(self, name, *words, **options):
        trace = self.s.work / f"{name}.trace"
        self.command.record(trace, *words, self.url, env=ENVIRONMENT, **options)
        return trace

    def get(self, path, *words, status=0):
        """What curl gets, as text."""
        return run("curl", "-s", *words, self.url + path, status=status).out

    def answers(self, wanted, path, *words):
        """The response has that status."""
        done = run(
            *("curl", "-s", "-o", self.s.work / "body"),
            *("-w", "%{http_code}", *words, self.url + path),
        )
        check.same(done.out, str(wanted))

    @contextlib.contextmanager
    def connection(self, path="/stream", room=None):
        """A connection of that path, upgraded; with (room) bytes of buffer."""
        with socket.socket() as one:
            if room is not None:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
            one.settimeout(600)
            one.connect(self.address)
            one.sendall(
                f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                f"Upgrade: parasite\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
                "".encode()
            )
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                byte = one.recv(1)
                check.true(byte, head)
                head += byte
            check.has(head.decode(), "^HTTP/1.1 101 ")
            yield one
