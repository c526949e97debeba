# SPDX-License-Identifier: Apache-2.0
"""Every command that speaks with somebody else, with somebody who does nothing,
who sends a byte now and then, and who sends all he can: SIGINT ends it, and it
says so. None waits for ever."""

import contextlib
import itertools
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
import tty

from harness.command import Command, packets_of
from harness.suite import background, check, listening, run

QUIET, DRIPS, FLOODS = "does nothing", "drips", "floods"
KINDS = (QUIET, DRIPS, FLOODS)
PAUSE = 0.01  # between two bytes
FLOOD = b"x#prof+\n" * 8192


class Peer:
    """The other end of a line, (kind) of which it is; (met) is set when it has
    a client and did what it does for a while. Use as a context manager."""

    def __init__(self, kind):
        self.kind, self.met = kind, threading.Event()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.close()
        self.thread.join(10)

    def _run(self):
        try:
            write = self.accept()
            for i in range(sys.maxsize):
                if self.over.is_set():
                    break
                if self.kind == FLOODS:
                    write(FLOOD)
                elif self.kind == DRIPS:
                    write(b"x" if i else b"$")
                if i == 20:
                    self.met.set()
                if self.kind != FLOODS:
                    time.sleep(PAUSE)
        except OSError:
            self.met.set()


class Socket(Peer):
    def __init__(self, kind, by_tcp):
        super().__init__(kind)
        self.folder = tempfile.TemporaryDirectory(prefix="waits.")
        family = "tcp" if by_tcp else "unix"
        self.server, self.target = listening(self.folder.name, family)
        self.peer = None

    def accept(self):
        self.peer, _ = self.server.accept()
        return self.peer.sendall

    def close(self):
        for one in (self.peer, self.server):
            if one:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                one.close()
        self.folder.cleanup()


def line_is_open(pid, line):
    """Whether process (pid) has opened the terminal (line). A process forked
    from this one shares its files until it executes the command."""
    with contextlib.suppress(OSError):
        if os.path.samefile(f"/proc/{pid}/exe", "/proc/self/exe"):
            return False
        for number in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{number}") == line:
                    return True
    return False


class Asked(Socket):
    """One that is asked for a stream first, by HTTP or as a hypervisor is, and
    gives this (answer), if any."""

    def __init__(self, kind, scheme, answer):
        super().__init__(kind, scheme == "http")
        self.answer = answer
        if scheme == "http":
            self.target = self.target.replace("tcp:", "http://")
        else:
            self.target = f"vsock:{self.target.removeprefix('unix:')}:9999"

    def accept(self):
        write = super().accept()
        if self.answer:
            write(self.answer)
        return write


class Terminal(Peer):
    def __init__(self, kind):
        super().__init__(kind)
        self.ours, theirs = os.openpty()
        tty.setraw(theirs)
        os.set_blocking(self.ours, False)
        self.target = os.ttyname(theirs)
        self.theirs = theirs

    def accept(self):
        """Once somebody else has opened it: a program that has, catches
        signals."""
        while not self.over.is_set() and not any(
            line_is_open(pid, self.target)
            for pid in os.listdir("/proc")
            if pid.isdigit()
        ):
            time.sleep(PAUSE)
        return self._write

    def _write(self, data):
        try:
            os.write(self.ours, data)
        except BlockingIOError:
            time.sleep(PAUSE)

    def close(self):
        os.close(self.ours)
        os.close(self.theirs)


class Full(Peer):
    """A server that accepts nobody, and whose queue is full."""

    def __init__(self, kind=QUIET):
        super().__init__(kind)
        self.folder = tempfile.TemporaryDirectory(prefix="waits.")
        self.server, self.target = listening(self.folder.name, backlog=0)
        self.first = socket.socket(socket.AF_UNIX)
        self.first.connect(self.server.getsockname())

    def accept(self):
        return None

    def close(self):
        self.server.close()
        self.first.close()
        self.folder.cleanup()


# a machine after "--", which ignores SIGTERM
MACHINE = """#!/usr/bin/env python3
import os, re, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
said = re.search(r"path=/dev/fd/(\\d+)|fd=(\\d+)", " ".join(sys.argv))
line = int(said[1] or said[2])
for i in range(sys.maxsize):
    if KIND == "floods":
        os.write(line, b"x#prof+\\n" * 8192)
        os.write(2, b"x" * 64)
    elif KIND == "drips":
        os.write(line, b"x")
    if i == 20:
        open(MET, "w").close()
    if KIND != "floods":
        time.sleep(0.01)
"""


