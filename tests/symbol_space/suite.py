# SPDX-License-Identifier: Apache-2.0
"""`parasite embed` puts the table of names into a linked image that reserves
space for it, however that was built (<prof/symbols.h>)."""

import re
import shutil
import stat
import struct

from harness.suite import WIDTHS, check, run

from symbol_space.table import Elf, Table

PARTS = WIDTHS

HERE = "tests/symbol_space"
SOURCES = (
    "profiler/symbols/elf.c",
    "profiler/symbols/table.c",
    "profiler/symbols/lookup.c",
    "profiler/base/crc.c",
)
FLAGS = """-ffreestanding -fno-pic -fno-pie -fno-stack-protector
    -mgeneral-regs-only -Wall -Wextra -Werror -fno-asynchronous-unwind-tables
    -Iprofiler/include -Iprofiler""".split()
LINK = ["-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none"]
LINK += ["-T", f"{HERE}/image.ld"]
SECTIONS = ["-ffunction-sections", "-fdata-sections"]
# How others build: words for the compiler and for the linker.
BUILDS = {
    "optimized": ("gcc", ["-O2"], []),
    "not optimized": ("gcc", ["-O0"], []),
    "small": ("gcc", ["-Os", "-fno-toplevel-reorder"], []),
    "in C++": ("g++", ["-O2", "-std=c++11"], []),
    "by clang": ("clang-14", ["-O2"], []),
    "with --gc-sections": ("gcc", ["-O2", *SECTIONS], ["-Wl,--gc-sections"]),
    "with LTO": ("gcc", ["-O2", "-flto"], []),
    "with LTO and --gc-sections": (
        "gcc",
        ["-O2", "-flto", *SECTIONS],
        ["-Wl,--gc-sections"],
    ),
    "with a build-id": ("gcc", ["-O2"], ["-Wl,--build-id=sha1"]),
}
HIGH = {"i386": 0xC0100000, "x86_64": 0xFFFFFFFF80100000}


class Images:
    """Builds images of one width."""

    def __init__(self, s):
        self.s, self.width = s, s.part
        self.bits = {"i386": "-m32", "x86_64": "-m64"}[s.part]

    def build(self, name, how="optimized", *more, base=0x400000, load=None):
        """An image at (base) that is loaded to (load)."""
        compiler, words, link = BUILDS[how]
        folder = self.s.work / name
        folder.mkdir(exist_ok=True)
        path = folder / "image.elf"
        model = ["-mcmodel=kernel"] if base > 0xFFFFFFFF else []
        objects = []
        for source in (f"{HERE}/program.c", *SOURCES):
            objects.append(folder / (source.replace("/", "_") + ".o"))
            c = not source.startswith(HERE)
            run(
                "gcc" if c else compiler,
                *(self.bits, *(FLAGS), *(["-O2"] if c else words)),
                *(["-flto"] if "-flto" in words else []),
                *(*model, *more, "-c", "-o", objects[-1], source),
            )
        run(
            *("gcc", self.bits, *words[:1], *LINK, *link),
            *(f"-Wl,--defsym=base={base:#x}", "-Wl,--defsym=boot_at=0x300000"),
            f"-Wl,--defsym=load={base if load is None else load:#x}",
            *(["-flto"] if "-flto" in words else []),
            *("-o", path, *objects, "-lgcc"),
        )
        return path

    def embed(self, *words, status=0):
        return run(self.s.parasite, "embed", *words, status=status)

    def table(self, image):
        """The table in (image)."""
        elf = Elf(image)
        address = symbols(image)["prof_symbols_reserved"]
        return Table(elf.data[elf.place(address) :])


def symbols(image):
    found = {}
    for line in run("nm", image).lines():
        words = line.split()
        found[words[-1].split(".lto_priv")[0]] = int(words[0], 16)
    return found


FILLED = re.compile(
    r"(\d+) functions in (\d+) of (\d+) bytes, build-id ([0-9a-f]+)( \(made\))?"
)


def names_itself(images, how):
    """The program finds nothing before, and its own names afterwards."""
    image = images.build(how.replace(" ", "_"), how)
    check.same(run(image).out, "-16 ? ? \n")
    found = FILLED.search(images.embed(image).out)
    check.same(run(image).out, f"0 first_function second_function {found[4]}\n")
    note = "build-id" in how
    check.same(found[5] is None, note)
    text = run("readelf", "-n", image).out
    check.same(f"Build ID: {found[4]}" in text, note)


def agrees_with_nm(images):
    """Decoded independently, the table says what nm does."""
    image = images.build("decoded")
    images.embed(image)
    known = symbols(image)
    for name, address in images.table(image).functions.items():
        check.same(address, known[name], name)


def is_filled_again(images):
    image = images.build("again")
    images.embed(image)
    once = image.read_bytes()
    check.same(images.embed("-q", image).text, "")
    check.true(image.read_bytes() == once, "a second time changes nothing")
    other = images.build("other", "optimized", "-DNOTHING")
    images.embed(other)
    check.true(other.read_bytes() == once, "a build that is reproducible")
    small = images.build("other", "small")
    images.embed(small)
    check.true(
        images.table(small).build_id != images.table(image).build_id,
        "other code, another build-id",
    )


