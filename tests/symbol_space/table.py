# SPDX-License-Identifier: Apache-2.0
"""Reads ELF files and symbol tables (<prof/symtab.h>) without any of ours."""

import hashlib
import struct

HEAD = struct.Struct("<4I Q 16I")
MAGIC, VERSION = 0x4D595350, 3


class Table:
    """The table at the beginning of (data)."""

    def __init__(self, data):
        magic, version, self.bytes, _, self.base, *words = HEAD.unpack_from(
            data
        )
        assert (magic, version) == (MAGIC, VERSION)
        count, offsets = words[0:2]
        tokens, tokens_bytes, names, _, self.bits, id_bytes = words[10:16]
        self.build_id = data[HEAD.size : HEAD.size + id_bytes].hex()
        starts = struct.unpack_from(f"<{count + 1}I", data, offsets)
        self.functions = {}
        texts = self._texts(data, tokens) if tokens_bytes else None
        before = b""
        for i in range(count):
            shared, length = data[names], data[names + 1]
            names += 2
            if length >= 128:
                length = (length - 128) * 256 + data[names]
                names += 1
            codes = data[names : names + length]
            names += length
            own = b"".join(texts[c] for c in codes) if texts else codes
            before = before[:shared] + own
            if before:
                self.functions[before.decode()] = self.base + starts[i]

    @staticmethod
    def _texts(data, at):
        begins = struct.unpack_from("<257H", data, at)
        texts = data[at + 514 :]
        return [texts[a:b] for a, b in zip(begins, begins[1:])]


class Elf:
    """Program headers of an ELF file of either width."""

    def __init__(self, path):
        self.data = path.read_bytes()
        self.wide = self.data[4] == 2
        if self.wide:
            at, _ = struct.unpack_from("<QQ", self.data, 32)
            self.head, size, count = struct.unpack_from("<3H", self.data, 52)
            form, order = "<IIQQQQQQ", (2, 3, 5, 6)
        else:
            at, _ = struct.unpack_from("<II", self.data, 28)
            self.head, size, count = struct.unpack_from("<3H", self.data, 40)
            form, order = "<IIIIIIII", (1, 2, 4, 5)
        self.headers = [(0, self.head), (at, at + size * count)]
        self.parts = []  # (offset, address, bytes in file, bytes in memory)
        for i in range(count):
            words = struct.unpack_from(form, self.data, at + i * size)
            if words[0] == 1:
                self.parts.append(tuple(words[i] for i in order))

    def place(self, address):
        """The offset in the file of what is loaded to (address)."""
        for at, start, count, _ in self.parts:
            if start <= address < start + count:
                return at + address - start
        raise AssertionError(f"nothing is loaded to 0x{address:x}")

    def build_id(self, space, space_bytes):
        """What `parasite embed` makes for an image without one."""
        sha = hashlib.sha1()
        but = [*self.headers, (space, space + space_bytes)]
        for at, address, count, memory in self.parts:
            sha.update(struct.pack("<QQ", address, memory))
            sha.update(
                bytes(
                    self.data[i]
                    for i in range(at, at + count)
                    if not any(a <= i < b for a, b in but)
                )
            )
        return sha.hexdigest()
