# SPDX-License-Identifier: Apache-2.0
"""Which addresses count as "in the hypervisor", at both widths: of functions
made for the purpose, and of every instruction of real images, compared with
objdump."""

import re
from pathlib import Path

from harness.suite import WIDTHS, check, run

BASE = 0x100000
RULES = Path("tests/exits/rules.S")
PREFIXES = r"^(?:(?:repz?|repnz|lock|data16|cs|ds) +)+"
LEAVES = re.compile(
    r"(in|out|ins[bwl]?|outs[bwl]?|hlt|cpuid|rdmsr|wrmsr|xsetbv|invd"
    r"|vmm?call|monitor|mwait)$"
)

CLONE = re.compile(r"\.(part|cold|isra|constprop)\b")


def listed():
    """Addresses that the comments of rules.S list, and how many functions."""
    found, count = set(), 0
    for line in RULES.read_text(encoding="utf-8").splitlines():
        if line.startswith("function ") and "#" in line:
            offsets = line.split("#")[1].split(":")[0]
            for offset in offsets.split():
                found.add(BASE + 16 * count + int(offset))
            count += 1
    return found, count


def asked(checker, image, addresses, *words):
    """Those of (addresses) that count."""
    data = "".join(f"{address:x}\n" for address in addresses)
    lines = run(checker, image, *words, data=data).lines()
    return {int(line, 16) for line in lines}


def check_rules(s, checker, option):
    image = s.work / f"rules{option}"
    run(
        *("gcc", option, "-nostdlib", "-static", "-no-pie"),
        *("-Wl,-Ttext=0x100000", "-Wl,-e,f0", "-Wl,-z,noexecstack"),
        *("-Wl,--build-id=none", "-o", image, RULES),
    )
    wanted, count = listed()
    check.true(wanted)
    # the first bytes of each function, and only those that are its own
    addresses = [
        BASE + 16 * function + offset
        for function in range(count)
        for offset in range(8 if function != 8 else 3)
    ]
    check.same(asked(checker, image, addresses, "^device_"), wanted)


def functions(image):
    """{address: [(address, words)]} of each function: its instructions. Labels
    with a dot are no functions, but for those that gcc makes of others."""
    found, code = {}, []
    for line in run("objdump", "-d", "--no-show-raw-insn", image).lines():
        label = re.match(r"([0-9a-f]+) <(.*)>:", line)
        if label and ("." not in label[2] or CLONE.search(label[2])):
            code = found.setdefault(int(label.group(1), 16), [])
        words = re.match(r" *([0-9a-f]+):\t(.*)", line)
        if words:
            text = re.sub(PREFIXES, "", words.group(2)).split()
            code.append((int(words.group(1), 16), text or [""]))
    return found


def returns_from_exit(code):
    """Whether a return follows an exit, with no other jump in between."""
    exited = False
    for (_, words), (after, _) in zip(code, [*code[1:], (0, None)]):
        if exited and re.match("ret", words[0]):
            return True
        to_next = words[0] == "jmp" and words[1] == f"{after:x}"
        jumps = re.match("j|call|ret|loop", words[0]) and not to_next
        exited = bool(LEAVES.match(words[0])) or (exited and not jumps)
    return False


def by_objdump(image):
    """All addresses of instructions, and those that leave the guest or follow
    such a one in the same function, also by a jump to what is next, or a call
    that returns from such a one."""
    everything, found = [], set()
    all_code = functions(image)
    charging = {at for at, code in all_code.items() if returns_from_exit(code)}
    for code in all_code.values():
        after = False
        for (address, words), (behind, _) in zip(code, [*code[1:], (0, None)]):
            everything.append(address)
            leaves = bool(LEAVES.match(words[0]))
            if leaves or after:
                found.add(address)
            to_next = words[0] == "jmp" and words[1] == f"{behind:x}"
            after = (
                leaves
                or (after and to_next)
                or (
                    words[0] == "call"
                    and re.fullmatch("[0-9a-f]+", words[1])
                    and int(words[1], 16) in charging
                )
            )
    return everything, found


def check_image(checker, image):
    everything, wanted = by_objdump(image)
    check.true(len(wanted) > 50, "instructions that leave the guest")
    check.same(asked(checker, image, everything), wanted)


def suite(s):
    checker = s.work / "check"
    run(
        *("gcc", "-std=gnu11", "-Iprofiler/include", "-Ihost"),
        *("-o", checker, "tests/exits/exits_check.c"),
        s.build / "host/libparasite.a",
        *("-lcapstone", "-lelf", "-lm"),
    )
    s.holds("the rules hold on i386", check_rules, s, checker, "-m32")
    s.holds("the rules hold on x86_64", check_rules, s, checker, "-m64")
    for width in WIDTHS:
        for name in ("lua", "split"):
            with s.test(f"objdump agrees about {width} {name}"):
                check_image(checker, s.image(width, name))
    with s.test("a file that is no image is refused"):
        for path in ("/bin/sh", RULES):
            done = run(checker, path, data="", status=None)
            check.lacks(done.text, "Sanitizer")
        check.true(done.status != 0, "refused")
