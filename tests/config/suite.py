# SPDX-License-Identifier: Apache-2.0
"""What an embedder may leave out (<prof/config.h>): each choice is compiled and
linked as somebody else's build system would, from what tools/build/sources.py
lists, with all warnings; and the smallest is booted. Of images for one CPU the
size is known (text.txt).

A source is compiled once for all choices that give the same values to the
macros PROF_WITH_* in the files that the compiler then reads: these choices are
the same to it.

Each part is left out at one width by turns, by gcc with -Og: that is a third
cheaper than -Os, and leaves out the same code. The smallest choices are built
for each width by each compiler; FULL=1 builds every choice for each width by
each compiler.
"""

import collections
import concurrent.futures
import functools
import os
import pathlib
import re

from harness import compiled
from harness.suite import FULL, Guest, Skip, by_turns, check, run

PARTS = ("i386-gcc", "x86_64-gcc", "i386-clang-14", "x86_64-clang-14")

PARTS_OF_PROFILER = (
    *("pit", "lapic", "nmi", "callers", "user", "stream", "trace", "loop"),
    *("causal", "trees"),
    *("classes", "checks", "elf", "options", "builtin", "kvm"),
    *("cxx", "rust", "ocaml"),
)
# The smallest that the kernel can boot, whose ticks are those of the PIT, and
# which tries the options.
NEEDED = ("pit", "options")
CHOICES = {
    "everything": (),
    "nothing": PARTS_OF_PROFILER,
    "what boots": tuple(
        part for part in PARTS_OF_PROFILER if part not in NEEDED
    ),
    **{f"all but {part}": (part,) for part in PARTS_OF_PROFILER},
}
LEAST = ("nothing", "what boots")
SINGLE = tuple(name for name in CHOICES if name.startswith("all but "))
# Of clang, unless FULL=1.
SOME = {"i386": ("everything", *LEAST), "x86_64": LEAST}
WIDTH_FLAGS = {"i386": ["-m32", "-march=i686"], "x86_64": ["-m64"]}
FLAGS = """-std=gnu11 -Os -ffreestanding -fno-pic -fno-pie
    -fno-stack-protector -mno-red-zone -fno-omit-frame-pointer
    -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables
    -mgeneral-regs-only -Wall -Wextra -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Werror""".split()
LISTER = "tools/build/sources.py"
CONFIG = "profiler/include/prof/config.h"
MACRO = re.compile(r"\bPROF_WITH_(\w+)")
# A part that is there by default if another is.
DERIVED = re.compile(r"^#define PROF_WITH_(\w+) PROF_WITH_(\w+)$", re.M)
JOBS = 2


@functools.cache
def macros_in(path):
    """The macros PROF_WITH_* that the file (path) has, but in comments."""
    return frozenset(MACRO.findall(compiled.code(path)))


class Choice:
    """What the macros are without some parts."""

    def __init__(self, without):
        self.left_out = {part.upper() for part in without}
        for part, other in DERIVED.findall(pathlib.Path(CONFIG).read_text()):
            if other in self.left_out:
                self.left_out.add(part)

    def of(self, macros):
        """Those of (macros) that are 0."""
        return macros & self.left_out


class Builder:
    """Builds the profiler for one width with one compiler."""

    def __init__(self, work, width, compiler):
        self.work, self.width = work, width
        self.command = [compiler, *WIDTH_FLAGS[width], *FLAGS]
        self.clang = "clang" in compiler
        self.made = collections.defaultdict(list)  # objects of a source
        includes = self.listed((), "include")
        self.command += [f"-I{path}" for path in includes]

    def listed(self, choice, *what):
        return run(LISTER, "--width", self.width, *choice, *what).out.split()

    def object(self, source, folder, choice, flags):
        """The object of a C source."""
        for macros, left_out, path in self.made[source]:
            if choice.of(macros) == left_out:
                return path
        path = folder / (source.replace("/", "_") + ".o")
        run(*self.command, *flags, "-MMD", "-c", "-o", path, source)
        macros = frozenset().union(
            *(
                macros_in(os.path.normpath(file))
                for file in compiled.read_for(path.with_suffix(".d"))
                if not file.endswith(("/prof/config.h", "/choice.h"))
            )
        )
        self.made[source].append((macros, choice.of(macros), path))
        return path

    def assembled(self, sources, offsets, folder, flags):
        """The objects of nasm sources."""
        output = folder / "offsets.s"
        more = ["-no-integrated-as"] if self.clang else []
        run(*self.command, *flags, *more, "-S", "-o", output, offsets)
        found = re.findall(r"^->(\w+) \$?(\S+)", output.read_text(), re.M)
        (folder / "prof_offsets.inc").write_text(
            "".join(f"%define {name} {value}\n" for name, value in found)
        )
        bits = {"i386": "elf32", "x86_64": "elf64"}[self.width]
        objects = []
        for source in sources:
            path = folder / (source.replace("/", "_") + ".o")
            run(
                "nasm",
                "-f",
                bits,
                "-Werror",
                f"-I{folder}/",
                f"-I{os.path.dirname(source)}/",
                "-Iprofiler/",
                "-o",
                path,
                source,
            )
            objects.append(path)
        return objects

    def build(self, without):
        """The object of the whole profiler without the parts (without)."""
        folder = self.work / ("-".join(without) or "everything")
        folder.mkdir(parents=True, exist_ok=True)
        header = folder / "choice.h"
        header.write_text(
            "".join(f"#define PROF_WITH_{part.upper()} 0\n" for part in without)
        )
        listed = self.listed(
            ("--config", header), "defines", "c", "asm", "offsets", "symbols"
        )
        flags = [f"-D{line}" for line in listed if "=" in line]
        if len(without) == 1 and not FULL:
            flags.append("-Og")
        offsets = [line for line in listed if line.endswith("/offsets.c")]
        choice = Choice(without)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            objects = list(
                pool.map(
                    lambda source: self.object(source, folder, choice, flags),
                    [
                        line
                        for line in listed
                        if line.endswith(".c") and line not in offsets
                    ],
                )
            )
        objects += self.assembled(
            [line for line in listed if line.endswith(".asm")],
            offsets[0],
            folder,
            flags,
        )
        whole = folder / "profiler.o"
        emulation = {"i386": "elf_i386", "x86_64": "elf_x86_64"}[self.width]
        run("ld", "-m", emulation, "-r", "-o", whole, *objects)
        # weak: the bounds that a link with profiler/module.ld gives
        weak = {"prof_code_begin", "prof_code_end"}
        needed = {
            name
            for kind, name in map(str.split, run("nm", "-u", whole).lines())
            if kind == "U" or name not in weak
        }
        check.same(sorted(needed - set(listed)), [])
        return whole


