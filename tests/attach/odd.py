# SPDX-License-Identifier: Apache-2.0
"""Images whose numbers fit no 32 bits or no address, and stacks that end where
addresses do."""

import re
import struct

import fake
from harness.suite import check, run

WIDE = 2**32
SP, RETURN = 7, 16  # registers, by the psABI
# rules that would find a wrong caller if their upper halves were cut off
RULES = {
    "register": (0x0C, SP + WIDE, 24),
    "offset": (0x0C, SP, 24 + WIDE),
    "return address": (0x0C, SP, 24, 0x05, RETURN, WIDE // 8 + 1),
}
PLAIN = 4096
ALIGNS = (1 << 60, 0x1801)


def uleb(number):
    """The bytes of a number in DWARF."""
    data = []
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return [*data, number]


def image(s, name, rule, text=fake.CODE):
    """A function that sets up a frame pointer, with other rules (rule)."""
    source, made, linked = (s.work / f"{name}.{k}" for k in ("s", "o", "elf"))
    escaped = ", ".join(str(byte) for n in rule for byte in uleb(n))
    source.write_text(
        ".globl _start\n.type _start, @function\n_start: .cfi_startproc\n"
        + (f".cfi_escape {escaped}\n" if rule else "")
        + "push %rbp\nmov %rsp, %rbp\n.skip 256, 0x90\n.cfi_endproc\n"
        ".size _start, . - _start\n"
    )
    run("as", "-o", made, source)
    run("ld", "--build-id", f"-Ttext={text:#x}", "-o", linked, made)
    return linked


def align(path, value):
    """Writes the alignment of all program headers."""
    data = bytearray(path.read_bytes())
    at, size, count = struct.unpack_from("<Q14x2H", data, 32)
    for i in range(count):
        struct.pack_into("<Q", data, at + i * size + 48, value)
    path.write_bytes(data)


def frames(attach, kind, *words):
    """How many frames one look at a stub shows, and the stub."""
    with kind() as stub:
        shown = attach("--once", *words, stub.target).out
    return len(re.findall(r"^ +[0-9]+  0x", shown, re.MULTILINE)), stub


def odd(s, attach):
    for what, rule in RULES.items():
        with s.test(f"call frame information: a {what} of more than 32 bits"):
            made = image(s, what.split()[0], rule)
            count, _ = frames(attach, fake.Inside, "-k", made)
            check.same(count, fake.CALLERS + 1)
    with s.test("an alignment that leaves no place is not searched by"):
        made = image(s, "aligned", (), 0x400000)
        reads = {}
        for value in (PLAIN, *ALIGNS):
            align(made, value)
            reads[value] = frames(attach, fake.Unknown, "-k", made)[1].total
        check.true(reads[PLAIN] > 0, reads)
        for value in ALIGNS:
            check.same(reads[value], reads[PLAIN], reads)
    with s.test("no frame reaches around the last address"):
        check.same(frames(attach, fake.Around)[0], 1)
