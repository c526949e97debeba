# SPDX-License-Identifier: Apache-2.0
"""tests/guest/task/streams: connections that tasks await."""

import socket

import talk
from harness.suite import Failed, check, soon
from peers import at_all

PORTS = (7, 13, 19, 21, 23, 25)


def late(address):
    """A receive that timed out has lost nothing."""
    with talk.connect(address) as peer:
        seen = bytearray()
        while b"late\nlate\n" not in seen:
            seen += talk.more(peer)
        talk.send(peer, b"!")
        while b"!" not in seen:
            seen += talk.more(peer)
        talk.send(peer, b"?" * 3000)
        while seen.count(b"?") < 3000:
            seen += talk.more(peer)
    check.same(seen.replace(b"late\n", b""), b"!" + b"?" * 3000)


def passed_on(address, port):
    """What comes back for a port of this machine."""
    with talk.connect(address) as peer:
        talk.send(peer, b"%d" % port)
        return talk.rest(peer)


def connects(address):
    """A task connects to a server here."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with talk.connect(address) as peer:
            talk.send(peer, b"%d" % port)
            with talk.accept(server) as accepted:
                check.same(talk.receive(accepted), b"hello")
                talk.send(accepted, b"and to you")
            check.same(talk.rest(peer), b"and to you")
    check.same(passed_on(address, port), b"the connection was reset")


def nothing_left(address):
    """A task for each port and for who asks, and what these wait for; no
    promise was misused."""

    def attempt():
        now = talk.stats(address)
        check.same((now["tasks"], now["promises"]), (7, 13))
        return now

    check.same(soon(attempt, "the end of all tasks")["errors"], 0)


def ends_with(guest, address):
    """A client's wait does, though the stream would have gone on."""
    try:
        with talk.connect(address) as peer:
            talk.more(peer)
            guest.kill()
            while True:
                talk.more(peer)
    except (Failed, ConnectionError):
        pass


def test_streams(s):
    quiet = "prof.start=off prof.every=0"
    with s.guest(s.width, "test/streams", append=quiet, forward=PORTS) as guest:
        port = at_all(guest, PORTS)
        talk.test_peer(s, port, 1000)
        s.holds("a receive that timed out loses nothing", late, port[21])
        s.holds("a task connects, or is refused", connects, port[25])
        s.holds("no task and no promise is left", nothing_left, port[13])
        s.holds(
            "a client's wait ends with its guest", ends_with, guest, port[19]
        )
