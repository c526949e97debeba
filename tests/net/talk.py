#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Talks to tests/guest/net_peer and services/http, forwarded to loopback.

talk.py WHAT PORT...: exits with 0 where what must hold does, else says why.
"""

import json
import os
import random
import socket
import struct
import sys
import time

HOST = os.environ.get("HOST", "127.0.0.1")
WAIT_S = 60
TIME_WAIT_S = 21  # of lwIP as it is built here, and a second


def connect(port, wait_s=WAIT_S, room=None):
    talk = socket.socket()
    if room is not None:
        talk.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    talk.settimeout(wait_s)
    talk.connect((HOST, int(port)))
    return talk


def rest(talk):
    """All bytes up to the end."""
    parts = []
    while True:
        part = talk.recv(65536)
        if not part:
            return b"".join(parts)
        parts.append(part)


def noise(count, seed):
    return random.Random(seed).randbytes(count)


def stats(port):
    text = rest(connect(port)).decode()
    found = {k: int(v) for k, v in (l.split() for l in text.splitlines())}
    found["pcbs"] -= found["pcbs_waiting"]  # these end by time
    return found


def require(good, what):
    if not good:
        raise SystemExit("talk.py: " + what)


def ready(port):
    """Waits until the guest answers by ending a connection in an orderly way."""
    end = time.time() + WAIT_S
    while time.time() < end:
        try:
            with connect(port, 2) as talk:
                if talk.recv(1):
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise SystemExit("talk.py: nobody answers")


def echo_one(port, count, seed):
    bytes_out = noise(count, seed)
    with connect(port) as talk:
        talk.sendall(bytes_out)
        talk.shutdown(socket.SHUT_WR)
        back = rest(talk)
        require(back == bytes_out,
                f"of {count} bytes {len(back)} came back, or others")


def echo(port, connections, count):
    for i in range(int(connections)):
        echo_one(port, int(count), i)


def deaf(port, count):
    """Sends until nobody takes any more, and only then begins to read."""
    bytes_out = noise(int(count), 1)
    with connect(port, room=4096) as talk:
        talk.setblocking(False)
        sent, last = 0, time.time()
        while sent < len(bytes_out) and time.time() - last < 2:
            try:
                sent += talk.send(bytes_out[sent:sent + 65536])
                last = time.time()
            except BlockingIOError:
                time.sleep(0.01)
        require(sent < len(bytes_out), "all was taken although nobody reads")
        back = bytearray()
        while len(back) < len(bytes_out):
            try:
                back += talk.recv(65536)
                last = time.time()
            except BlockingIOError:
                time.sleep(0.001)
            if sent < len(bytes_out):
                try:
                    sent += talk.send(bytes_out[sent:sent + 65536])
                except BlockingIOError:
                    pass
            require(time.time() - last < WAIT_S, "it has come to a halt")
        require(bytes(back) == bytes_out, "the echo is another")


def slow(port, count):
    """Line numbers, read slowly at first: none is missing."""
    want = int(count)
    seen = b""
    with connect(port, room=4096) as talk:
        for _ in range(20):
            seen += talk.recv(500)
            time.sleep(0.05)
        while len(seen) < want:
            seen += talk.recv(65536)
    lines = seen.split(b"\n")[:-1]
    require([int(l) for l in lines] == list(range(len(lines))),
            "a line is missing or doubled")


def reset(port):
    """The guest resets, and the bytes never come back."""
    with connect(port) as talk:
        try:
            talk.sendall(b"x")
            require(talk.recv(1) == b"", "there was an answer")
        except ConnectionResetError:
            pass


def farewell(port):
    """Last words arrive although more is being sent than is ever read."""
    for _ in range(20):
        with connect(port) as talk:
            talk.sendall(b"x" * 5000)
            require(rest(talk) == b"good-bye\n", "the last words are lost")


def settle(port, before):
    """Waits until the guest holds what it held (before)."""
    names = ["connections", "closing", "pcbs", "buffers", "segments",
             "heap_pieces"]
    end = time.time() + WAIT_S
    while True:
        now = stats(port)
        left = {n: now[n] - before[n] for n in names if now[n] > before[n]}
        if not left:
            return now
        require(time.time() < end, f"left behind: {left}")
        time.sleep(1)


def remember(port, file):
    with open(file, "w") as out:
        json.dump(stats(port), out)


def settled(port, file):
    """What the guest holds is what it held when it was remembered."""
    with open(file) as before:
        settle(port, json.load(before))


def again(port):
    """A port that is full takes new ones when the old are given up."""
    end = time.time() + 2 * WAIT_S
    while time.time() < end:
        try:
            with connect(port, 3) as talk:
                talk.sendall(b"x")
                if talk.recv(1) == b"x":
                    return
        except OSError:
            pass
    raise SystemExit("talk.py: it does not come back")


def asked(port):
    """The peer ends it."""
    with connect(port) as talk:
        talk.sendall(b"a")
        require(talk.recv(1) == b"a", "no echo")


def cut(port):
    """The peer resets it."""
    with connect(port) as talk:
        talk.sendall(b"a")
        require(talk.recv(1) == b"a", "no echo")
        talk.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))


def told(port):
    """The guest ends it."""
    with connect(port) as talk:
        require(rest(talk) == b"good-bye\n", "no last words")


def many(echo_port, farewell_port, stats_port, count):
    """Opens and closes (count) connections, each in one of three ways; then
    nothing of them is left, and the heap is as large as after a tenth."""
    ways = ((asked, echo_port), (cut, echo_port), (told, farewell_port))
    for i in range(int(count) // 10):
        way, port = ways[i % 3]
        way(port)
    time.sleep(TIME_WAIT_S)
    before = settle(stats_port, stats(stats_port))
    for i in range(int(count)):
        way, port = ways[i % 3]
        way(port)
    after = settle(stats_port, before)
    print(before)
    print(after)
    require(after["accepted"] - before["accepted"] >= int(count),
            "they were not accepted")
    require(after["refusals"] == before["refusals"], "memory was refused")
    require(after["heap_bytes"] <= before["heap_bytes"], "the heap has grown")
    time.sleep(TIME_WAIT_S)
    require(stats(stats_port)["pcbs_waiting"] <= 1, "TIME-WAIT does not end")


def crowd(echo_port, stats_port, count):
    """(count) connections at a time."""
    before = settle(stats_port, stats(stats_port))
    talks = []
    for i in range(int(count)):
        talks.append(connect(echo_port))
        talks[-1].sendall(b"%d\n" % i)
        require(talks[-1].recv(100) == b"%d\n" % i, "no echo")
    for i, talk in enumerate(talks):
        talk.sendall(b"again %d\n" % i)
    for i, talk in enumerate(talks):
        require(talk.recv(100) == b"again %d\n" % i, "somebody else's answer")
    require(stats(stats_port)["connections"] >= int(count), "too few")
    for talk in talks:
        talk.close()
    settle(stats_port, before)


def field(port, name):
    print(stats(port)[name])


def raw(port, text):
    """Sends (text), Python's escapes in it, and prints what comes back."""
    with connect(port) as talk:
        talk.sendall(text.encode().decode("unicode_escape").encode("latin-1"))
        talk.shutdown(socket.SHUT_WR)
        sys.stdout.buffer.write(rest(talk))


def pipelined(port, count):
    """Many requests at once, read late: as many answers, in order."""
    ask = b"".join(b"GET /n%d HTTP/1.1\r\nHost: a\r\n\r\n" % i
                   for i in range(int(count)))
    with connect(port, room=4096) as talk:
        talk.setblocking(False)
        sent, back = 0, bytearray()
        last = time.time()
        while back.count(b"HTTP/1.1 404") < int(count):
            try:
                sent += talk.send(ask[sent:])
            except (BlockingIOError, ValueError):
                pass
            try:
                back += talk.recv(65536)
                last = time.time()
            except BlockingIOError:
                time.sleep(0.001)
            require(time.time() - last < WAIT_S, "it has come to a halt")


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        print(probe.getsockname()[1])


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
