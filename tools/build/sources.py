#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists what is to be compiled of the profiler, for any build system.

usage: sources.py [--width i386|x86_64] [--config HEADER] [--without PART]...
                  WHAT...

PART is one that <prof/config.h> has, in lower case: stream, cxx and others.
HEADER is the one given to the compiler as PROF_CONFIG_HEADER: its lines
`#define PROF_WITH_PART 0` are read. WHAT is any of

    c         C sources
    asm       nasm sources of the width, to be assembled with a generated
              prof_offsets.inc in the include path
    offsets   the C source that this is generated from: compiled with -S, each
              line "->NAME $VALUE" of the result is %define NAME VALUE
    include   include paths for both
    defines   definitions for the compiler
    symbols   what the object needs from the image around it
    list      the sources of both widths, for build/sources.txt

One a line, paths as seen from the present folder.
"""

import argparse
import glob
import os
import re
import sys

ROOT = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)
OFFSETS = "sample/offsets.c"
RESERVE = "symbols/reserve.c"  # for an archive, as a member of its own

# What belongs to each part alone. control/left_out.c has the calls of those
# that are left out.
PARTS = {
    "pit": [
        "tick/idt_gate.c",
        "tick/jitter.c",
        "tick/pit.c",
        "tick/rate.c",
        "tick/source_pit.c",
        "tick/watchdog.c",
        "tick/*/parasite.asm",
    ],
    "lapic": [
        "tick/choose.c",
        "tick/lapic.c",
        "tick/source_lapic.c",
        "tick/*/lapic_stubs.asm",
    ],
    "nmi": ["tick/ioapic.c", "tick/source_nmi.c", "tick/*/nmi_stub.asm"],
    "callers": ["sample/*/walk.asm", "sample/bounds.c", "unwind/prologue.c"],
    "user": ["aggregate/user.c"],
    "stream": [
        "stream/*.c",
        "control/transport.c",
        "control/command*.c",
    ],
    "trace": ["trace/*.c"],
    "loop": ["loop/*.c", "report/under_sampled.c"],
    "causal": [
        "causal/*.c",
        "causal/*.asm",
        "control/causal.c",
        "base/origin.c",
    ],
    "trees": ["report/call_tree.c"],
    "classes": ["aggregate/instruction_class.c"],
    "builtin": [
        "control/poll.c",
        "base/pool.c",
        "control/tick_drain.c",
        "tick/calibrate.c",
        "tick/floor.c",
        "tick/meter.c",
    ],
    "kvm": ["tick/kvm.c"],
    "checks": [],
    "elf": ["symbols/elf.c"],
    "options": [],
    "cxx": ["demangle/cxx*.c"],
    "rust": ["demangle/rust*.c"],
    "ocaml": ["demangle/ocaml.c"],
}
# What several parts need: compiled unless all of them are left out.
SHARED = {
    ("builtin", "lapic"): ["base/cpu_features.c"],
    ("callers", "classes", "causal"): ["unwind/decode.c"],
    ("callers", "trees"): ["aggregate/calls.c"],
    ("cxx", "rust", "ocaml"): ["demangle/buffer.c"],
}


class Bad(Exception):
    """What is wrong with the choice."""


def left_out_by(header):
    """The parts that (header) leaves out."""
    parts = []
    with open(header, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            found = re.match(r"\s*#\s*define\s+PROF_WITH_(\w+)\s+(\S+)", line)
            if not found:
                continue
            part, value = found[1].lower(), found[2].strip("()")
            if part not in PARTS:
                raise Bad(f"{header}:{number}: no such part: {found[1]}")
            if value not in ("0", "1"):
                raise Bad(f"{header}:{number}: neither 0 nor 1: {value}")
            if value == "0":
                parts.append(part)
    return parts


def found(patterns):
    """Paths below profiler/ that fit one of (patterns)."""
    top = os.path.join(ROOT, "profiler")
    paths = set()
    for pattern in patterns:
        fitting = glob.glob(os.path.join(top, pattern))
        if not fitting:
            raise Bad(f"no source fits {pattern}")
        paths.update(os.path.relpath(path, top) for path in fitting)
    return paths


def sources(width, without):
    """C and nasm sources, as paths below profiler/."""
    listed = found(["*/*.c", "*/*.asm", f"*/{width}/*.asm"])
    listed -= {OFFSETS, RESERVE}
    if "stream" in without and "trace" not in without:
        without = [*without, "trace"]
    if "pit" in without and "lapic" not in without:
        without = [*without, "lapic"]
    if "lapic" in without and "nmi" not in without:
        without = [*without, "nmi"]
    if "callers" in without and "user" not in without:
        without = [*without, "user"]
    if "builtin" in without and "kvm" not in without:
        without = [*without, "kvm"]
    for part in without:
        listed -= found(PARTS[part])
    for parts, shared in SHARED.items():
        if set(parts) <= set(without):
            listed -= found(shared)
    return sorted(listed)


def without_of(options):
    """The parts that the command line and the header leave out."""
    named = list(options.without)
    return named + (left_out_by(options.config) if options.config else [])


def listing():
    """The lines of build/sources.txt."""
    either = {width: sources(width, []) for width in ("i386", "x86_64")}
    lines = []
    for path in sorted({*either["i386"], *either["x86_64"]}):
        widths = [width for width, paths in either.items() if path in paths]
        lines.append(path if len(widths) == 2 else f"{path} {widths[0]}")
    return [
        "# SPDX-License-Identifier: Apache-2.0",
        "# What `tools/build/sources.py list` prints: the sources of the whole",
        "# profiler, below profiler/, and the width if a file is for one.",
        f"# {RESERVE} is one more, for a library.",
        *lines,
    ]


def answer(what, options):
    """Lines of one WHAT."""
    if what == "include":
        return [seen("include"), seen("")]
    if what == "offsets":
        return [seen(OFFSETS)]
    if what == "defines":
        lines = [f"PROF_WITH_{part.upper()}=0" for part in options.without]
        if options.config:
            path = os.path.abspath(options.config)
            lines.append(f'PROF_CONFIG_HEADER="{path}"')
        return lines
    if what == "symbols":
        with open(
            os.path.join(ROOT, "profiler/port.symbols"), encoding="utf-8"
        ) as file:
            return [line.strip() for line in file if line[0] != "#"]
    if what == "list":
        return listing()
    ending = ".c" if what == "c" else ".asm"
    return [
        seen(path)
        for path in sources(options.width, without_of(options))
        if path.endswith(ending)
    ]


def seen(path):
    """(path) below profiler/ as seen from here."""
    return os.path.relpath(os.path.join(ROOT, "profiler", path))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--width", choices=["i386", "x86_64"], default="x86_64")
    parser.add_argument("--config", metavar="HEADER")
    parser.add_argument(
        "--without",
        metavar="PART",
        action="append",
        choices=list(PARTS),
        default=[],
    )
    parser.add_argument(
        "what",
        nargs="+",
        metavar="WHAT",
        choices=[
            "c",
            "asm",
            "offsets",
            "include",
            "defines",
            "symbols",
            "list",
        ],
    )
    options = parser.parse_args()
    for what in options.what:
        for line in answer(what, options):
            print(line)


if __name__ == "__main__":
    try:
        main()
    except (Bad, OSError) as error:
        sys.exit(f"sources.py: {error}")
