# SPDX-License-Identifier: Apache-2.0
"""Streams of objects that make_tasks wrote, and packets of them."""

import json
import struct

from harness.suite import run

END = 28  # of a packet's head: the time of its last event
CONTENT = 44  # bits
CRC = 60
MAGIC = bytes.fromhex("c11ffcc1")


def _crc_table():
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Made:
    """What make_tasks wrote: .data, and .says, what is in it."""

    def __init__(self, s, *words):
        done = run(s.build / "host/make_tasks", *words)
        self.data, self.says = done.data, json.loads(done.err)

    def packets(self):
        """The packets, each as a bytearray."""
        found, at = [], 0
        while at < len(self.data):
            bits = struct.unpack_from("<I", self.data, at + CONTENT + 4)[0]
            found.append(bytearray(self.data[at : at + bits // 8]))
            at += bits // 8
        return found


def sealed(packet):
    """With the checksum that it should have."""
    packet[CRC : CRC + 4] = bytes(4)
    packet[CRC : CRC + 4] = struct.pack("<I", crc32c(packet))
    return packet
