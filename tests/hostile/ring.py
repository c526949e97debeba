# SPDX-License-Identifier: Apache-2.0
"""A guest's RAM in which the ring is not what a guest makes of it, and the file
that it is in."""

import os
import re
import signal
import struct

from harness.suite import background, check, run, soon

MAGIC = 0x676E6972666F7270
AT, RAM = 0x1000, 1 << 20


class Ram:
    """A file of RAM, and an image that says where its ring is."""

    def __init__(self, hostile):
        self.hostile, self.parasite = hostile, hostile.parasite
        self.path = hostile.work / "ram"
        self.trace = hostile.work / "ram.trace"

    def image(self, address=AT):
        source, made = (self.hostile.work / f"ring.{end}" for end in "so")
        image = self.hostile.work / f"ring{address:x}.elf"
        source.write_text(
            "    .globl _start, prof_share_ring\n    .text\n_start: ret\n"
            "    .type prof_share_ring, @object\n"
            f"prof_share_ring = {address:#x}\n"
        )
        run("as", "-o", made, source)
        run("ld", "-o", image, made)
        return image

    def fill(self, address, count, written, content=b""):
        data = bytearray(RAM)
        fields = struct.pack("<6Q", MAGIC, address, count, written, 0, 0)
        data[AT : AT + len(fields)] = fields
        data[address : address + len(content)] = content
        self.path.write_bytes(data)

    def words(self, *words, address=AT):
        image = self.image(address)
        target = f"shm:{self.path}"
        return ("record", "-o", self.trace, "-k", image, *words, target)


def written_may_be_anything(ram):
    """Recording ends by itself, with what is there."""
    packets = ram.hostile.good(5000)
    room = 1 << 16
    content = packets[: room // 4096 * 4096]
    for written in (
        2**64 - 1,
        2**64 - 8,
        2**63,
        room + 1,
        2**64 - room,
    ):
        ram.fill(0x10000, room, written, content)
        ram.parasite(*ram.words("-q"), status=(0, 1))
        ram.parasite(*ram.words("-q", "-d", 0.2), status=(0, 1))


def recording_can_be_interrupted(ram):
    """Also while the guest moves its count on and on."""
    ram.fill(0x10000, 1 << 16, 2**64 - 1)
    with background(
        *(ram.parasite.path, *ram.words("-d", 100000)),
        log=ram.hostile.work / "recorder.log",
    ) as recorder:
        with open(ram.path, "r+b", buffering=0) as out:
            soon(lambda: read_at(ram) != 0, "it reads", recorder.alive)
            for i in range(50):
                out.seek(AT + 24)
                out.write(struct.pack("<Q", 2**64 - 1 - i % 7 * 4096))
        recorder.signal(signal.SIGINT)
        recorder.end((0, 1))


def read_at(ram):
    with open(ram.path, "rb") as file:
        file.seek(AT + 32)
        return struct.unpack("<Q", file.read(8))[0]


def ring_must_be_in_ram(ram):
    for address, count in (
        (RAM, 1 << 16),
        (2**64 - 8, 1 << 16),
        (0x10000, 1 << 31),
        (0x10000, 0),
        (0x10000, 12345),
        (0x10000, 8),
    ):
        ram.fill(0, 0, 0)
        with open(ram.path, "r+b") as out:
            out.seek(AT)
            out.write(struct.pack("<4Q", MAGIC, address, count, 4096))
        said = ram.parasite(*ram.words(), status=1).err
        check.contains(said, "the ring in it is damaged")


def address_may_be_anything(ram):
    ram.fill(0x10000, 1 << 16, 4096)
    for address in (2**64 - 1, 2**64 - 8, 2**64 - 48, RAM - 8, RAM):
        said = ram.parasite(*ram.words(address=address), status=1).err
        check.has(said, "no ring at|no address of a ring")
    # attach looks for a ring too, and goes on without one
    for address in (2**64 - 1, 2**64 - 4, 2**64 - 8, RAM - 4, RAM):
        said = ram.parasite(
            *("attach", "-o", ram.trace, "-k", ram.image(address)),
            *("--ram", ram.path, "gdb:localhost:1"),
            status=1,
        ).err
        check.has(said, "localhost:1: Connection refused")


def headers_may_be_any_number(ram):
    """Of program headers an image may claim 2^32 - 1, in its section 0, and
    that they are beyond its end."""
    ram.fill(0x10000, 1 << 16, 4096)
    image = ram.image()
    data = bytearray(image.read_bytes())
    sections = struct.unpack_from("<Q", data, 40)[0]
    struct.pack_into("<Q", data, 32, 1 << 40)
    struct.pack_into("<H", data, 56, 0xFFFF)
    struct.pack_into("<I", data, sections + 44, 2**32 - 1)
    words = ram.words("-q")  # makes the image anew
    image.write_bytes(data)
    run(ram.parasite.path, *words, status=(0, 1), cpu_limit=15)
    run(
        *(ram.parasite.path, "embed", "-o", f"{image}.out", image),
        status=(0, 1),
        cpu_limit=15,
    )


def file_is_the_users_own(ram):
    """Its name cannot be guessed, and it is there before QEMU starts."""
    work = ram.hostile.work
    machine = work / "machine"
    machine.write_text(
        "#!/bin/sh\n"
        "path=$(echo \"$@\" | sed 's/.*mem-path=\\([^,]*\\).*/\\1/')\n"
        'stat -c "%n %a %U" "$path" >"$SAID"\nexit 0\n'
    )
    machine.chmod(0o755)
    found = set()
    for i in range(3):
        said = work / f"said{i}"
        run(
            *(ram.parasite.path, "record", "-q", "-o", work / "none"),
            *("-t", "shm", "-k", ram.image(), "--", machine),
            env={"SAID": said},
            status=(0, 1, 126),
        )
        name, mode, _ = said.read_text().split()
        check.same(mode, "600")
        check.true(re.fullmatch(r"/dev/shm/parasite-\w{6}", name), name)
        check.true(not os.path.lexists(name), "it is removed")
        found.add(name)
    check.same(len(found), 3)


def test_ring(hostile):
    s, ram = hostile.s, Ram(hostile)
    for what, function in (
        ("a ring may say that anything was written", written_may_be_anything),
        ("recording it can be interrupted", recording_can_be_interrupted),
        ("a ring outside of the RAM is damaged", ring_must_be_in_ram),
        ("its address may be anything", address_may_be_anything),
        ("an image may have any number of headers", headers_may_be_any_number),
        ("the file of the RAM is the user's own", file_is_the_users_own),
    ):
        s.holds(what, function, ram)
