# SPDX-License-Identifier: Apache-2.0
"""Images that know of no profiler, with and without frame pointers: every
sampled chain of callers must be one that can be."""

from harness.suite import check, given_time, run

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


def plain_image(s, name, words):
    """An image of plain.c without any profiler, compiled with (words)."""
    long = s.part == "x86_64"
    bits, made = ("64", "32")[not long], s.work / name.strip(".").split()[0]
    run(
        *("nasm", "-f", f"elf{bits}", "-o", f"{made}.start.o"),
        *(["-DLONG"] if long else []),
        "tests/attach/plain.asm",
    )
    run(
        *("gcc", f"-m{bits}", "-O2", "-ffreestanding", "-fno-pie", "-c"),
        *("-fno-asynchronous-unwind-tables", "-mgeneral-regs-only"),
        *("-fcf-protection=none", "-fno-stack-protector", *words),
        *("-o", f"{made}.o", "tests/attach/plain.c"),
    )
    run(
        *("ld", "-m", ("elf_x86_64", "elf_i386")[not long], "-N"),
        *("-Ttext=0x100000", "-e", "enter", "--build-id", "-o", f"{made}.elf"),
        *(f"{made}.start.o", f"{made}.o"),
    )
    return f"{made}.elf"


def is_right(names):
    """Whether that is a chain of callers of plain.c."""
    return (
        names[0] == "enter"
        and (names[-1] == "enter" or names[1:2] == ["work"])
        and all(b in CALLS.get(a, ()) for a, b in zip(names, names[1:]))
    )


def callers(attach, image, least, seconds, width=None):
    attach(
        *("-F", 1000, "-T", seconds, "--"),
        f"qemu-system-{width or attach.s.part}",
        *("-display", "none", "-monitor", "none", "-nic", "none"),
        *("-m", 16, "-kernel", image),
    )
    right = total = 0
    wrong = []
    for names, samples in attach.parasite.folded(attach.trace):
        if not set(names) & set(CALLS):
            continue  # the firmware
        total += samples
        if is_right(names):
            right += samples
        else:
            wrong.append((names, samples))
    check.true(total >= 1000, f"{total} samples")
    check.true(right >= least * total, f"{right} of {total}: {wrong[:9]}")
    return right / total


def foreign(s, attach):
    for name, (words, least) in FORMS.items():
        with s.test(f"{s.part}: callers in a foreign image by {name}"):
            image = plain_image(s, name, words)
            share = given_time(lambda t: callers(attach, image, least, t))
            s.measured(f"{s.part}: {share:.2%} of callers by {name} are right")
    if s.part == "i386":
        with s.test("a 32-bit guest of a 64-bit VMM has callers"):
            given_time(lambda t: callers(attach, image, least, t, "x86_64"))