def chosen_for(width, compiler):
    """The names of what is built. Sizes are judged of the first ones: objects
    by -Og come after them."""
    if compiler != "gcc":
        return CHOICES if FULL else SOME[width]
    single = [
        name
        for number, name in enumerate(SINGLE, 1)
        if width in by_turns(number)
    ]
    return ("everything", *LEAST, *single)


def made(*words):
    """What make says that (words) are."""
    text = run(
        "make",
        "--no-print-directory",
        "-s",
        f"--eval=shown: ; @echo {' '.join(words)}",
        "shown",
    ).out
    return text.split()


def chosen(objects, header):
    """(objects), those anew whose sources see what (header) chooses."""
    tree = header.parent / "tree"
    again = {}
    for path in objects:
        deps = pathlib.Path(path).with_suffix(".d")
        if deps.exists() and "prof/config.h" in deps.read_text():
            again[path] = path.replace("build/", f"{tree}/", 1)
    run(
        *("make", f"BUILD={tree}", f"PROF_CONFIG={header}", *again.values()),
        by_lines=True,
    )
    return [again.get(path, path) for path in objects]


def link(s, width, profiler, folder):
    """The image of (folder) with (profiler), the rest as it was built but for
    what it chooses."""
    core = made(f"$(call core,{width}) $(call objects,{width},{folder})")
    objects = chosen(
        [path for path in core if not path.endswith("/profiler.o")],
        profiler.parent / "choice.h",
    )
    flags = WIDTH_FLAGS[width]
    libgcc = run("gcc", *flags, "-print-libgcc-file-name").out.strip()
    emulation = {"i386": "elf_i386", "x86_64": "elf_x86_64"}[width]
    image = s.work / f"{os.path.basename(folder)}.{width}"
    own = pathlib.Path(folder, "ldflags")
    run(
        "tools/build/link.sh",
        s.build / "host/embed",
        image,
        "ld",
        "-m",
        emulation,
        "-T",
        f"linker/{width}.ld",
        "-nostdlib",
        "-static",
        "--fatal-warnings",
        "-z",
        "noexecstack",
        *(own.read_text().split() if own.exists() else ()),
        "--start-group",
        *objects,
        profiler,
        s.build / width / "libguest.a",
        f"build/newlib/{width}/lib/libc.a",
        f"build/newlib/{width}/lib/libm.a",
        libgcc,
        "--end-group",
    )
    return image.with_suffix(image.suffix + ".elf")


# A row of the table: share, samples, marks, address, name, interval.
ROW = re.compile(
    r"^ +([0-9.]+) % +(\d+) [? ][! ] +0x[0-9a-f]+  (\S+)"
    r"(?:  \([0-9.]+ to [0-9.]+ %\))?\r?$",
    re.M,
)
REFUSED = (
    "prof.depth=5",
    "prof.vmm=main",
    "prof.out=e9",
    "prof.share=64",
    "prof.report=tree",
    "prof.callers=main",
)


