# SPDX-License-Identifier: Apache-2.0
"""A few thousand names compared with what established demanglers print, and
how much stack the demangler needs for them and for mutants of them. FULL=1
compares all there are, which takes minutes."""

from pathlib import Path

from harness.suite import FULL, check, run

STACK_MAX = 1024  # bytes
# The image's flags.
FLAGS = (
    "-std=gnu11 -O2 -fno-pic -fno-pie -fno-stack-protector -mno-red-zone "
    "-fno-omit-frame-pointer -fno-optimize-sibling-calls "
    "-mgeneral-regs-only -Iprofiler -Iprofiler/include"
).split()


def compare(s):
    full = ["--full"] if FULL else []
    done = run(
        *("python3", "tests/names/run.py", *full, "--work", s.work),
        *("--parasite", s.parasite),
        status=None,
        cpu_limit=3600,
        by_lines=True,
    )
    for line in done.text.splitlines():
        s.note(line)
    check.same(done.status, 0)


def measure_stack(s, bits):
    """Linked statically, to leave out the dynamic linker's own stack."""
    folder = s.work / str(bits)
    folder.mkdir(exist_ok=True)
    objects = []
    for source in sorted(Path("profiler/demangle").glob("*.c")):
        objects.append(folder / f"{source.stem}.o")
        run("gcc", f"-m{bits}", *FLAGS, "-c", "-o", objects[-1], source)
    program = s.work / f"stack{bits}"
    run(
        *("gcc", f"-m{bits}", "-std=gnu11", "-O2", "-static", "-Iprofiler"),
        *("-Iprofiler/include", "-o", program, "tests/names/stack.c"),
        *objects,
    )
    names = (s.work / "all.names").read_bytes()
    said = run(program, 5, data=names).text
    s.measured(said.strip())
    deepest = int(check.has(said, r"deepest stack (\d+)").group(1))
    check.between(deepest, 1, STACK_MAX)


def suite(s):
    s.holds("names are spelt as established demanglers spell them", compare, s)
    for bits in (32, 64):
        s.holds(
            f"the stack stays within {STACK_MAX} bytes at {bits} bits",
            measure_stack,
            s,
            bits,
        )
