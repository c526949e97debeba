# SPDX-License-Identifier: Apache-2.0
"""The profiler in builds of others: by pkg-config, by CMake, with a code model
or a configuration of their own, and from the packed sources. Builds of their
own leave out what is large. FULL=1 builds all, and one more code model, which
suite/embed/higher has, too."""

import os

from harness.suite import FULL, WIDTHS, Guest, by_turns, check, run

PARTS = WIDTHS
BITS = {"i386": 32, "x86_64": 64}
PLAIN = {"MAKEFLAGS": "", "MAKELEVEL": ""}  # not those of the tests' make
SPACE = "tests/symbol_space"
FLAGS = """-O2 -ffreestanding -fno-pic -fno-stack-protector
    -mgeneral-regs-only -fno-asynchronous-unwind-tables -Wall -Wextra
    -Werror""".split()
LINK = ["-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none"]
LINK += ["-T", f"{SPACE}/image.ld", "-Wl,--defsym=boot_at=0x300000"]
WITHOUT = ("STREAM", "TREES", "LOOP", "CAUSAL", "CALLERS", "LAPIC")
NAMES = "^0 first_function second_function [0-9a-f]{40}$"


class Packages:
    """What make installs and packs, for one width."""

    def __init__(self, s):
        self.s, self.width = s, s.part
        self.bits = f"-m{BITS[s.part]}"
        self.sources = None  # packed ones, once they are there

    def install(self, name, *words):
        """The library in a folder of its own; with (words) it is made with
        them, in the build's folder that all of them have in common."""
        prefix = self.s.work / name
        own = [f"BUILD={self.s.work}/build"] if words else []
        run(
            *("make", "-j2", "install-lib", f"PREFIX={prefix}", *own, *words),
            *([f"WIDTHS={self.width}", f"ARCH={self.width}"] if words else []),
            env=PLAIN,
            by_lines=True,
        )
        return prefix

    def small(self):
        """A header that leaves out what is large."""
        header = self.s.work / "choice.h"
        header.write_text(
            "".join(f"#define PROF_WITH_{part} 0\n" for part in WITHOUT)
            + "#define PROF_SYMBOLS_BYTES 16384\n"
        )
        return f"LIB_CONFIG={header}"

    def asked(self, prefix, what):
        return run(
            *("pkg-config", f"--define-variable=arch={self.width}", what),
            "parasite",
            env={"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"},
        ).out.split()

    def link(self, prefix, *model, base=0x400000):
        """An image of what pkg-config says, with names."""
        image = prefix / "image.elf"
        flags = [
            word.replace("\\", "") for word in self.asked(prefix, "--cflags")
        ]
        run(
            *("gcc", self.bits, *FLAGS, *LINK, *model, "-DNO_SPACE", *flags),
            *(f"-Wl,--defsym=base={base}", f"-Wl,--defsym=load={base}"),
            *("-o", image, f"{SPACE}/program.c", "tests/package/port.c"),
            *self.asked(prefix, "--libs"),
        )
        run(self.s.parasite, "embed", image)
        return image


def by_pkg_config(packages):
    """libprof.a reserves the space where the image does not."""
    image = packages.link(packages.install("plain"))
    check.has(run(image).out, NAMES)


def listed(packages):
    """The list has what is in the library."""
    lines = (packages.s.build / "sources.txt").read_text().splitlines()
    paths = [line.split() for line in lines if not line.startswith("#")]
    for words in paths:
        check.true(os.path.exists(f"profiler/{words[0]}"), words[0])
    mine = sorted(
        f"profiler/{words[0]}"
        for words in paths
        if words[1:] in ([], [packages.width])
    )
    made = run(
        "make",
        *("-s", "--no-print-directory", "shown"),
        f"--eval=shown: ; @echo $(profiler_sources.{packages.width})",
        env=PLAIN,
    )
    check.same(sorted(made.out.split()), mine)