def boots(s, width, profiler):
    """The smallest image prints a right table, and says what it lacks. It is
    sampled so often that 2 points are more than 4.5 standard errors."""
    image = link(s, width, profiler, "services/split")
    append = " ".join(
        (
            "prof.every=0 prof.hz=20000 split.rounds=5500",
            *REFUSED,
            "prof.depth=0 prof.out=off prof.report=top",
        )
    )
    with Guest(
        image, width, s.work / "smallest.log", append=append, icount=0
    ) as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    for word in REFUSED:
        check.has(
            text, rf'^options: "{word}" ignored: not part of this image \('
        )
    check.same(text.count("options: "), len(REFUSED))
    rows = {
        name: (float(share), int(samples))
        for share, samples, name in ROW.findall(text)
    }
    for name, share in (
        ("leaf_a", 40),
        ("leaf_b", 30),
        ("leaf_c", 20),
        ("leaf_d", 10),
    ):
        check.between(rows[name][0], share - 2, share + 2)
    ticks = re.search(r"^ 100\.00 % +(\d+) +all ticks", text, re.M)
    check.true(int(ticks[1]) >= sum(count for _, count in rows.values()))
    check.true(int(ticks[1]) > 12200)


# Of tests/guest/profiler/hook_ticks_are_sampled: what needs no part. Its other
# tests are of options, commands and packets, or expect prof.start=off.
HOOKED = (
    "in one account, and none is missed",
    "leaf_a has 40 %",
    "leaf_b has 30 %",
    "leaf_c has 20 %",
    "leaf_d has 10 %",
    "a reset begins from 0",
    "undrained, the vector overflows",
    "in one account",
    "another is refused",
)


def samples(s, width, profiler):
    """The smallest module samples what the kernel's own interrupt hands it."""
    image = link(
        s, width, profiler, "tests/guest/profiler/hook_ticks_are_sampled"
    )
    append = "prof.start=off prof.every=0"
    with Guest(
        image, width, s.work / "hooked.log", append=append, icount=4
    ) as guest:
        guest.end()
        text = guest.text()
    for name in HOOKED:
        check.has(text, rf"^ok \d+ - +{re.escape(name)}\r?$")
        check.lacks(text, rf"^not ok \d+ - +{re.escape(name)}\r?$")


GCC = "12.2.0"  # which the figures of text.txt are of
TEXT_MAY_DIFFER = 512  # bytes
# What a CPU other than the first one calls, or what is called for it.
OF_SEVERAL = re.compile(
    r"prof_(?:cpu_(?:join|leave|answer|poll|compare|stats|limit|links)"
    r"|gate_(?:join|quit))"
)


def text_of(width, name):
    """Bytes of code that text.txt has."""
    for line in pathlib.Path("tests/config/text.txt").read_text().splitlines():
        if line.split()[:2] == [width, name]:
            return int(line.split()[2])
    raise AssertionError(f"text.txt has no {width} {name}")


def one_cpu(width, built):
    """Nothing in it is for others, and its size is what it was."""
    for name in ("everything", "nothing"):
        functions = {
            line.split()[-1] for line in run("nm", built[name]).lines()
        }
        check.same(sorted(filter(OF_SEVERAL.fullmatch, functions)), [])
    if run("gcc", "-dumpfullversion").out.strip() != GCC:
        raise Skip(f"the sizes are known of GCC {GCC}")
    for name in ("everything", "nothing"):
        bytes_ = sum(
            int(line.split()[1])
            for line in run("size", "-A", built[name]).lines()
            if line.startswith(".text")
        )
        known = text_of(width, name)
        check.between(
            *(bytes_, known - TEXT_MAY_DIFFER, known + TEXT_MAY_DIFFER),
            f"{width}, {name}: bytes of code",
        )


def wrong_choices(builder, work):
    """What is no choice is refused where it is made."""
    header = work / "wrong.h"
    header.write_text("#define PROF_WITH_STREAM 2\n")
    found = run(
        *builder.command,
        f'-DPROF_CONFIG_HEADER="{header}"',
        "-fsyntax-only",
        "profiler/control/options.c",
        status=1,
    )
    check.contains(found.err, "PROF_WITH_STREAM is neither 0 nor 1")
    for text, problem in (
        ("#define PROF_WITH_STEAM 0\n", "no such part"),
        ("#define PROF_WITH_CXX yes\n", "neither 0 nor 1"),
    ):
        header.write_text(text)
        found = run(LISTER, "--config", header, "c", status=1)
        check.contains(found.err, problem)


def suite(s):
    width, compiler = s.part.split("-", 1)
    builder = Builder(s.work, width, compiler)
    built = {}
    for name in chosen_for(width, compiler):
        with s.test(f"{width}: {compiler} builds {name}"):
            built[name] = builder.build(CHOICES[name])
    if compiler != "gcc":
        return
    with s.test(f"{width}: wrong choices are refused"):
        wrong_choices(builder, s.work)
    with s.test(f"{width}: the Makefile compiles the sources that are listed"):
        check.same(
            sorted(made(f"$(profiler_sources.{width})")),
            sorted(builder.listed((), "c", "asm")),
        )
    with s.test(f"{width}: an image for one CPU has nothing for others"):
        one_cpu(width, built)
    with s.test(f"{width}: the smallest that boots prints a right table"):
        boots(s, width, built["what boots"])
    with s.test(f"{width}: the smallest module of all samples by the hook"):
        samples(s, width, built["nothing"])