def build_id_is_of_the_contents(images):
    """SHA-1 of what is loaded, computed here as well."""
    image = images.build("hashed")
    address = symbols(image)["prof_symbols_reserved"]
    elf = Elf(image)
    wanted = elf.build_id(elf.place(address), 4096)
    check.same(FILLED.search(images.embed(image).out)[4], wanted)


def says_how_much_is_missing(images):
    """The space that a table takes is enough; less is not, and by how much."""
    image = images.build("measured")
    needed = int(FILLED.search(images.embed(image).out)[2])
    image = images.build("exact", "optimized", f"-DSPACE_BYTES={needed}")
    check.same(int(FILLED.search(images.embed(image).out)[3]), needed)
    image = images.build("short", "optimized", f"-DSPACE_BYTES={needed - 40}")
    before = image.read_bytes()
    said = images.embed(image, status=1).text
    check.has(
        said,
        f"takes {needed} bytes, and {needed - 40} are reserved, 40 too few: "
        r".* Write PROF_SYMBOLS_RESERVE\(4096\); .*-DPROF_SYMBOLS_BYTES=4096"
        ", and link again$",
    )
    check.true(image.read_bytes() == before, "the image is as it was")
    image = images.build("tiny", "optimized", "-DSPACE_BYTES=8")
    check.has(images.embed(image, status=1).text, f"{needed - 8} too few")


def takes_a_twin(images):
    """A stripped image gets the names of its unstripped twin, and the same
    build-id; the names of another build it does not get."""
    image = images.build("twin")
    stripped = image.with_name("stripped.elf")
    run("strip", "-o", stripped, image)
    check.has(
        images.embed(stripped, status=1).text,
        "stripped: embed before it is stripped, or .* with -k$",
    )
    images.embed("-k", image, stripped)
    wanted = run(stripped).out
    check.has(wanted, "^0 first_function second_function [0-9a-f]{40}$")
    images.embed(image)
    check.same(run(image).out, wanted)
    run("strip", "-o", stripped, image)
    check.same(run(stripped).out, wanted, "stripped afterwards")
    other = images.build("twin2", "small")
    check.has(
        images.embed("-k", other, stripped, status=1).text,
        "another build$",
    )
    check.has(images.embed("-k", stripped, stripped, status=1).text, "without")


def without_section_headers(data, wide):
    """(data) as programs leave it that remove all that is not loaded."""
    data = bytearray(data)
    if wide:
        struct.pack_into("<Q", data, 40, 0)
        struct.pack_into("<3H", data, 58, 0, 0, 0)
    else:
        struct.pack_into("<I", data, 32, 0)
        struct.pack_into("<3H", data, 46, 0, 0, 0)
    return data


def needs_no_sections(images):
    image = images.build("sections")
    bare = image.with_name("bare.elf")
    shutil.copy(image, bare)
    bare.write_bytes(
        without_section_headers(image.read_bytes(), images.width == "x86_64")
    )
    check.has(images.embed(bare, status=1).text, "stripped: ")
    images.embed("-k", image, bare)
    check.has(run(bare).out, "^0 first_function second_function ")


def load_addresses_do_not_matter(images):
    """AT() in the linker script; and the raw image has the table as well."""
    image = images.build("at", base=0x8000000, load=0x100000)
    images.embed(image)
    check.has(run(image).out, "^0 first_function second_function ")
    check.has(
        run("readelf", "-lW", image).out, "LOAD +0x[0-9a-f]+ 0x0*8000000 0x0*1"
    )
    raw = image.with_name("image.bin")
    run("objcopy", "-O", "binary", "-R", ".boot", image, raw)
    at = symbols(image)["prof_symbols_reserved"] - 0x8000000
    table = Table(raw.read_bytes()[at:])
    check.same(table.functions, images.table(image).functions)
    blob = image.with_name("blob.o")
    run("ld", "-r", "-b", "binary", "-o", blob, image)
    check.true(raw.read_bytes()[at : at + table.bytes] in blob.read_bytes())


def in_the_higher_half(images):
    """A kernel in the higher half whose start code is not: on x86_64 4 GiB or
    more away, which a table does not reach."""
    base = HIGH[images.width]
    image = images.build("high", base=base, load=0x100000)
    said = images.embed(image).text
    known = symbols(image)
    table = images.table(image)
    for name, address in table.functions.items():
        check.same(address, known[name], name)
    check.true(table.functions["first_function"] >= base)
    wide = images.width == "x86_64"
    check.same("early_function" in table.functions, not wide)
    check.same("1 functions were left out: 4 GiB or more" in said, wide)
    if not wide:
        check.has(run(image).out, "^0 first_function second_function ")


