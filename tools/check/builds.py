# SPDX-License-Identifier: Apache-2.0
"""Builds with both compilers; what the profiler's object needs and exports."""

import os
import re
import subprocess

from sources import matching, output, read

WIDTHS = ("i386", "x86_64")
# The compiler may call these by itself, and need not.
BY_COMPILER = {"memcpy", "memmove", "memset", "memcmp"}
HEADERS = ("arch/include/*.h", "drivers/*.h", "kernel/include/*.h")
PUBLIC = ("kernel/include/*.h", "profiler/include/*.h")
# What a caller fills in and passes. Where it is called as a function is, C++
# would need the word struct.
PASSED = re.compile(r"const struct (\w+) \*\w+\);")
# Rooms of which clang's objects are never used. Of the profiler's only symbols
# are; without optimisation they would be more than those that are called.
CHEAPER = (
    "UNUSED=arch drivers kernel services tests bench",
    "LIB_CFLAGS=-O1 -g0",
)
INCLUDES = ("arch/include", "drivers", "kernel/include", "profiler/include")


def build(compiler, folder):
    """Builds every room at both widths, with its own include paths only."""
    plain = {
        name: value
        for name, value in os.environ.items()
        if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    made = subprocess.run(
        ["make", "-k", f"-j{os.cpu_count()}", "--no-print-directory"]
        + [f"CC={compiler}", f"BUILD={folder}", "objects", "lib"]
        + (["tool"] if compiler == "gcc" else [*CHEAPER]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=plain,
        check=False,
    )
    if made.returncode == 0:
        return []
    steps = re.compile(r"  [A-Z]+ +\S")  # "  CC      build/..."
    return [line for line in made.stdout.splitlines() if not steps.match(line)]


def headers():
    """public headers compile alone"""
    command = (
        "gcc -std=gnu11 -ffreestanding -fsyntax-only -Wall -Wextra -Werror"
    )
    flags = [f"-I{folder}" for folder in INCLUDES]
    found = []
    for name in matching(*HEADERS, "profiler/include/*.h"):
        found += output([*command.split(), *flags, "-x", "c", name])
    return found


def headers_in_cxx():
    """public headers compile as C++, what is passed to them without `struct`"""
    command = (
        "g++ -std=c++11 -ffreestanding -fsyntax-only -Wall -Wextra -Werror "
        "-include /dev/stdin -x c++ /dev/null"
    )
    flags = [f"-I{folder}" for folder in INCLUDES]
    found = []
    for name in matching(*PUBLIC):
        # a function of the same name would hide it
        tags = sorted(set(PASSED.findall(read(name))))
        uses = [f"typedef {tag} *{tag}_;" for tag in tags]
        text = "\n".join([f'#include "{os.path.abspath(name)}"', *uses, ""])
        made = subprocess.run(
            [*command.split(), *flags],
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        found += made.stdout.splitlines()
    return found


def symbols(file, *options):
    """Names that nm prints about an object file."""
    printed = subprocess.run(
        ["nm", *options, file], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1] for line in printed.splitlines()}


def exports(folder, width):
    """Checks profiler.o against the list of what it may need."""
    file = f"{folder}/{width}/profiler.o"
    lines = read("profiler/port.symbols").splitlines()
    allowed = {line for line in lines if line and not line.startswith("#")}
    needed = symbols(file, "-u")
    given = symbols(file, "-g", "--defined-only")
    optional = {name for name in allowed if name.startswith("mem")}
    found = [
        f"needed, not in port.symbols: {name}"
        for name in sorted(needed - allowed - BY_COMPILER)
    ]
    found += [
        f"in port.symbols, not needed: {name}"
        for name in sorted(allowed - needed - optional)
    ]
    found += [
        f"exported without prof_: {name}"
        for name in sorted(given)
        if not name.startswith("prof_")
    ]
    return found if given else [f"{file} exports nothing"]
