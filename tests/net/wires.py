# SPDX-License-Identifier: Apache-2.0
"""net_peer over a bad wire (wire.py), and through floods."""

import tempfile
from contextlib import contextmanager

import talk
from harness.suite import check, soon
from peers import at_all, peer
from wire import Wire

PORTS = (7, 13, 19, 23)
LINGER_S = 20  # NET_LINGER_S of <kernel/net.h>


def _datagrams(name, folder, end):
    return (
        f"dgram,id={name},local.type=unix,local.path={folder}/{end}.qemu,"
        f"remote.type=unix,remote.path={folder}/{end}.wire"
    )


@contextmanager
def wired(s):
    """(guest, wire): the guest's frames go through the wire."""
    with (
        tempfile.TemporaryDirectory(prefix="wire.") as folder,
        Wire(folder) as wire,
        peer(
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
        ) as guest,
    ):
        yield guest, wire


def _user_network():
    rules = "".join(f",hostfwd=tcp:127.0.0.1:0-:{port}" for port in PORTS)
    return f"user,id=u{rules}"


def tries_again(wire, address):
    """What the first connection should bring never comes."""
    tries = []

    def listen():
        wire.mute = None if tries else 19
        tries.append(1)
        talk.slow(address, 1000)

    talk.persistent(listen, quiet=2)
    check.true(len(tries) > 1, "muted, and yet it came")


def has_detected_damage(wire, port):
    """Not all of it can be, and few frames of those before were."""
    if talk.stats(port[13])["damaged_in"] > 0:
        return True
    wire.bad["damaged"] = 20
    try:
        talk.persistent(talk.echo, port[7], 5, 30000)
    finally:
        wire.bad.clear()
    return False


def test_damage(s, wire, port, before):
    s.holds("who hears nothing tries again", tries_again, wire, port[19])
    wire.bad.update(lost=30, twice=30, damaged=20, late=30)
    what = "the echo is right over a bad wire"
    s.holds(what, talk.persistent, talk.echo, port[7], 5, 30000)
    what = "an endless stream has no gaps there"
    s.holds(what, talk.persistent, talk.slow, port[19], 100000)
    wire.bad.clear()
    wire.bad["lost"] = 80
    what = "the echo is right over a very bad one"
    s.holds(what, talk.persistent, talk.echo, port[7], 1, 30000)
    wire.bad.clear()
    for what in ("lost", "twice", "damaged", "late"):
        with s.test(f"frames were {what}"):
            check.true(wire.counts[what] > 0, wire.counts)
    with s.test("the guest has detected damage"):
        soon(lambda: has_detected_damage(wire, port), "damage that is found")
    what = "the bad wire leaves nothing behind"
    s.holds(what, talk.until_closed, port[13], before)


def test_retries(s, wire, port):
    """The guest's last line, and the end of the connection, are lost for
    longer than a connection that is closed waits for a silent peer."""
    with s.test("what was lost for long is sent again"):
        wire.mute = 23
        with talk.connect(port[23]) as muted:
            talk.pause(1.25 * LINGER_S)
            check.true(not talk.readable(muted), "muted, and yet it has come")
            wire.mute = None
            check.same(talk.rest(muted), b"good-bye\n")


def test_floods(s, wire, port, before):
    wire.noise(5000)
    s.holds("it answers after the noise", talk.echo, port[7], 5, 10000)
    s.holds("the noise leaves nothing", talk.until_closed, port[13], before)
    wire.flood(5000, 7)
    s.holds("other ports answer through a flood", talk.until_answered, port[23])
    s.holds("the flooded port recovers", talk.until_answered, port[7], b"x")
    with s.test("the flood was answered"):
        check.true(wire.counts["answers"] > 0, wire.counts)
    s.holds("the flood leaves nothing", talk.until_closed, port[13], before)


def test_wire(s):
    with wired(s) as (guest, wire):
        port = at_all(guest, PORTS)
        s.holds("a guest answers through it", talk.until_answered, port[23])
        before = talk.stats(port[13])
        test_retries(s, wire, port)
        test_damage(s, wire, port, before)
        test_floods(s, wire, port, before)
