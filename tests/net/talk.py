# SPDX-License-Identifier: Apache-2.0
"""TCP clients of tests/guest/drivers/net_peer and services/http. An address is
(host, port). A client waits for each byte as long as any wait may last. Over a
wire that loses frames it may never come: see persistent()."""

import random
import select
import socket
import struct
import time
from contextlib import suppress

from harness import progress
from harness.suite import Failed, check, soon

QUIET_S = 20  # twice as much with each try
TRIES = 5


class Silent(Failed):
    """Nothing came for as long as who called persistent() waits."""


class Cut(Failed):
    """The connection ended early, as one does that was given up: where enough
    frames in a row were lost."""


_patience = [None]  # seconds without a byte; None = as long as any wait


def _wait(talk, writing=False):
    """Until (talk) can be read, or written to. Fails where that never comes."""
    wait = progress.Wait(what="a byte, or room for one")
    while True:
        sets = ([], [talk], []) if writing else ([talk], [], [])
        if any(select.select(*sets, progress.POLL_S)):
            return
        if wait.is_pointless():
            raise Failed("no answer: the guest has ended")
        if _patience[0] and wait.lasts() > _patience[0]:
            raise Silent(f"no byte for {_patience[0]} s")


def persistent(function, *words, quiet=QUIET_S):
    """Calls function(*words) again, with connections of its own, where nothing
    came for (quiet) seconds, or too little before the end. Each end of a
    connection may forget it, and what says so to the other may be lost; who
    only listens never hears of it. That is TCP, and no mistake of the guest's;
    several times in a row is one."""
    try:
        for attempt in range(TRIES - 1):
            _patience[0] = quiet * 2**attempt
            with suppress(Silent, Cut):
                return function(*words)
        return function(*words)
    finally:
        _patience[0] = None


def connect(address, room=None):
    """A connection; (room) is the size of its receive buffer."""
    talk = socket.socket()
    if room is not None:
        talk.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    try:
        talk.connect(address)
    except OSError:
        talk.close()
        raise
    talk.setblocking(False)
    return talk


def receive(talk, count=65536):
    """What has come, at least one byte; b"" at the end."""
    while True:
        try:
            return talk.recv(count)
        except BlockingIOError:
            _wait(talk)


def more(talk, count=65536):
    """The same where the end has no place."""
    piece = receive(talk, count)
    check.true(piece, "the connection was ended")
    return piece


def accept(server):
    """The connection that somebody makes to the socket (server)."""
    server.setblocking(False)
    _wait(server)
    accepted = server.accept()[0]
    accepted.setblocking(False)
    return accepted


def send(talk, data):
    """Sends all of it."""
    view = memoryview(data)
    while view:
        try:
            view = view[talk.send(view) :]
        except BlockingIOError:
            _wait(talk, writing=True)


def rest(talk):
    """All bytes up to the end."""
    parts = []
    while parts[-1:] != [b""]:
        parts.append(receive(talk))
    return b"".join(parts)


def pause(seconds):
    """Nothing is sent or read for so long."""
    select.select([], [], [], seconds)


def readable(talk):
    """Whether something has come, be it the end."""
    return bool(select.select([talk], [], [], 0)[0])


def noise(count, seed):
    return random.Random(seed).randbytes(count)


def stats(address):
    """What the guest holds: {name: number}."""
    with connect(address) as talk:
        text = rest(talk).decode()
    found = {k: int(v) for k, v in (l.split() for l in text.splitlines())}
    found["pcbs"] -= found["pcbs_waiting"]  # these end by time
    return found


def answers(address, seconds, data=b""):
    """Whether a connection is answered by at least a byte within so long."""
    try:
        with connect(address) as talk:
            if data:
                send(talk, data)
            if not select.select([talk], [], [], seconds)[0]:
                return False
            return talk.recv(1) != b""
    except OSError:
        return False


def until_answered(address, data=b""):
    """Tries again, with more and more patience, until it answers."""
    patience = [1.0]

    def attempt():
        patience[0] = min(patience[0] * 1.5, 60)
        return answers(address, patience[0], data)

    soon(attempt, "an answer")


def echo(address, connections, count):
    for seed in range(connections):
        sent = noise(count, seed)
        with connect(address) as talk:
            back = bytearray()
            view = memoryview(sent)
            while view:
                _wait_either(talk)
                view = view[_send_some(talk, view) :]
                back += _receive_some(talk)
            talk.shutdown(socket.SHUT_WR)
            back += rest(talk)
        if len(back) < count and back == sent[: len(back)]:
            raise Cut(f"{len(back)} of {count} bytes came back")
        check.true(back == sent, f"{len(back)} bytes came back, or others")


def _wait_either(talk):
    if not any(select.select([talk], [talk], [], progress.POLL_S)[:2]):
        _wait(talk)


def _send_some(talk, view):
    try:
        return talk.send(view[:65536])
    except BlockingIOError:
        return 0


def _receive_some(talk):
    """What has come, b"" where nothing has; the end has no place."""
    try:
        piece = talk.recv(65536)
    except BlockingIOError:
        return b""
    check.true(piece, "the connection was ended")
    return piece


def _fill(talk, block, stats_address, limit):
    """Sends (block) over and over until no more is accepted, although the
    guest is alive: it answers others meanwhile. The bytes that were sent."""
    sent = quiet = 0
    while sent < limit and quiet < 4:
        at = sent % len(block)
        count = _send_some(talk, memoryview(block)[at:])
        sent += count
        if count:
            quiet = 0
        elif not select.select([], [talk], [], progress.POLL_S)[1]:
            stats(stats_address)
            quiet += 1
    return sent