class Waits:
    def __init__(self, s):
        self.s, self.path = s, s.parasite
        self.trace = s.work / "x.trace"

    def ends(self, words, met, number=signal.SIGINT, status=1):
        """The command is ended by the signal, with that status."""
        with background(self.path, *words, log=self.s.work / "said") as one:
            one.soon(met, "a client")
            one.signal(number)
            one.end(status)
            return one.text()

    def record(self, *words):
        return ("record", "-o", self.trace, *words)

    def attach(self, *words):
        return ("attach", "--timeout", 1000000, "-o", self.trace, *words)


def commands(waits, target):
    """(name, words, status, what it says) for a line at (target)."""
    nothing = "no packets received"
    found = [
        ("record", waits.record(target), 1, nothing),
        ("record -F", waits.record("-F", 99, target), 1, "record"),
        (
            "record --control",
            waits.record("--control", target, "-F", 99, "/dev/zero"),
            1,
            "record",
        ),
        ("top", ("top", "--stdio", "--delay", 1000, target), 1, nothing),
        ("tell", ("tell", "-w", 100000, target, "start"), -2, ""),
    ]
    if target.startswith("/"):
        return found
    at = target.removeprefix("tcp:")
    stopped = "interrupted before the stub answered"
    return found + [
        ("attach", waits.attach(f"gdb:{at}"), 1, stopped),
        ("attach --once", waits.attach("--once", f"gdb:{at}"), 1, stopped),
        ("attach --resume", waits.attach("--resume", f"gdb:{at}"), 1, stopped),
        ("attach --resume qmp", waits.attach("--resume", f"qmp:{at}"), -2, ""),
        ("top --attach", ("top", "--stdio", "--attach", f"gdb:{at}"), -2, ""),
    ]


def lines(waits):
    for where, make in (
        ("unix", lambda kind: Socket(kind, False)),
        ("tcp", lambda kind: Socket(kind, True)),
        ("a terminal", Terminal),
    ):
        for kind in KINDS:
            with make(kind) as peer:
                names = [row[0] for row in commands(waits, peer.target)]
            for i, name in enumerate(names):
                with waits.s.test(f"{name}, a peer by {where} that {kind}"):
                    with make(kind) as peer:
                        row = commands(waits, peer.target)[i]
                        _, words, status, says = row
                        said = waits.ends(words, peer.met.is_set, status=status)
                        check.contains(said, says)


UPGRADE = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n"
    b"Upgrade: parasite\r\n\r\n"
)
ASKED = {"http": UPGRADE, "vsock": b"OK 1073741824\n"}


def asked(waits):
    """Lines that are asked for, before the answer and after it. Whoever floods
    instead of an answer is refused at once."""
    for scheme, kind, answers in itertools.product(ASKED, KINDS, (False, True)):
        if kind == FLOODS and not answers:
            continue
        answer = ASKED[scheme] if answers else b""
        when = "answers and" if answers else "as an answer"
        for name, words in (
            ("record", waits.record()),
            ("top", ("top", "--stdio", "--delay", 1000)),
            ("tell", ("tell", "-w", 100000)),
        ):
            with waits.s.test(f"{name}, {scheme}, a peer that {when} {kind}"):
                with Asked(kind, scheme, answer) as peer:
                    words = (*words, peer.target)
                    words += ("start",) if name == "tell" else ()
                    said = waits.ends(words, peer.met.is_set, status=(1, -2))
                    if name != "tell":
                        wanted = "no packets" if answers else scheme
                        check.contains(said, wanted)


def slow_guests(waits):
    """One that has answered a request is there: it gets more time for a
    command than a line at which nobody may listen."""
    for peer, seconds in (
        (Asked(QUIET, "http", UPGRADE), 30),
        (Socket(QUIET, True), 10),
    ):
        scheme = peer.target.partition(":")[0]
        with waits.s.test(f"{scheme}, a silent guest: {seconds} s"):
            with peer:
                words = waits.record("-q", "-F", 99, peer.target)
                said = run(waits.path, *words, status=1).text
            check.contains(said, f"was not answered within {seconds} s")


class Store(Asked):
    """A server of a store, with the beginning of an answer, if any."""

    def __init__(self, kind, answer):
        super().__init__(kind, "http", answer)
        self.target += "/fleet"


def of_many_guests(waits, peer):
    """(name, words, statuses) of the commands that ask a store."""
    return [
        ("fleet", ("fleet", "--store", peer.target), (1, -2)),
        ("sql", ("sql", peer.target, "SELECT 1"), (1, -2)),
    ]


def stores(waits):
    """Before an answer, and in one without end."""
    for kind, answer in (
        (QUIET, b""),
        *((kind, b"HTTP/1.1 200 OK\r\n\r\n") for kind in KINDS),
    ):
        with Store(kind, answer) as peer:
            names = [row[0] for row in of_many_guests(waits, peer)]
        when = "answers and" if answer else "does not answer and"
        for i, name in enumerate(names):
            with waits.s.test(f"{name}, a store that {when} {kind}"):
                with Store(kind, answer) as peer:
                    _, words, statuses = of_many_guests(waits, peer)[i]
                    waits.ends(words, peer.met.is_set, status=statuses)


