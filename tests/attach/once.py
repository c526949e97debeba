# SPDX-License-Identifier: Apache-2.0
"""`attach --once`: what it shows of each CPU is what QEMU's monitor shows, and
its stack's return addresses are its callers'."""

import re
import socket

import fake
from exact import SHARES
from harness.suite import check, run

GENERAL = "AX BX CX DX SI DI BP SP IP".split()
CONTROL = "CR0 CR2 CR3 CR4 EFER".split()
FLAGS = ((0x1, "CF"), (0x4, "PF"), (0x10, "AF"), (0x40, "ZF"), (0x80, "SF"))
FLAGS += ((0x200, "IF"), (0x400, "DF"), (0x800, "OF"))


def parts(said):
    """The text of each CPU."""
    return re.split(r"^CPU \d+: ", said, flags=re.MULTILINE)[1:]


def value(text, name):
    found = re.search(rf"(?:^|\s){name} +([0-9a-f]+)\b", text, re.MULTILINE)
    check.true(found, f"{name} in {text}")
    return int(found[1], 16)


def monitors(guest):
    """Each CPU's registers by QEMU's monitor, and whether it is halted."""
    said = guest.monitor.human("info registers -a")
    for text in re.split(r"^CPU#\d+", said, flags=re.MULTILINE)[1:]:
        words = re.findall(r"\b(\w+) ?=([0-9a-f]+)\b", text)
        yield {name: int(number, 16) for name, number in words}


def same_registers(shown, wanted, wide):
    for name in GENERAL + CONTROL:
        there = name if name in CONTROL else "ER"[wide] + name
        check.same(value(shown, there.lower()), wanted[there], there)
    if wide:
        for number in range(8, 16):
            there = value(shown, f"r{number}")
            check.same(there, wanted[f"R{number}"], number)
    flags = wanted["RFL" if wide else "EFL"]
    line = re.search(r"^  .flags ([0-9a-f]+)(.*)$", shown, re.MULTILINE)
    check.same(int(line[1], 16), flags)
    for bit, name in FLAGS:
        check.same(name in line[2].split(), bool(flags & bit), line[0])
    check.has(
        shown, rf"^  cs {wanted['CS']:04x} \(ring 0\)  ss [0-9a-f]{{4}}  "
    )
    check.has(shown, "^  cr0 [0-9a-f]+  PE ")


def same_code(guest, shown, address):
    """The bytes that are marked, and those around them, are in memory."""
    line = re.search(r"^  code: (.*)$", shown, re.MULTILINE)[1].split()
    mark = next(i for i, byte in enumerate(line) if byte[0] == "<")
    text = guest.monitor.human(f"x /{len(line)}xb {address - mark:#x}")
    wanted = re.findall(r"0x([0-9a-f]{2})\b", text)
    check.same([byte.strip("<>") for byte in line], wanted)


def callers(shown):
    """{address: function+offset} of all frames but the innermost one."""
    rows = re.findall(
        r"^ +\d+  0x([0-9a-f]+)  (\S+\+0x[0-9a-f]+)", shown, re.MULTILINE
    )
    return {int(address, 16): name for address, name in rows[1:]}


def same_callers(guest, shown, wide):
    """Each word is where it is said to be, and each caller's on the stack."""
    rows = re.findall(
        r"^    ([0-9a-f]+):((?: [0-9a-f]+)+)(?:  (\S+))?", shown, re.MULTILINE
    )
    width, size = (16, "g") if wide else (8, "w")
    marked, there = {}, []
    for at, words, name in rows:
        words = words.split()
        there += [int(word, 16) for word in words]
        if name:
            marked[int(words[-1], 16)] = name
        text = guest.monitor.human(f"x /{len(words)}x{size} 0x{at}")
        wanted = re.findall(rf"0x([0-9a-f]{{{width}}})\b", text)
        check.same(words, wanted)
    check.true(len(there) >= 16, shown)
    found = {a: name for a, name in callers(shown).items() if a in there}
    check.true(found, shown)
    for address, name in found.items():
        check.same(marked.get(address), name, shown)


def look(s, attach, guest):
    """One look at a guest that stands still, compared with the monitor's."""
    wide = s.part == "x86_64"
    image = s.image(s.part, "split")
    address = guest.address("stub").removeprefix("tcp:")
    said = attach("--once", "-k", image, f"gdb:{address}").out
    shown, wanted = parts(said), list(monitors(guest))
    check.same((len(shown), len(wanted)), (2, 2))
    for text, registers in zip(shown, wanted):
        check.has(text, r"\A" + ("running", "halted")[registers["HLT"]])
        same_registers(text, registers, "64-bit" in text.splitlines()[0])
    same_code(guest, shown[0], wanted[0]["RIP" if wide else "EIP"])
    same_callers(guest, shown[0], wide)
    check.has(shown[1], r"^    \*$")  # an empty stack is not printed at length


