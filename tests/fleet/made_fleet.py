# SPDX-License-Identifier: Apache-2.0
"""A store of two services with planted defects, as rows of RowBinary.

Service web has 100 guests. Guests 0 to 49 run its old build, 50 to 99 the new
one, in which SLOW takes 30 % longer. Guest 42 serves other requests than all
others, and packets of it never came; guest 17 loses a tenth of its ticks,
guest 8 a batch on the way to the store; guest 20 was captured at a higher rate
for a minute. Service mail has 8 guests of one build. Samples are drawn from
each guest's mix of stacks, so shares vary as those of real samples do; the
numbers are the same in each run. Two hours later service still has six guests
of two builds that do nothing, and two hours after that service often has a
guest in each minute, each of another build."""

import bisect
import hashlib
import itertools
import random
import struct

BEGIN = 1793577600  # 2026-11-02 00:00:00 UTC
BUCKET, BUCKETS, HZ = 60, 10, 100
TICKS = BUCKET * HZ
WEIGHT = 10_000_000 // HZ  # of a sample, 100 ns
SLOW, SLOWER = "json_parse", 1.3
GUESTS, OLD_GUESTS, MAIL_GUESTS = 100, 50, 8
OTHER_MIX, LOSES, LOST_BATCH = 42, 17, 8
LOST_ROWS, LOST_TICKS = 120, 6000
# (what, packets) of OTHER_MIX: as they are named now, and were before; with
# more ticks than it has samples, most of them idle
MISSING = (("samples", 4), ("packets", 3))
MISSING_TICKS = TICKS * BUCKETS
CAPTURED, CAPTURE_HZ = 20, 997
# what tasks of web wait for in each minute: (place, line), reason, times, ns
WAITS = (
    (("accept.c", 40), "read", 90, 5_000_000),
    (("accept.c", 40), "sleep", 10, 7_000_000),
    (("query.c", 7), "read", 3, 900_000),
)
BUSY = 0.6

STILL, STILL_BEGIN, STILL_GUESTS = "still", BEGIN + 7200, 6
OFTEN, OFTEN_BEGIN, OFTEN_BUILDS = "often", BEGIN + 14400, 11

HANDLERS = ("get", "post", "list", "login")
LEAVES = {
    "json_parse": 12,
    "memcpy": 9,
    "sha256_block": 7,
    "tcp_output": 6,
    "malloc": 4,
    "free": 3,
    "route_find": 2,
    "strlen": 1,
}
TABLES = (
    "samples",
    "stacks",
    "accounts",
    "loop",
    "waits",
    "guests",
    "losses",
)


def build_id(name):
    return hashlib.sha1(name.encode(), usedforsecurity=False).digest()


OLD, NEW, MAIL = (build_id(name) for name in ("web 1", "web 2", "mail 1"))


def number_of(*words):
    """A 64-bit number of these words, never 0."""
    text = "/".join(map(str, words)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "little") | 1


def guest_number(service, index):
    """That of LOSES begins with a zero."""
    number = number_of("guest", service, index)
    return number >> 8 | 1 if (service, index) == ("web", LOSES) else number


# ---- RowBinary


def varint(number):
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return varint(len(data)) + data