def by_cmake(packages):
    prefix = packages.install("plain")
    folder = packages.s.work / "cmake"
    run(
        *("cmake", "-S", "tests/package", "-B", folder),
        *(f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_FLAGS={packages.bits}"),
        f"-DPARASITE_COMMAND={packages.s.parasite}",
    )
    run("cmake", "--build", folder)
    check.has(run(folder / "kernel").out, NAMES)


def has_table_of_offsets(packages, prefix):
    """Whether the module was compiled with -fPIC."""
    module = prefix / "lib/parasite" / packages.width / "profiler.o"
    return "GOT" in run("readelf", "-rW", module).out


def in_another_model(packages, model, base, runs):
    """Other flags than last time make the objects again."""
    prefix = packages.install(
        model,
        f"LIB_CFLAGS=-mcmodel={model}",
        *(() if FULL else (packages.small(),)),
    )
    check.true(not has_table_of_offsets(packages, prefix), "made again")
    image = packages.link(prefix, f"-mcmodel={model}", base=base)
    if runs:
        check.has(run(image).out, NAMES)
    found = run("nm", image).out
    check.has(found, f"^{base >> 32:08x}[0-9a-f]+ T prof_init$")


def configured(packages):
    """Also position-independent."""
    prefix = packages.install(
        "small", packages.small(), "LIB_CFLAGS=-fPIC -mno-sse"
    )
    check.true(has_table_of_offsets(packages, prefix), "-fPIC")
    check.contains(
        " ".join(packages.asked(prefix, "--cflags")), "prof/choice.h"
    )
    image = packages.link(prefix)
    check.has(run(image).out, "^0 first_function")
    check.contains(
        run(packages.s.parasite, "embed", image).out, " of 16384 bytes"
    )
    names = run("nm", image).out
    check.contains(names, "prof_init")
    check.lacks(names, "prof_packet_put")


def unpacked(packages):
    """The folder of the packed sources, and those in C and assembly."""
    if packages.sources:
        return packages.sources
    s = packages.s
    run("make", "dist-embed", f"BUILD={s.work}/dist", env=PLAIN)
    run("tar", "-C", s.work, "-xf", s.work / "dist/parasite-embed.tar.gz")
    [folder] = s.work.glob("parasite-embed-*/")
    listed = (folder / "SOURCES").read_text().split()
    c = [name for name in listed if name.endswith(".c")]
    asm = [name for name in listed if name.endswith(".asm")]
    check.true(len(c) > 100 and len(asm) > 2)
    packages.sources = folder, c, asm
    return packages.sources


def merged(packages, folder, asm):
    """The module of the objects that were made of the packed sources."""
    s = packages.s
    for name in asm:
        run("nasm", "-f", f"elf{BITS[s.part]}", name, cwd=folder)
    module = folder / "profiler.o"
    objects = sorted(
        path
        for path in folder.glob("*.o")
        if path.name not in ("symbols_reserve.o", "profiler.o")
    )
    emulation = {"i386": "elf_i386", "x86_64": "elf_x86_64"}[s.part]
    script = ("-T", folder / "module.ld")
    run("ld", "-m", emulation, "-r", *script, "-o", module, *objects)
    return module


def packed_plainly(packages):
    """Compiled without a flag, and without a word."""
    folder, c, asm = unpacked(packages)
    check.same(run("cc", packages.bits, "-c", *c, cwd=folder).text, "")
    merged(packages, folder, asm)


def packed_for_kernels(packages):
    """With a kernel's flags, and without a word; it runs in ours, and prints a
    right table."""
    s = packages.s
    folder, c, asm = unpacked(packages)
    flags = ("@cflags", packages.bits, "-fno-pic", "-Wall")
    check.same(run("cc", *flags, "-c", *c, cwd=folder).text, "")
    image = link_ours(s, merged(packages, folder, asm))
    append = "prof.every=0 prof.hz=2000 split.rounds=4000"
    with Guest(
        image, s.part, s.work / "boot.log", append=append, icount=0
    ) as guest:
        check.same(guest.end(), 0)
        check.has(guest.text(), r" [34]\d\.\d+ % .*leaf_a")


def link_ours(s, module):
    """The service split with (module) in place of our build of it."""
    image = f"build/{s.part}/split/split.elf"
    line = run(*("make", "-n", "-B", "V=1", image), env=PLAIN).out.replace(
        "\\\n", " "
    )
    [line] = [x for x in line.splitlines() if "link.sh" in x]
    ours = f"build/{s.part}/profiler.o"
    stem = s.work / "split"
    check.contains(line, f" {ours} ")
    line = line.replace(f" {ours} ", f" {module} ")
    line = line.replace(f" {os.path.splitext(image)[0]} ", f" {stem} ")
    run("sh", "-c", line)
    return stem.with_suffix(".elf")


def changed_offsets(packages):
    """Assembly with offsets of another configuration does not compile."""
    [folder] = packages.s.work.glob("parasite-embed-*/")
    path = folder / "sample" / "cpu_state.h"
    text = path.read_text()
    changed = text.replace("uint32_t", "uint64_t")
    check.true(changed != text)
    path.write_text(changed)
    done = run(
        *("cc", packages.bits, "-c", "sample_offsets.c"), cwd=folder, status=1
    )
    check.contains(done.err, "prof_offsets.inc is of another configuration")
    path.write_text(text)


def suite(s):
    packages = Packages(s)
    tests = [
        ("an image by pkg-config", by_pkg_config),
        ("an image by CMake", by_cmake),
        ("a list of the sources", listed),
    ]
    if s.part in by_turns("x86_64"):
        tests.append(("with a configuration, and -fPIC", configured))
        tests.append(("the packed sources build", packed_plainly))
    if s.part in by_turns("i386"):
        tests.append(
            ("the packed sources run in our kernel", packed_for_kernels)
        )
    tests.append(("offsets that do not fit do not compile", changed_offsets))
    for what, function in tests:
        s.holds(what, function, packages)
    if s.part == "x86_64":
        for model, base, runs in (
            *([("kernel", 0xFFFFFFFF80100000, False)] if FULL else []),
            ("large", 0x7E0000100000, True),
        ):
            s.holds(
                f"in the code model {model}",
                *(in_another_model, packages, model, base, runs),
            )
