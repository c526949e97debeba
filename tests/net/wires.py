# SPDX-License-Identifier: Apache-2.0
"""net_peer over a bad wire (wire.c), and through floods."""

import re
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import talk
from harness import progress
from harness.suite import check, run, soon
from peers import at, peer

PORTS = (7, 13, 19, 23)
LINGER_S = 20  # NET_LINGER_S of <kernel/net.h>


class Wire:
    """The program wire, whose sockets are in (folder)."""

    def __init__(self, s, folder):
        self.log = s.work / "wire.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [s.work / "wire", folder],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def order(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def alive(self):
        return self.process.poll() is None

    def counts(self):
        """{what: frames}; all orders before have been carried out then."""
        before = len(self._lines())
        self.order("say")
        soon(
            lambda: len(self._lines()) > before,
            "the answer of the wire",
            self.alive,
        )
        return dict(re.findall(r"(\w+) (\d+)", self._lines()[before]))

    def _lines(self):
        """Complete ones only."""
        return self.log.read_text(encoding="ascii").split("\n")[:-1]

    def end(self):
        self.process.stdin.close()
        progress.wait(self.process, progress.Watch(self.process.pid))


def _datagrams(name, folder, end):
    return (
        f"dgram,id={name},local.type=unix,local.path={folder}/{end}.qemu,"
        f"remote.type=unix,remote.path={folder}/{end}.wire"
    )


@contextmanager
def wired(s):
    """(guest, wire): the guest's frames go through the wire."""
    run(
        *("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-g"),
        "-fsanitize=address,undefined",
        *("-o", s.work / "wire", "tests/net/wire.c"),
    )
    with tempfile.TemporaryDirectory(prefix="wire.") as folder:
        wire = Wire(s, folder)
        try:
            soon(Path(folder, "host.wire").exists, "the wire", wire.alive)
            with peer(
                s,
                "wired",
                "net.ip=10.0.2.15/24,10.0.2.2",
                args=[
                    *("-netdev", _user_network()),
                    *("-netdev", _datagrams("h", folder, "host")),
                    *("-netdev", _datagrams("n", folder, "guest")),
                    *("-netdev", "hubport,id=a,hubid=1,netdev=u"),
                    *("-netdev", "hubport,id=b,hubid=1,netdev=h"),
                    *("-device", "virtio-net-pci,netdev=n"),
                ],
                monitor=True,
            ) as guest:
                yield guest, wire
        finally:
            wire.end()


def _user_network():
    rules = "".join(f",hostfwd=tcp:127.0.0.1:0-:{port}" for port in PORTS)
    return f"user,id=u{rules}"


def tries_again(wire, address):
    """What the first connection should bring never comes."""
    tries = []

    def listen():
        wire.order("mute 0" if tries else "mute 19")
        wire.counts()
        tries.append(1)
        talk.slow(address, 1000)

    talk.persistent(listen, quiet=2)
    check.true(len(tries) > 1, "muted, and yet it came")


def test_damage(s, wire, port, before):
    def holds(what, function, *words):
        s.holds(f"{s.width}: {what}", function, *words)

    holds("who hears nothing tries again", tries_again, wire, port[19])
    wire.order("bad 30 30 20 30")
    holds(
        "the echo is right over a bad wire",
        *(talk.persistent, talk.echo, port[7], 5, 30000),
    )
    holds(
        "an endless stream has no gaps there",
        *(talk.persistent, talk.slow, port[19], 100000),
    )
    wire.order("bad 80 0 0 0")
    holds(
        "the echo is right over a very bad one",
        *(talk.persistent, talk.echo, port[7], 1, 30000),
    )
    wire.order("bad 0 0 0 0")
    counts = wire.counts()
    for what, done in (
        ("lost", "were lost"),
        ("twice", "came twice"),
        ("damaged", "were damaged"),
        ("late", "came late"),
    ):
        with s.test(f"{s.width}: frames {done}"):
            check.true(int(counts[what]) > 0, counts)
    with s.test(f"{s.width}: the guest has detected damage"):
        check.true(talk.stats(port[13])["damaged_in"] > 0)
    holds(
        "the bad wire leaves nothing behind",
        talk.until_closed,
        port[13],
        before,
    )


def test_retries(s, wire, port):
    """The guest's last line, and the end of the connection, are lost for
    longer than a connection that is closed waits for a silent peer."""
    with s.test(f"{s.width}: what was lost for long is sent again"):
        wire.order("mute 23")
        with talk.connect(port[23]) as muted:
            talk.pause(1.25 * LINGER_S)
            check.true(not talk.readable(muted), "muted, and yet it has come")
            wire.order("mute 0")
            check.same(talk.rest(muted), b"good-bye\n")


def test_floods(s, wire, port, before):
    def holds(what, function, *words):
        s.holds(f"{s.width}: {what}", function, *words)

    wire.order("noise 5000")
    holds(
        "it answers after 5,000 frames of noise",
        *(talk.echo, port[7], 5, 10000),
    )
    holds(
        "the noise leaves nothing behind", talk.until_closed, port[13], before
    )
    wire.order("flood 5000 7")
    holds("other ports answer through a flood", talk.until_answered, port[23])
    holds(
        "the flooded port recovers by itself",
        *(talk.until_answered, port[7], b"x"),
    )
    with s.test(f"{s.width}: the flood was answered"):
        counts = wire.counts()
        check.true(int(counts["answers"]) > 0, counts)
    holds(
        "the flood leaves nothing behind", talk.until_closed, port[13], before
    )


def test_wire(s):
    with wired(s) as (guest, wire):
        port = {number: at(guest, number) for number in PORTS}
        s.holds(
            f"{s.width}: a guest answers through the wire",
            *(talk.until_answered, port[23]),
        )
        before = talk.stats(port[13])
        test_retries(s, wire, port)
        test_damage(s, wire, port, before)
        test_floods(s, wire, port, before)