def key(bucket, service, build, guest):
    return (
        struct.pack("<HI", bucket // 86400, bucket)
        + text(service)
        + build
        + struct.pack("<Q", guest)
    )


# ---- what runs


def stacks_of(service, build):
    """{number: (names, frames, weight)}: root first."""
    found = {}
    roots = HANDLERS if service == "web" else ("deliver", "queue")
    for place, (root, leaf) in enumerate(itertools.product(roots, LEAVES)):
        names = ("main", "loop_run", f"handle_{root}", leaf)
        frames = (0x100, 0x200, 0x1000 + place, 0x2000 + place)
        weight = LEAVES[leaf] * (1 + roots.index(root))
        if build == NEW and leaf == SLOW:
            weight *= SLOWER
        found[number_of(build.hex(), *frames)] = (names, frames, weight)
    return found


class Guest:
    def __init__(self, service, index, build):
        self.service, self.index, self.build = service, index, build
        self.number = guest_number(service, index)
        self.random = random.Random(f"{service} {index}")
        stacks = stacks_of(service, build)
        weights = []
        for names, _, weight in stacks.values():
            if self.is_("web", OTHER_MIX) and names[2] == "handle_login":
                weight *= 4
            weights.append(weight * self.random.uniform(0.97, 1.03))
        self.stacks = list(stacks)
        self.sums = list(itertools.accumulate(weights))
        self.busy = BUSY * self.random.uniform(0.97, 1.03)

    def is_(self, service, index):
        return (self.service, self.index) == (service, index)

    def key(self, bucket):
        return key(bucket, self.service, self.build, self.number)

    def bucket(self, bucket, out):
        ticks = TICKS
        missed = ticks // 10 if self.is_("web", LOSES) else 0
        masked, unresolved, dropped = 12, 3, 0
        attributed = int(
            (ticks - missed) * self.busy * self.random.uniform(0.99, 1.01)
        )
        idle = ticks - missed - attributed - masked - unresolved - dropped
        counts = {0: 2}  # attributed, without a stack
        for _ in range(attributed - 2):
            at = bisect.bisect(self.sums, self.random.random() * self.sums[-1])
            stack = self.stacks[at]
            counts[stack] = counts.get(stack, 0) + 1
        head = self.key(bucket)
        for stack, count in counts.items():
            out["samples"] += head + struct.pack(
                "<HbQQQ", 0, 1, stack, count, count * WEIGHT
            )
        out["accounts"] += head + struct.pack(
            "<H8Q",
            *(0, ticks, attributed, idle, masked, unresolved, dropped),
            *(missed, 30_000_000 * (self.index % 3)),
        )
        slow = 8 if self.is_("web", OTHER_MIX) else 1
        for measure in (0, 1):
            for low, count in ((1_000, 900), (50_000, 90), (400_000, 30)):
                out["loop"] += head + struct.pack(
                    *("<HQbQQ", 0, 0x3000, measure),
                    *(low * (slow if measure else 1), count),
                )

        for (file, line), why, count, time in WAITS:
            if self.service == "web":
                out["waits"] += (
                    head
                    + struct.pack("<Q", number_of(file, line))
                    + text(why)
                    + struct.pack("<QQ", count, time)
                )

    def row(self, seen=BEGIN, hz=HZ):
        """Who it is."""
        labels = (f"zone={'ab'[self.index % 2]}",)
        return (
            self.key(BEGIN)
            + hashlib.md5(
                f"{self.service} {self.index}".encode(), usedforsecurity=False
            ).digest()
            + text(f"host{self.index % 4}")
            + text(f"shm:/dev/shm/{self.service}-{self.index}")
            + varint(len(labels))
            + b"".join(map(text, labels))
            + struct.pack("<IHI", seen, 1, hz * 1000)
            + text(f"{self.service}.elf")
        )


def guests():
    for index in range(GUESTS):
        yield Guest("web", index, OLD if index < OLD_GUESTS else NEW)
    for index in range(MAIL_GUESTS):
        yield Guest("mail", index, MAIL)


def still_accounts():
    """All ticks are idle."""
    for index in range(STILL_GUESTS):
        yield key(
            *(STILL_BEGIN, STILL, (OLD, NEW)[index % 2]),
            guest_number(STILL, index),
        ) + struct.pack("<H8Q", 0, TICKS, 0, TICKS, 0, 0, 0, 0, 0)


def often_accounts():
    """All ticks are idle, too."""
    for index in range(OFTEN_BUILDS):
        yield key(
            *(OFTEN_BEGIN + BUCKET * index, OFTEN, build_id(f"often {index}")),
            guest_number(OFTEN, index),
        ) + struct.pack("<H8Q", 0, TICKS, 0, TICKS, 0, 0, 0, 0, 0)


def tables():
    """{table: bytes}"""
    out = {name: bytearray() for name in TABLES}
    for build in (OLD, NEW):
        for file, line in {place for place, *_ in WAITS}:
            out["stacks"] += (
                build
                + struct.pack("<Q", number_of(file, line))
                + varint(0)
                + varint(1)
                + text(f"{file}:{line}")
                + bytes([1])
            )
    for service, build in (("web", OLD), ("web", NEW), ("mail", MAIL)):
        for stack, (names, frames, _) in stacks_of(service, build).items():
            for named in (0, 1):  # at first without names
                out["stacks"] += (
                    build
                    + struct.pack("<Q", stack)
                    + varint(len(frames))
                    + struct.pack(f"<{len(frames)}I", *frames)
                    + varint(named * len(names))
                    + named * b"".join(map(text, names))
                    + bytes([named])
                )
    out["accounts"] += b"".join(still_accounts())
    out["accounts"] += b"".join(often_accounts())
    for guest in guests():
        out["guests"] += guest.row()
        if guest.is_("web", CAPTURED):
            out["guests"] += guest.row(BEGIN + 60, CAPTURE_HZ)
            out["guests"] += guest.row(BEGIN + 120)
        for bucket in range(BUCKETS):
            guest.bucket(BEGIN + bucket * BUCKET, out)
        losses = ()
        if guest.is_("web", LOST_BATCH):
            losses = (("samples", "spool full", LOST_ROWS, LOST_TICKS),)
        if guest.is_("web", OTHER_MIX):
            losses = [
                (what, "packets missing", packets, MISSING_TICKS)
                for what, packets in MISSING
            ]
        for entry, (what, why, rows, amount) in enumerate(losses):
            out["losses"] += (
                guest.key(BEGIN)
                + text("host0")
                + text(what)
                + text(why)
                + struct.pack("<QQQ", 1 + entry, rows, amount)
            )
    return {name: bytes(data) for name, data in out.items()}