def serves(waits):
    """Before the line of an answer, and in one without end. One that floods
    ends the line, and is refused at once."""
    for kind, answer in (
        (QUIET, b""),
        (QUIET, b'{"capture"'),
        (DRIPS, b'{"capture"'),
    ):
        when = "answers and" if answer else "does not answer and"
        with waits.s.test(f"fleet capture, a serve that {when} {kind}"):
            with Asked(kind, "http", answer) as peer:
                words = ("fleet", "capture", "one", "--from")
                serve = peer.target.replace("http://", "tcp:")
                words += (serve, "-o", waits.s.work / "captured")
                waits.ends(words, peer.met.is_set)


def full(waits):
    with Full() as peer:
        rows = commands(waits, peer.target)
    for i, row in enumerate(rows):
        with waits.s.test(f"{row[0]}, a server whose queue is full"):
            with Full() as peer:
                words = commands(waits, peer.target)[i][1]
                # before it is connected there is nothing to keep
                waits.ends(words, peer.met.is_set, status=(1, -2))


def machines(waits):
    for kind in KINDS:
        machine, met = waits.s.work / "machine", waits.s.work / "met"
        machine.write_text(
            MACHINE.replace("KIND", repr(kind)).replace("MET", repr(str(met)))
        )
        machine.chmod(0o755)
        for name, words, said in (
            ("record", waits.record(), "no packets received"),
            ("top", ("top", "--stdio", "--delay", 1000), "no packets received"),
            ("attach", waits.attach(), "interrupted before the stub"),
        ):
            with waits.s.test(f"{name}, a machine that {kind} and stays"):
                met.unlink(missing_ok=True)
                text = waits.ends((*words, "--", machine), met.exists)
                check.contains(text, said)
                check.contains(text, "does not end by SIGTERM; killed")


class Stream(Socket):
    """Sends the stream of a guest but for its first packet, which has what the
    others need to be understood."""

    def __init__(self, data):
        super().__init__(QUIET, False)
        self.data = b"".join(packets_of(data)[1:])

    def accept(self):
        write = super().accept()
        write(self.data)
        return write


def top_warms_up(waits):
    """It shows no table of unknown stacks, but says why, a few times."""
    data = Command(waits.s).make_stream(5000, 1)
    log = waits.s.work / "said"
    with waits.s.test("top, a guest that runs already: it warms up"):
        with Stream(data) as peer, background(
            *(waits.path, "top", "--stdio", "--delay", 0.2, peer.target),
            log=log,
        ) as top:
            top.soon(lambda: "Symbol" in top.text(), "a table")
            lines = top.text().partition("Symbol")[0].splitlines()
            warm = "# warming up: most stacks are not known yet"
            check.same(lines.count(warm), 5, lines)
            check.lacks("\n".join(lines), "%  ")
            top.signal(signal.SIGINT)
            top.end()
    with waits.s.test("top, nothing comes"):
        with Socket(QUIET, False) as peer:
            words = ("top", "--stdio", "-n", 2, "--delay", 0.1, peer.target)
            said = Command(waits.s)(*words, status=1)
            nothing = "# warming up: nothing received yet"
            check.same(said.lines(), [nothing, nothing])


def served(waits):
    """`open` has clients that do the same."""
    Command(waits.s).record(
        waits.trace, "-", data=Command(waits.s).make_stream(100, 1)
    )
    log = waits.s.work / "said"
    for kind in KINDS:
        with waits.s.test(f"open, a client that {kind}"):
            with background(
                *(waits.path, "open", "--no-browser", waits.trace), log=log
            ) as server:
                # the line may be read while it is being written
                address = server.soon(
                    lambda: re.search(r"127\.0\.0\.1:(\d+)/", log.read_text()),
                    "its address",
                )
                port = int(address[1])
                client = socket.create_connection(("127.0.0.1", port))
                client.settimeout(60)
                try:
                    for _ in range({QUIET: 0, DRIPS: 20, FLOODS: 20}[kind]):
                        client.sendall(FLOOD if kind == FLOODS else b"G")
                        time.sleep(PAUSE)
                except OSError:
                    pass  # it was sent away
                server.signal(signal.SIGINT)
                server.end(0)
                client.close()


def suite(s):
    waits = Waits(s)
    lines(waits)
    asked(waits)
    slow_guests(waits)
    stores(waits)
    serves(waits)
    full(waits)
    machines(waits)
    top_warms_up(waits)
    served(waits)