def in_a_32_bit_file(images):
    """64-bit code as multiboot loaders want it, with the addresses in full."""
    for name, base in (("low", 0x400000), ("high", HIGH["x86_64"])):
        image = images.build(f"narrow_{name}", base=base, load=0x100000)
        narrow = image.with_name("narrow.elf")
        run("objcopy", "-O", "elf32-i386", image, narrow)
        stripped = image.with_name("stripped.elf")
        run("strip", "-o", stripped, narrow)
        images.embed(narrow)
        images.embed("-k", image, stripped)
        images.embed(image)
        elf, whole = Elf(narrow), Elf(image)
        address = symbols(image)["prof_symbols_reserved"]
        at = elf.place(address & 0xFFFFFFFF)
        table = Table(elf.data[at:])
        check.same(elf.wide, False)
        check.same(table.bits, 64)
        check.same(
            table.functions, Table(whole.data[whole.place(address) :]).functions
        )
        elf = Elf(stripped)
        at = elf.place(address & 0xFFFFFFFF)
        check.same(Table(elf.data[at:]).functions, table.functions)


def writes_a_copy(images):
    image = images.build("copied")
    image.chmod(0o750)
    before, copy = image.read_bytes(), image.with_name("copy.elf")
    check.has(images.embed("-o", copy, image).out, "^.*copy.elf: ")
    check.true(image.read_bytes() == before, "the image is as it was")
    check.has(run(copy).out, "^0 first_function")
    check.same(stat.S_IMODE(copy.stat().st_mode), 0o750)
    images.embed("-o", image, image)
    check.has(run(image).out, "^0 first_function")
    run("strip", image)
    never = image.with_name("never.elf")
    images.embed("-o", never, image, status=1)
    check.same(never.exists(), False)


def refuses(images):
    """What cannot be filled, one line each."""
    work = images.s.work
    image = images.build("refused")
    object_file = image.with_name("tests_symbol_space_program.c.o")
    none = work / "none.elf"
    none.write_bytes(image.read_bytes().replace(b"\x7fprof", b"\x7fnone"))
    empty, text = work / "empty", work / "text"
    empty.write_bytes(b"")
    text.write_text("no image\n")
    cut = work / "cut.elf"
    cut.write_bytes(image.read_bytes()[:-3000])
    for path, words in (
        (
            none,
            r"reserves no .* prof_begin\(\) .* PROF_SYMBOLS_RESERVE\(65536\);",
        ),
        (object_file, "not a linked image"),
        (text, "not an ELF file: embed before the image is converted"),
        (empty, "not an ELF file"),
        (cut, "truncated"),
        (work, "not a file"),
        (work / "nothing", "cannot be read: No such file"),
    ):
        said = images.embed(path, status=1).text
        check.same(len(said.splitlines()), 1, said)
        check.has(said, rf"^parasite embed: {path}: .*{words}")
    images.embed(status=2)
    images.embed(image, image, status=2)


def is_linked_once(images):
    """As our own images are: names, map and symbols, or no image at all."""
    emulation = {"i386": "elf_i386", "x86_64": "elf_x86_64"}
    for space, status in (4096, 0), (64, 1):
        name = f"once{space}"
        image = images.build(name, "optimized", f"-DSPACE_BYTES={space}")
        folder = image.parent
        stem = folder / "ours"
        said = run(
            *("tools/build/link.sh", images.s.build / "host/embed", stem),
            *("ld", "-m", emulation[images.width], "-nostdlib", "-static"),
            *("--defsym=base=0x400000", "--defsym=boot_at=0x300000"),
            *("--defsym=load=0x400000", "-T", f"{HERE}/image.ld"),
            *sorted(folder.glob("*.o")),
            status=status,
        ).text
        made = {path.name for path in folder.glob("ours*")}
        if status == 0:
            check.same(said, "")
            check.has(run(f"{stem}.elf").out, "^0 first_function second_f")
            check.same(made, {"ours.elf", "ours.map", "ours.sym"})
        else:
            check.has(said, "^embed: .*ours.elf: .* too few")
            check.same("ours.elf" in made, False)


def suite(s):
    images = Images(s)
    for how in BUILDS:
        s.holds(
            f"{s.part}: an image {how} finds its own names",
            *(names_itself, images, how),
        )
    tests = [
        ("the table says what nm says", agrees_with_nm),
        ("an image is filled again", is_filled_again),
        ("a build-id is made of the contents", build_id_is_of_the_contents),
        ("too little space: by how much", says_how_much_is_missing),
        ("a stripped image takes a twin", takes_a_twin),
        ("section headers are not needed", needs_no_sections),
        ("AT(), and raw images", load_addresses_do_not_matter),
        ("in the higher half", in_the_higher_half),
        ("a copy is written", writes_a_copy),
        ("what cannot be filled is refused", refuses),
        ("linked once by the build of our own", is_linked_once),
    ]
    if s.part == "x86_64":
        tests.append(("64-bit code in a 32-bit file", in_a_32_bit_file))
    for what, function in tests:
        s.holds(f"{s.part}: {what}", function, images)
