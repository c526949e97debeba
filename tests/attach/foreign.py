# SPDX-License-Identifier: Apache-2.0
"""Images that know of no profiler, with and without frame pointers: every
sampled chain of callers must be one that can be."""

from harness.suite import check, run

CALLS = {
    "enter": {"work"},
    "work": {"either"},
    "either": {"again", "wide", "many"},
    "again": {"again", "wide", "small"},
    "wide": {"many"},
    "many": {"small"},
    "small": set(),
}
FORMS = {  # how the image is compiled, and the share of callers that are right
    ".eh_frame": (["-fomit-frame-pointer", "-funwind-tables"], 0.995),
    ".debug_frame": (["-fomit-frame-pointer", "-g"], 0.995),
    "frame pointers": (["-fno-omit-frame-pointer"], 0.97),
}


def assemble(s, source="plain"):
    """The beginning of plain.c, or another (source)."""
    long = s.part == "x86_64"
    made = s.work / f"{source}.asm.o"
    run(
        *("nasm", "-f", ("elf32", "elf64")[long], "-o", made),
        *(["-DLONG"] if long else []),
        f"tests/attach/{source}.asm",
    )
    return made


def compiled(s, name, words):
    """plain.c, compiled with (words)."""
    made = s.work / f"{name}.o"
    run(
        *("gcc", "-m64" if s.part == "x86_64" else "-m32", "-O2", "-c"),
        *("-ffreestanding", "-fno-pie", "-fno-asynchronous-unwind-tables"),
        *("-mgeneral-regs-only", "-fcf-protection=none"),
        *("-fno-stack-protector", *words, "-o", made, "tests/attach/plain.c"),
    )
    return made


def link(s, made, *words):
    emulation = "elf_x86_64" if s.part == "x86_64" else "elf_i386"
    entry = [] if "-e" in words else ["-e", "enter"]
    run("ld", "-m", emulation, "-N", *entry, "-o", made, *words)
    return made


def plain_image(s, name, words):
    """An image of plain.c without any profiler, compiled with (words)."""
    name = name.strip(".").split()[0]
    return link(
        *(s, s.work / f"{name}.elf", "-Ttext=0x100000", "--build-id"),
        *(assemble(s), compiled(s, name, words)),
    )


def blocks_image(s):
    """An image of functions that are long and short blocks."""
    return link(
        *(s, s.work / "blocks.elf", "-Ttext=0x100000", "--build-id"),
        *(assemble(s), assemble(s, "blocks")),
    )


def is_right(names):
    """Whether that is a chain of callers of plain.c."""
    names = [name for name in names if name != "[found by a scan]"]
    return (
        names[0] == "enter"
        and (names[-1] == "enter" or names[1:2] == ["work"])
        and all(b in CALLS.get(a, ()) for a, b in zip(names, names[1:]))
    )


def chains(attach):
    """[(names, samples)] of plain.c, and not of the firmware."""
    found = attach.parasite.folded(attach.trace)
    return [(names, n) for names, n in found if set(names) & set(CALLS)]


def callers(attach, image, least, width=None, knows=(), more=()):
    """Samples a guest that runs (image); (knows) is what -k is given, and
    (more) is for QEMU. Returns the share of chains that are right, which must
    be at (least) that."""
    attach.said = attach.until(
        lambda: sum(n for _, n in chains(attach)) >= 1000,
        *("-F", 4000, *(w for k in knows for w in ("-k", k))),
        *("--", f"qemu-system-{width or attach.s.part}"),
        *("-display", "none", "-monitor", "none", "-nic", "none"),
        *("-m", 16, "-kernel", image, *more),
    )
    right = total = 0
    wrong = []
    for names, samples in chains(attach):
        total += samples
        if is_right(names):
            right += samples
        else:
            wrong.append((names, samples))
    check.true(right >= least * total, f"{right} of {total}: {wrong[:9]}")
    return right / total


def foreign(s, attach):
    for name, (words, least) in FORMS.items():
        with s.test(f"callers in a foreign image by {name}"):
            image = plain_image(s, name, words)
            share = callers(attach, image, least)
            s.measured(f"{share:.2%} of callers by {name} are right")
    if s.part == "i386":
        with s.test("a 32-bit guest of a 64-bit VMM has callers"):
            callers(attach, image, least, "x86_64")
