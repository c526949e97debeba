# SPDX-License-Identifier: Apache-2.0
"""A live reader that takes nothing while its guest goes on."""

import re

from harness.stream import Stream
from harness.suite import check

RATE_MHZ = 100_000
TEXT = "a long name " * 18  # of an event that is sent over and over
TEXTS = 15  # of them in a packet
MORE_BYTES = 3 << 20  # than a socket and the room for a reader hold
PIECE = 16  # packets


def talkative(boot, packets_of):
    """A guest's packets: a tick and long texts in each."""
    stream = Stream(step=1000, boot=boot)
    stream.begins(RATE_MHZ)
    for _ in range(MORE_BYTES // (TEXTS * len(TEXT))):
        stream.event("idle")
        for _ in range(TEXTS):
            stream.event("name", number=6, text=TEXT)
        stream.flush()
    stream.event("bye", code=0)
    return packets_of(stream.data())


def value(metrics, serve, name):
    found = re.search(
        rf"^parasite_serve_{name} (\d+)$", metrics(serve)[1], re.M
    )
    return int(found[1])


def read_exactly(file, count):
    data = b""
    while len(data) < count:
        more = file.recv(count - len(data))
        check.true(more, len(data))
        data += more
    return data


def read_all(file):
    return b"".join(iter(lambda: file.recv(65536), b""))


def opened(serve, boot):
    reader = serve.connect(f"read guest={f'{boot:02x}' * 16}")
    check.same(reader.recv(3), b"ok\n")
    return reader


def test_slow_reader(_, serving, metrics, packets_of):
    """It alone loses bytes, which are counted while it is there; the guest,
    the sums and another reader lose none."""
    packets = talkative(70, packets_of)
    words = ("--http", 0, "--guest-kb", 100000)
    with serving(*words, name="slow") as serve, serve.connect() as guest:
        guest.sendall(packets[0])
        serve.soon_guest(boot="46" * 16)
        with opened(serve, 70) as slow, opened(serve, 70) as fast:
            # without the end, which readers are told
            for at in range(1, len(packets) - 1, PIECE):
                piece = b"".join(
                    packets[at : min(at + PIECE, len(packets) - 1)]
                )
                guest.sendall(piece)
                check.true(read_exactly(fast, len(piece)) == piece, at)
            dropped = value(metrics, serve, "reader_dropped_bytes_total")
            check.true(0 < dropped < sum(map(len, packets)), dropped)
            check.same(value(metrics, serve, "readers"), 2)
            guest.sendall(packets[-1])
            guest.close()
            check.true(read_all(fast) == packets[-1], "the end")
            got = read_all(slow)
            dropped = value(metrics, serve, "reader_dropped_bytes_total")
            check.same(len(got) + dropped, sum(map(len, packets[1:])))
            first = b"".join(packets[1:])[: 1 << 20]
            check.true(got.startswith(first), "what there was room for")
        serve.stop()
        sums = serve.sums()
        check.same(sums["ticks"], len(packets) - 1)
        check.same((sums["dropped"], sums["missed"]), (0, 0))
        check.same(serve.rows("losses"), [])
