# SPDX-License-Identifier: Apache-2.0
"""What functions of generated programs do between their calls."""

from program import Code, Spin

# Instructions of many forms and lengths, also such whose numbers look like
# others: the search for callers has to find its way through them.
PLAIN = (
    "add eax, edx",
    "xor edx, {i32}",
    "lea eax, [wa + wd * 4 + {i8}]",
    "movzx edx, al",
    "bswap eax",
    "imul eax, edx, {i8}",
    "imul edx, eax, {i32}",
    "mov eax, [scratch]",
    "mov [scratch + 4], edx",
    "add dword [scratch + 8], {i32}",
    "cmovz eax, edx",
    "setc al",
    "test eax, {i32}",
    "test dl, {u8}",
    "bt eax, 3",
    "shld eax, edx, 5",
    "rol edx, 7",
    "neg eax",
    "not edx",
    "cdq",
    "xchg eax, edx",
    "mov byte [scratch + 12], {u8}",
    "test byte [scratch], {u8}",
    "mov word [scratch + 16], {u16}",
    "nop",
    "mul edx",
    "bsf eax, edx",
    "xadd eax, edx",
    "cmpxchg [scratch + 20], edx",
    "lock inc dword [scratch + 24]",
    "movsx eax, dl",
    "mov eax, {i32}",
    "mov edx, 0xc3c95d5d",
    "mov eax, 0xc35de8c3",
    "sbb eax, eax",
    "cmp word [scratch + 28], {u16}",
    "sar eax, 1",
    "xlatb_",
    "adc al, {u8}",
)


def plain(random, count):
    """(count) instructions that do nothing of note."""

    def one():
        line = random.choice(PLAIN)
        if line == "xlatb_":
            return "db 0x0f, 0x1f, 0x44, 0, 0"  # the long nop, with SIB
        return line.format(
            i8=random.randint(-128, 127),
            i32=random.randint(-(2**31), 2**31 - 1),
            u8=random.randint(0, 255),
            u16=random.randint(0, 65535),
        )

    return Code([one() for _ in range(count)])


def work(random):
    """Between a few instructions and a few thousand."""
    weight = int(random.paretovariate(0.9))
    return [plain(random, random.randint(0, 12)), Spin(min(weight, 40))]
