#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the profiler's sources for any build system: in one folder, which
`cc -c *.c` and nasm compile without an include path or a generated file.

usage: dist_embed.py [--config HEADER] VERSION OFFSETS_I386 OFFSETS_X86_64
                     OUT.tar.gz

OFFSETS... are prof_offsets.inc of each width. HEADER leaves out parts, as
PROF_CONFIG_HEADER in <prof/config.h>; it becomes part of the sources.
"""

import argparse
import gzip
import io
import os
import re
import subprocess
import tarfile

ROOT = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)
TOP = os.path.join(ROOT, "profiler")
LISTER = os.path.join(ROOT, "tools/build/sources.py")
WIDTHS = ("i386", "x86_64")
SPDX = "SPDX-License-Identifier: Apache-2.0"
INCLUDE = re.compile(r'^(\s*#\s*include\s+)([<"])([^">]+)[>"]', re.M)

README = f"""<!-- {SPDX} -->
# The profiler Parasite, to be compiled into a kernel

    cc @cflags -m64 -c *.c                  # or -m32
    for f in *.asm; do nasm -f elf64 $f; done    # or elf32

In this folder; `cflags` has what code in a kernel needs: no SSE, no red zone,
frame pointers. Add your code model (`-mcmodel=kernel`) and optimization. Make
one object of all but `symbols_reserve.o`, by which causal profiling knows the
profiler's functions:

    ld -m elf_x86_64 -r -T module.ld -o profiler.o ...     # or elf_i386

Put it into an archive, and this folder into the include path of what uses
<prof/prof.h>. `symbols_reserve.c` is for images that do not say
PROF_SYMBOLS_RESERVE themselves. SOURCES lists the files, NEEDS what the kernel
provides.
"""
CFLAGS = (
    "-std=gnu11 -O2 -ffreestanding -mgeneral-regs-only -mno-red-zone\n"
    "-fno-omit-frame-pointer -fno-optimize-sibling-calls\n"
    "-fno-stack-protector -fno-asynchronous-unwind-tables\n"
)
BY_WIDTH = """; {spdx}
%ifidn __OUTPUT_FORMAT__, elf64
{x86_64}
%else
{i386}
%endif
"""


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def listed(width, config, *what):
    """Paths below profiler/."""
    words = [LISTER, "--width", width, *what]
    if config:
        words[1:1] = ["--config", config]
    out = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    return [os.path.relpath(line, TOP) for line in out.stdout.split()]


def local(text, folder):
    """(text) of a file in (folder), with includes that need no path."""

    def quoted(found):
        start, kind, path = found.groups()
        if kind == "<" and not path.startswith("prof/"):
            return found[0]
        return f'{start}"{os.path.relpath(path, folder or ".")}"'

    return INCLUDE.sub(quoted, text)


class Package:
    """The files, by path."""

    def __init__(self, config):
        self.config, self.files = config, {}

    def put_headers(self):
        for folder, _, names in os.walk(TOP):
            for name in names:
                if not name.endswith((".h", ".def", ".ld", ".inc")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), TOP)
                to = path.removeprefix("include/")
                self.files[to] = local(read(TOP, path), os.path.dirname(to))
        if self.config:
            self.files["prof/choice.h"] = read(self.config)
            first = "#ifdef PROF_CONFIG_HEADER"
            text = self.files["prof/config.h"]
            self.files["prof/config.h"] = text.replace(
                first, f'#include "choice.h"\n{first}', 1
            )

    def put_c(self):
        paths = listed("x86_64", self.config, "c")
        if paths != listed("i386", self.config, "c"):
            raise SystemExit("dist_embed.py: C sources depend on the width")
        for path in [*paths, "symbols/reserve.c"]:
            name = path.replace("/", "_")
            self.files[name] = local(read(TOP, path), "")

    def put_asm(self):
        """One file for both widths."""
        parts = {}
        for width in WIDTHS:
            for path in listed(width, self.config, "asm"):
                stem = path.replace(f"/{width}/", "/").replace("/", "_")
                parts.setdefault(stem, {})[width] = read(TOP, path)
        for stem, texts in parts.items():
            if len(set(texts.values())) == 1 and len(texts) == len(WIDTHS):
                self.files[stem] = texts["i386"]
                continue
            lines = {width: "" for width in WIDTHS}
            for width, text in texts.items():
                path = f"{width}/{stem.removesuffix('.asm')}.inc"
                self.files[path] = text
                lines[width] = f'%include "{path}"'
            self.files[stem] = BY_WIDTH.format(spdx=SPDX, **lines)

    def put_offsets(self, made):
        """The offsets that assembly uses, and a source that does not compile
        where they are wrong."""
        lines = {}
        checks = ["#ifdef __x86_64__", None, "#else", None, "#endif"]
        for i, width in enumerate(WIDTHS):
            path = f"{width}/prof_offsets.inc"
            self.files[path] = f"; {SPDX}\n" + read(made[i])
            lines[width] = f'%include "{path}"'
            checks[1 if width == "x86_64" else 3] = "\n".join(
                f"#define OFFSET_{line.split()[1]} {line.split()[2]}"
                for line in read(made[i]).splitlines()
                if line.startswith("%define")
            )
        self.files["prof_offsets.inc"] = BY_WIDTH.format(spdx=SPDX, **lines)
        text = local(read(TOP, "sample/offsets.c"), "")
        text, count = re.subn(
            r"#define EMIT\(name, value\).*",
            "#define EMIT(name, value) _Static_assert((value) == "
            'OFFSET_##name, "prof_offsets.inc is of another configuration")',
            text,
        )
        assert count == 1
        text = text.replace(
            "\n#define EMIT",
            "\n" + "\n".join(checks) + "\n\n" "#define EMIT",
            1,
        )
        self.files["sample_offsets.c"] = text

    def put_rest(self):
        self.files["README.md"] = README
        self.files["cflags"] = CFLAGS
        self.files["LICENSE"] = read(ROOT, "LICENSE")
        self.files["NEEDS"] = read(TOP, "port.symbols")
        self.files["SOURCES"] = "".join(
            f"{name}\n"
            for name in sorted(self.files)
            if "/" not in name and name.endswith((".c", ".asm"))
        )

    def write(self, path, top):
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as tar:
            for name, text in sorted(self.files.items()):
                data = text.encode()
                entry = tarfile.TarInfo(f"{top}/{name}")
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
        with open(path, "wb") as out:
            out.write(gzip.compress(raw.getvalue(), mtime=0))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--config", metavar="HEADER")
    parser.add_argument("version")
    parser.add_argument("offsets", nargs=2)
    parser.add_argument("out")
    options = parser.parse_args()
    package = Package(options.config)
    package.put_headers()
    package.put_c()
    package.put_asm()
    package.put_offsets(options.offsets)
    package.put_rest()
    package.write(options.out, f"parasite-embed-{options.version}")


if __name__ == "__main__":
    main()