def stop_at(guest, address):
    """Lets the guest run until a CPU is to execute what is at (address)."""
    with socket.socket(socket.AF_UNIX) as stub:
        stub.settimeout(300)
        stub.connect(guest.address("stub").removeprefix("unix:"))
        answers = stub.makefile("rb")

        def send(words):
            stub.sendall(fake.packet(words))

        def answered():
            """The payload of the next packet."""
            while answers.read(1) != b"$":
                pass
            payload = b""
            while not payload.endswith(b"#"):
                payload += answers.read(1)
            answers.read(2)
            stub.sendall(b"+")
            return payload[:-1].decode()

        send(f"Z0,{address:x},1")
        check.same(answered(), "OK")
        send("c")
        check.has(answered(), "^T05")
        send(f"z0,{address:x},1")
        check.same(answered(), "OK")


def address_of(s, name):
    """That of a function, or of a label in one."""
    text = run("nm", s.image(s.part, "split")).out
    return int(re.search(rf"^(\w+) . {re.escape(name)}$", text, re.M)[1], 16)


def in_interrupt(s, attach, guest):
    """What an interrupt has interrupted is a caller, although no call is before
    it: its address is marked on the stack as well."""
    stop_at(guest, address_of(s, "trap_irq_0"))
    look(s, attach, guest)


def by_lists(s, attach, guest):
    """Names and offsets by all lists are those by the image."""
    image = s.image(s.part, "split")
    target = f"gdb:{guest.address('stub').removeprefix('tcp:')}"
    wanted = callers(attach("--once", "-k", image, target).out)
    for command in ("nm", "nm -S", "objdump -t", "objdump -x"):
        symbols = s.work / f"{command.replace(' ', '')}.{s.part}"
        symbols.write_text(run(*command.split(), image).out)
        done = attach("--once", "-k", symbols, target)
        check.same(callers(done.out), wanted, command)
        check.has(done.err, "a list of symbols, which has no source lines")


def sampled(s, attach, command):
    """Stacks by a list reach from the leaves to the beginning."""
    symbols = s.work / f"{command.replace(' ', '')}.{s.part}"
    machine = attach.machine(s.part, "prof.start=off")

    def leaves():
        stacks = attach.parasite.folded(attach.trace)
        return sum(n for names, n in stacks if names[-1] in SHARES)

    attach.until(lambda: leaves() > 300, *("-F", 1000, "-k", symbols, *machine))
    whole = total = 0
    for names, samples in attach.parasite.folded(attach.trace):
        labels = [name for name in names if name.endswith((".turn", ".end"))]
        check.same(labels, [])
        if names[-1] in SHARES:
            total += samples
            whole += samples * ("kernel_main" in names)
    check.true(whole > 0.98 * total, f"{whole} of {total}")


def once(s, attach):
    with s.guest(
        *(s.part, "split", "once"),
        append="prof.start=off alarm=tick",  # whose interrupts it has
        channels={"stub": "unix"},
        args=["-gdb", "chardev:stub", "-smp", 2],
    ) as guest:
        guest.wait_line("^boot: ")
        guest.monitor.command("stop")
        stop_at(guest, address_of(s, "leaf_b.turn"))
        for what, test in (
            ("--once shows what the monitor shows", look),
            ("--once by lists of symbols", by_lists),
            ("--once where an interrupt begins", in_interrupt),
        ):
            with s.test(what):
                test(s, attach, guest)
    for command in ("nm", "objdump -x"):
        with s.test(f"stacks by what {command} prints"):
            sampled(s, attach, command)
    with s.test("--once of a CPU that has not begun"):
        said = attach("--once", *attach.machine(s.part, "")).out
        check.has(said, "^CPU 0: halted, 16-bit$")
        check.has(said, "^  cs f000  ss 0000  ")
        check.has(said, "^  code: .*<ea> 5b e0 00 f0 ")


def of_stubs(s, attach):
    with s.test("--once by a stub that describes no registers"):
        with fake.Stub() as stub:
            said = attach("--once", stub.target).out
        check.has(said, "  rip 0000000000100000$")
        check.has(said, "^  rflags 00000002  IOPL 0$")
        check.has(said, "^  code: cannot be read at 0000000000100000$")
        check.has(said, "^    0000000000008000: 0000000000008020 ")
        check.lacks(said, "cr0")
    with s.test("--once of a stack that is not there"):
        with fake.Wild() as stub:
            said = attach("--once", stub.target).out
        check.has(said, "^CPU 0: running, 64-bit$")
