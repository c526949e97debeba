# SPDX-License-Identifier: Apache-2.0
"""A bad wire between a guest and QEMU's user network:

    guest -- FOLDER/guest.qemu | FOLDER/guest.wire -- this
    this -- FOLDER/host.wire | FOLDER/host.qemu -- user network

Each datagram is one frame. Random numbers are the same in each run."""

import collections
import random
import select
import socket
import struct
import threading
import time
from contextlib import suppress

LATE_S = 0.02
FRAME_MAX = 2048
IP, ARP = b"\x08\x00", b"\x08\x06"
IP_BYTES = TCP_BYTES = 20
TCP, UDP, ICMP = 6, 17, 1
SYN = 2  # among the flags
FLOOD_NET, FLOOD_MASK = 0xC6120000, 0x1FFFF  # 198.18.0.0/15: tests, RFC 2544
GUEST_IP = bytes((10, 0, 2, 15))  # as the user network gives it


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", ~total & 0xFFFF)


class End:
    def __init__(self, folder, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"{folder}/{name}.wire")
        self.qemu = f"{folder}/{name}.qemu"
        self.mac = bytes(6)  # source of the last frame from there
        self.late = b""  # held back until the next frame has passed

    def put(self, frame):
        """It is lost if QEMU has not begun yet or has ended."""
        with suppress(OSError):
            self.socket.sendto(frame, self.qemu)

    def put_late(self):
        """Sends what was held back, after the next frame or LATE_S."""
        if self.late:
            self.put(self.late)
        self.late = b""


class Wire:
    """Works in a thread, to the end of a `with` block.

    (bad)     how many frames of a thousand, in either direction, are "lost",
              come "twice", are "damaged", or come "late", after the next one
    (mute)    all segments that the guest sends from this port are lost, except
              SYNs
    (counts)  of frames to which that happened, and of "answers" to a flood,
              which come no further
    """

    def __init__(self, folder):
        self.guest, self.host = (End(folder, n) for n in ("guest", "host"))
        self.bad, self.mute = collections.Counter(), None
        self.counts = collections.Counter()
        self.random, self.over = random.Random(1), False
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.host.socket.sendto(b"", self.guest.socket.getsockname())
        self.thread.join()
        for end in (self.guest, self.host):
            end.socket.close()

    # ---- frames between the two ends

    def _run(self):
        ends = {
            self.guest.socket: (self.guest, self.host),
            self.host.socket: (self.host, self.guest),
        }
        while not self.over:
            any_late = self.guest.late or self.host.late
            ready = select.select(ends, [], [], LATE_S if any_late else None)[0]
            for end in () if ready else (self.guest, self.host):
                end.put_late()
            for one in ready:
                self._take(*ends[one], one.recv(FRAME_MAX))

    def _take(self, source, to, frame):
        if len(frame) < 14:
            return
        source.mac = frame[6:12]
        if source is self.guest and self._answers_flood(frame):
            self.counts["answers"] += 1
        elif source is self.guest and self._is_muted(frame):
            self.counts["lost"] += 1
        else:
            self._pass(to, frame)

    def _answers_flood(self, frame):
        is_ip = frame[12:14] == IP and len(frame) >= 34
        to = int.from_bytes(frame[30:34], "big")
        return is_ip and to & ~FLOOD_MASK == FLOOD_NET

    def _is_muted(self, frame):
        if len(frame) < 54 or frame[12:15] != IP + b"\x45" or frame[23] != TCP:
            return False
        port = int.from_bytes(frame[34:36], "big")
        return port == self.mute and not frame[47] & SYN

    def _hit(self, what):
        happens = self.random.random() * 1000 < self.bad[what]
        self.counts[what] += happens
        return happens

    def _pass(self, to, frame):
        if self._hit("lost"):
            return
        if self._hit("damaged"):
            frame = bytearray(frame)
            frame[
                self.random.randrange(len(frame))
            ] ^= 1 << self.random.randrange(8)
        if not to.late and self._hit("late"):
            to.late = frame
            return
        to.put(frame)
        if self._hit("twice"):
            to.put(frame)
        to.put_late()

    # ---- frames made here

    def _put_each(self, count, frame_of):
        for number in range(count):
            self.guest.put(frame_of(random.Random(number), number))
            if number % 16 == 15:
                time.sleep(0.001)

    def _head(self, kind=IP):
        return self.guest.mac + self.host.mac + kind

    def flood(self, count, port):
        """Sends the guest SYNs from as many addresses beyond the gateway."""

        def syn(any_number, number):
            source = struct.pack(">I", FLOOD_NET | number & FLOOD_MASK)
            sizes = (IP_BYTES + TCP_BYTES, 0, 0, 64, TCP)
            ip = struct.pack(">2B3H2BH", 0x45, 0, *sizes, 0) + source + GUEST_IP
            ports = (any_number.randrange(1024, 61024), port)
            tcp = struct.pack(">HHI", *ports, any_number.getrandbits(32))
            tcp += struct.pack(">I2BHI", 0, TCP_BYTES // 4 << 4, SYN, 1024, 0)
            pseudo = source + GUEST_IP + struct.pack(">HH", TCP, TCP_BYTES)
            ip = ip[:10] + checksum(ip) + ip[12:]
            tcp = tcp[:16] + checksum(pseudo + tcp) + tcp[18:]
            return self._head() + ip + tcp

        self._put_each(count, syn)

    def noise(self, count):
        """Sends the guest frames that are too short, too long or of a random
        type; or IP or ARP with random contents, some of it to the guest with a
        valid checksum."""

        def frame(any_number, _):
            size = any_number.randrange(1, 1601)
            data = bytearray(any_number.randbytes(max(size, 34)))
            kind = any_number.choices((None, ARP, IP), (50, 15, 35))[0]
            if kind:
                data[:14] = self._head(kind)
                data[14] = 0x45 if kind == IP else data[14]
            if kind and any_number.random() < 0.5:
                data[16:18] = struct.pack(">H", size)
                data[23] = any_number.choice((TCP, TCP, UDP, ICMP))
                data[24:34] = bytes(2) + data[26:30] + GUEST_IP
                data[24:26] = checksum(data[14:34])
            return data[:size]

        self._put_each(count, frame)
