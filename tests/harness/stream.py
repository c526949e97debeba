# SPDX-License-Identifier: Apache-2.0
"""Writes streams as a guest does. What it knows of events is the table
<prof/events.def>."""

import re
import struct
from pathlib import Path

CLOCK_HZ = 10_000_000
TSC_HZ = 2_000_000_000
TEXT = 0x100000  # where the image's code begins
BUILD_ID = bytes(range(0xA0, 0xA0 + 20))
DISCARDED = 36  # of a packet's head, as are
CRC, CRC_BYTES = 60, 4
SAMPLE, LEAF, NODE = range(3)  # tags of short events
_HEAD = struct.Struct("<I16s3Q3I2HIQ")
TYPES = {  # as struct has them
    **{"uint8": "B", "object_kind": "B", "name8": "B", "tiny": "B"},
    **{"uint16": "H", "near": "H", "walk_stop": "H", "int16": "h"},
    **{"uint32": "I", "uint64": "Q", "address": "Q", "clock": "Q"},
    **{"int64": "q", "bytes32": "32s", "text": "s"},
}


def _table():
    """{name: (kind, ((field, type), ...))}"""
    events = {}
    for name in ("events", "events_statistics"):
        path = Path(f"profiler/include/prof/{name}.def")
        for event, kind, field_type, field in re.findall(
            r"PROF_(?:EVENT|BARE)\(\w+, (\w+), (\d+)|"
            r"PROF_FIELD\((\w+),\s*(\w+)",
            path.read_text(encoding="utf-8").partition("*/")[2],
        ):
            if event:
                fields = []
                events[event] = int(kind), fields
            elif events:
                fields.append((field, field_type))
    return events


EVENTS = _table()


def names(macro):
    """{number: name} of PROF_OBJECT or PROF_WALK_STOP."""
    table = Path("profiler/include/prof/events.def").read_text()
    found = re.findall(rf"^{macro}\(\w+, (\w+), (\d+)", table, re.M)
    return {int(number): name for name, number in found}


def _crc_table():
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


_CRC = _crc_table()


def sealed(packet):
    """The bytearray (packet) with the CRC-32C that it should have."""
    packet[CRC : CRC + CRC_BYTES] = bytes(CRC_BYTES)
    crc = 0xFFFFFFFF
    for byte in packet:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    struct.pack_into("<I", packet, CRC, crc ^ 0xFFFFFFFF)
    return packet


def discarding(packet, samples):
    """The packet, of a guest that had no room for so many until then."""
    packet = bytearray(packet)
    struct.pack_into("<Q", packet, DISCARDED, samples)
    return bytes(sealed(packet))


class Stream:
    """Each event comes (step) clocks after the one before, in packets of at
    most (room) bytes; every byte of the uuid is (boot). They are of CPU 0, or
    of that of the last on_cpu()."""

    def __init__(self, step=0, boot=0, room=4096):
        self.step, self.boot, self.room = step, boot, room
        self.time = self.begin = self.last = 0  # last: event that has a time
        self.packet, self.packets = b"", []
        self.cpu, self.sequences = 0, {}

    def data(self):
        self.flush()
        return b"".join(self.packets)

    def flush(self):
        """Finishes the packet in the making."""
        if not self.packet:
            return
        bits = 8 * (_HEAD.size + len(self.packet))
        sequence = self.sequences.setdefault(self.cpu, 0)
        self.sequences[self.cpu] += 1
        head = _HEAD.pack(
            *(0xC1FC1FC1, bytes([self.boot] * 16), self.begin, self.last),
            *(0, bits, bits, sequence, self.cpu, 3, 0, TEXT),
        )
        self.packets.append(sealed(bytearray(head + self.packet)))
        self.packet = b""

    def on_cpu(self, cpu, time):
        """What follows is of (cpu), from (time) on."""
        self.flush()
        self.cpu, self.time = cpu, time

    def _make_room(self, size, step):
        if _HEAD.size + len(self.packet) + size > self.room:
            self.flush()
        self.time += step
        if not self.packet:
            self.begin = self.last = self.time

    @staticmethod
    def fields(name, **values):
        """The bytes of an event's fields; those that are not given are 0."""
        data = b""
        for field, kind in EVENTS[name][1]:
            code = TYPES[kind]
            value = values.pop(field, b"" if code[-1] == "s" else 0)
            if code == "s":
                data += value.encode() + b"\0"
            else:
                data += struct.pack("<" + code, value)
        assert not values, values
        return data

    def put(self, kind, data):
        """An event with these fields."""
        size = 3 if 57 <= kind <= 62 else 4
        if kind >= 64:
            data, kind = bytes([kind, len(data)]) + data, 63
        self._make_room(size + len(data), self.step)
        head = (self.time << 8 | kind << 2 | 3) & (1 << 8 * size) - 1
        self.packet += head.to_bytes(size, "little") + data
        self.last = self.time

    def event(self, name, **values):
        self.put(EVENTS[name][0], self.fields(name, **values))

    def hello(self, build_id=BUILD_ID):
        self.event(
            "hello",
            version=3,
            pointer_bits=64,
            tsc_hz=TSC_HZ,
            unix_seconds=1_700_000_000,
            text_begin=TEXT,
            text_end=0x200000,
            build_id_bytes=20,
            build_id=build_id,
        )

    def begins(self, rate_mhz=1_000_000, build_id=BUILD_ID):
        self.hello(build_id)
        self.event("start", rate_mhz=rate_mhz, depth=64)

    # ---- short events

    def _put_stack(self, parent, address):
        where = (address - TEXT) << 14 | parent
        self.packet += where.to_bytes(5, "little")

    def _put_sample(self, tag, node):
        word = node << 18 | (self.time & 0xFFFF) << 2 | tag
        self.packet += struct.pack("<I", word)
        self.last = self.time

    def node(self, node, parent, address):
        """Defines a stack; happens at no time."""
        self._make_room(7, 0)
        self.packet += struct.pack("<H", node << 2 | NODE)
        self._put_stack(parent, address)

    def leaf(self, node, parent, address):
        """Defines a stack, and is a sample of it."""
        self._make_room(9, self.step)
        self._put_sample(LEAF, node)
        self._put_stack(parent, address)

    def sample(self, node):
        if self.packet and self.time + self.step - self.last >= 1 << 16:
            self.event("sample_late", node=node)
            return
        self._make_room(4, self.step)
        self._put_sample(SAMPLE, node)