def unread(address, stats_address, limit):
    """Sends until no more is accepted, and only then begins to read. How much
    that is depends on the buffers of the host; (limit) is beyond them."""
    block = noise(1 << 20, 1)
    with connect(address, room=4096) as talk:
        sent = _fill(talk, block, stats_address, limit)
        check.true(0 < sent < limit, "everything is accepted without a reader")
        back = 0
        while back < sent:
            piece = more(talk)
            at = back % len(block)
            check.true(
                piece == (block[at:] + block)[: len(piece)],
                f"the bytes after {back} differ",
            )
            back += len(piece)


def slow(address, count):
    """Line numbers, read in small pieces at first: none is missing."""
    seen = bytearray()
    with connect(address, room=4096) as talk:
        for _ in range(20):
            seen += more(talk, 500)
            pause(0.05)
        while len(seen) < count:
            seen += more(talk)
    lines = bytes(seen).split(b"\n")[:-1]
    check.true(
        [int(l) for l in lines] == list(range(len(lines))),
        "a line is missing or doubled",
    )


def reset(address):
    """The guest resets, and the bytes never come back."""
    with connect(address) as talk:
        try:
            send(talk, b"x")
            check.same(receive(talk, 1), b"")
        except ConnectionResetError:
            pass


def farewell(address):
    """The last line arrives although more is being sent than is ever read."""
    for _ in range(20):
        with connect(address) as talk:
            send(talk, b"x" * 5000)
            check.same(rest(talk), b"good-bye\n")


HELD = ("connections", "closing", "pcbs", "buffers", "segments", "heap_pieces")
ASK_S = 1  # between two questions, each of which is a connection, too


def until_closed(address, before):
    """Waits until the guest holds no more than it held (before)."""

    def attempt():
        now = stats(address)
        left = {n: now[n] - before[n] for n in HELD if now[n] > before[n]}
        if left:
            time.sleep(ASK_S)
            raise Failed(f"left behind: {left}")
        return now

    return soon(attempt, "the end of all connections")


def none_waiting(address):
    """Waits until TIME-WAIT is over for all connections but those that ask
    here; these end later than all that were there before."""
    asked = [0]

    def attempt():
        asked[0] += 1
        waiting = stats(address)["pcbs_waiting"]
        if waiting > asked[0]:
            time.sleep(ASK_S)
            raise Failed(f"{waiting} in TIME-WAIT, {asked[0]} of them ours")
        return True

    soon(attempt, "the end of TIME-WAIT")


def _peer_ends(address):
    with connect(address) as talk:
        send(talk, b"a")
        check.same(receive(talk, 1), b"a")


def _peer_resets(address):
    with connect(address) as talk:
        send(talk, b"a")
        check.same(receive(talk, 1), b"a")
        talk.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )


def _guest_ends(address):
    with connect(address) as talk:
        check.same(rest(talk), b"good-bye\n")


def many(echo_address, farewell_address, stats_address, count):
    """Opens and closes (count) connections, each in one of three ways; then
    nothing of them is left, and the heap is as large as after a tenth."""
    kinds = (
        (_peer_ends, echo_address),
        (_peer_resets, echo_address),
        (_guest_ends, farewell_address),
    )

    def open_and_close(number):
        for i in range(number):
            kind, address = kinds[i % 3]
            kind(address)

    open_and_close(count // 10)
    none_waiting(stats_address)
    before = until_closed(stats_address, stats(stats_address))
    open_and_close(count)
    none_waiting(stats_address)
    after = until_closed(stats_address, before)
    states = f"{before}\n{after}"
    check.true(after["accepted"] - before["accepted"] >= count, states)
    check.same(after["refusals"], before["refusals"], states)
    check.true(after["heap_bytes"] <= before["heap_bytes"], states)


def crowd(echo_address, stats_address, count):
    """(count) connections at a time."""
    before = until_closed(stats_address, stats(stats_address))
    talks = []
    for i in range(count):
        talks.append(connect(echo_address))
        send(talks[-1], b"%d\n" % i)
        check.same(receive(talks[-1], 100), b"%d\n" % i)
    for i, talk in enumerate(talks):
        send(talk, b"again %d\n" % i)
    for i, talk in enumerate(talks):
        check.same(receive(talk, 100), b"again %d\n" % i)
    check.true(stats(stats_address)["connections"] >= count, "too few")
    for talk in talks:
        talk.close()
    until_closed(stats_address, before)


def test_peer(s, port, count):
    """What a peer has to do: to (port), {number: address}, on which it echoes
    (7), says what it holds (13), sends without end (19) and says good-bye."""
    s.holds("a guest answers", until_answered, port[23])
    s.holds("the echo is what was sent", echo, port[7], 20, 100000)
    what = "a peer that does not read is not read"
    s.holds(what, unread, port[7], port[13], 200000000)
    s.holds("an endless stream has no gaps", slow, port[19], 1000000)
    s.holds("the last line arrives", farewell, port[23])
    s.holds("300 connections at a time", crowd, port[7], port[13], 300)
    what = f"{count:,} connections leave nothing behind"
    s.holds(what, many, port[7], port[23], port[13], count)


def raw(address, data):
    """What comes back for these bytes."""
    with connect(address) as talk:
        send(talk, data)
        talk.shutdown(socket.SHUT_WR)
        return rest(talk)


def pipelined(address, count):
    """Many requests at once, read late: as many answers, in order."""
    ask = b"".join(
        b"GET /n%d HTTP/1.1\r\nHost: a\r\n\r\n" % i for i in range(count)
    )
    view = memoryview(ask)
    with connect(address, room=4096) as talk:
        back = bytearray()
        while back.count(b"HTTP/1.1 404") < count:
            if view:
                _wait_either(talk)
                view = view[_send_some(talk, view) :]
                back += _receive_some(talk)
            else:
                back += more(talk)
