# SPDX-License-Identifier: Apache-2.0
"""Writes traces as other recorders do: mirage-profile's packets, and
eio-trace's records of the Fuchsia trace format."""

import struct

LOOP = -1  # mirage-profile's number of whatever runs outside of threads
MIRAGE_MAGIC = struct.pack("<I", 0xC1FC1FC1) + bytes.fromhex(
    "05883b8d521a487bb397456ab150680c"
)
TYPES = (
    "wait task bind try choose pick join map condition on_success on_failure "
    "on_termination on_any ignore_result async promise semaphore switch"
).split()


class Mirage:
    """Events at (time) ns; each is put into the packet in the making."""

    KINDS = (
        "creates read fulfills fails becomes label increase switch gc signal "
        "try_read counter read_later signal_only"
    ).split()

    def __init__(self):
        self.time = 5_000_000_000
        self.packets = [b""]

    def put(self, kind, *fields, after=1000):
        """Numbers, texts, and for `creates` a type."""
        self.time += after
        data = struct.pack("<QB", self.time, self.KINDS.index(kind))
        for field in fields:
            if field in TYPES and kind == "creates":
                data += bytes([TYPES.index(field)])
            elif isinstance(field, str):
                data += field.encode() + b"\0"
            else:
                data += struct.pack("<q", field)
        self.packets[-1] += data

    def next_packet(self):
        self.packets.append(b"")

    def data(self, size=4096, first=0, turn=0):
        """The ring, which holds the packets numbered from (first) on, the
        oldest of them at place (turn)."""
        ring = []
        for number, events in enumerate(self.packets):
            content = 30 + len(events)
            assert content <= size
            ring.append(
                MIRAGE_MAGIC
                + struct.pack(
                    "<IHI", size * 8, (first + number) % 65536, content * 8
                )
                + events.ljust(size - 30, b"\0")
            )
        turn = len(ring) - turn
        return b"".join(ring[turn:] + ring[:turn])


def words(data):
    """Padded to words of 64 bits."""
    return data + bytes(-len(data) % 8)


class Eio:
    """Records of eio-trace. Strings are defined before their first use, threads
    before their second."""

    INSTANT, BEGIN, END = 0, 2, 3

    def __init__(self):
        self.time = 7_000_000_000
        self.records = [struct.pack("<Q", 0x0016547846040010)]
        self.strings, self.threads = {}, {}

    def record(self, kind, head, body):
        body = words(body)
        size = 1 + len(body) // 8
        self.records.append(
            struct.pack("<Q", kind | size << 4 | head << 16) + body
        )

    def string(self, text):
        if text not in self.strings:
            number = len(self.strings) + 1
            data = text.encode()
            self.record(2, number | len(data) << 16, data)
            self.strings[text] = number
        return self.strings[text]

    def thread(self, number):
        """(reference, what follows): in line the first time."""
        inline = struct.pack("<QQ", 99, number)
        if number not in self.threads:
            self.threads[number] = 0
            return 0, inline
        if self.threads[number] == 0:
            self.threads[number] = max(self.threads.values()) + 1
            self.record(3, self.threads[number], inline)
        return self.threads[number], b""

    def arguments(self, values):
        data = b""
        for name, value in values.items():
            reference = self.string(name)
            if isinstance(value, str):  # in line
                text = words(value.encode())
                head = 6 | 1 + len(text) // 8 << 4 | reference << 16
                head |= (0x8000 | len(value.encode())) << 32
                data += struct.pack("<Q", head) + text
            else:
                data += struct.pack("<QQ", 7 | 2 << 4 | reference << 16, value)
        return data

    def event(self, kind, thread, category, name, after=1000, **values):
        self.time += after
        category, name = self.string(category), self.string(name)
        arguments = self.arguments(values)
        reference, inline = self.thread(thread)
        self.record(
            4,
            kind
            | len(values) << 4
            | reference << 8
            | category << 16
            | name << 32,
            struct.pack("<Q", self.time) + inline + arguments,
        )

    def wake(self, fiber, cpu=0, after=1000):
        self.time += after
        self.record(8, cpu << 4 | 2 << 44, struct.pack("<QQ", self.time, fiber))

    def name(self, fiber, text):
        reference, inline = self.thread(fiber << 2 | 2)
        name = self.string(text)
        self.record(6, reference | name << 8, struct.pack("<Q", fiber) + inline)

    def data(self):
        return b"".join(self.records)


def ring(number):
    """A domain's thread."""
    return number << 2 | 1


def fiber(number):
    return number << 2 | 2
