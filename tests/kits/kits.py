# SPDX-License-Identifier: Apache-2.0
"""kits.py BUILD SOURCES: builds Debian's U-Boot and coreboot's libpayload, each
with its kit, boots them and judges their tables. `make kits` runs it; it is
not part of `make test`, for it fetches and builds what is not ours."""

import os
import re
import sys
from pathlib import Path

from harness import tap
from harness.suite import Guest, Suite, check, run

ICOUNT = 4
NAMES = 131072  # bytes for the names: U-Boot has 4,500 functions
ACCOUNTS = ("attributed", "masked", "idle", "unresolved", "dropped", "queued")
OWN = "in the profiler, and in no share"
EARLY_MAX = 0.03  # of the samples: as between two stacks
TABLE = "--- profile: "


class Kit:
    """One kernel and its kit: its (name) and the Debian (package), what its
    Makefile makes (image), and what its table has to show: the function that
    takes most of the time, least and most per cent that are its own, and least
    that are its total."""

    def __init__(self, s, name, package, image, expected):
        self.s, self.name, self.package = s, name, package
        self.image = s.work / name / image
        self.function, self.least, self.most, self.least_total = expected

    def build(self, sources, prof):
        """The kernel with the kit, as its Makefile builds it."""
        run(
            *("make", "-s", "-j2", "-f", f"kits/{self.name}/Makefile"),
            f"SOURCE={sources / self.package}",
            *(f"BUILD={self.image.parent}", f"PROF={prof}"),
            f"MEMORY={Path('tests/embed/memory.c').resolve()}",
            f"PARASITE={self.s.parasite}",
        )

    def boot(self):
        """What it prints, with some tables while it works."""
        log = self.s.work / f"{self.name}.log"
        with Guest(
            *(self.image, "i386", log), icount=ICOUNT, typed=True
        ) as guest:
            self.work(guest)
            tables = len(re.findall(TABLE, guest.text()))
            guest.wait_line(TABLE, tables + 4)
            return guest.text()

    def work(self, guest):
        """Has it do what the table is to show."""

    def check_names(self, table):
        row = check.has(
            table, rf"^ *(\S+) % +(\S+) % .* 0x\S+ +{self.function}\b"
        )
        check.between(float(row[1]), self.least, self.most, "its own share")
        check.between(float(row[2]), self.least_total, 100, "its total")
        check.lacks(table, "no names")

    def suite(self, sources, prof):
        s, name, text, table = self.s, self.name, None, None
        s.holds(f"{name}: it builds with the kit", self.build, sources, prof)
        with s.test(f"{name}: it boots, and prints tables"):
            text = self.boot()
        with s.test(f"{name}: its functions have names, and their shares"):
            table = text.split(TABLE)[-2]
            s.note(table)
            self.check_names(table)
        s.holds(f"{name}: call stacks are complete", check_callers, table)
        s.holds(f"{name}: the accounts add up", check_accounts, table)


class UBoot(Kit):
    """It copies itself to another address, and computes checksums."""

    def __init__(self, s):
        # a leaf: its own share is its total
        expected = ("crc32_no_comp", 50, 100, 50)
        super().__init__(s, "u-boot", "u-boot", "u-boot.bios", expected)

    def build(self, sources, prof):
        super().build(sources, prof)
        check.same(self.image.stat().st_size, 2 << 20)

    def work(self, guest):
        guest.wait_line("^Hit any key to stop autoboot")
        guest.send("")
        guest.wait_line("^=> ")
        guest.send("while true; do crc32 1000000 100000; done")
        guest.wait_line("^crc32 for 01000000 ")


class Libpayload(Kit):
    """Its coreinfo waits for keys; what it waits with reads the clock."""

    def __init__(self, s):
        expected = ("arch_ndelay", 50, 90, 93)
        super().__init__(s, "libpayload", "coreboot", "coreinfo.elf", expected)


def make_prof(s):
    """The library with room for the names, and the headers, where the kits
    look for them."""
    prof = s.work / "prof"
    library = s.work / "library" / "i386" / "libprof.a"
    run(
        *("make", "-s", f"BUILD={s.work / 'library'}"),
        *(f"LIB_CFLAGS=-DPROF_SYMBOLS_BYTES={NAMES}", library),
    )
    prof.mkdir(exist_ok=True)
    for name, target in (
        ("include", Path("profiler/include").resolve()),
        ("libprof.a", library),
    ):
        (prof / name).unlink(missing_ok=True)
        (prof / name).symlink_to(target)
    return prof


def count_of(table, pattern):
    """The number before (pattern), 0 where that is not there."""
    found = re.search(rf"(\d+) +{pattern}", table)
    return int(found[1]) if found else 0


def check_callers(table):
    """Nearly no walk ends before the first function of its stack, except for
    want of space, as while the kernel's slow console prints the table."""
    samples = count_of(table, "samples in")
    lost = count_of(table, "stack walks ended early")
    lost += count_of(table, "samples without their caller")
    lost -= count_of(table, "out of space")
    check.between(lost, 0, samples * EARLY_MAX, "incomplete stacks")


def check_accounts(table):
    """All ticks are in one of the accounts, nearly all in functions."""
    ticks = int(check.has(table, r"(\d+) +all ticks since the start")[1])
    counts = [count_of(table, name) for name in (*ACCOUNTS, OWN)]
    check.same(sum(counts), ticks)
    check.between(counts[0], ticks * 0.95, ticks)


def main():
    build_folder, sources = (Path(word).resolve() for word in sys.argv[1:])
    os.makedirs(build_folder / "kits", exist_ok=True)
    writer = tap.Writer()
    s = Suite("", build_folder / "kits", build_folder, writer)
    prof = make_prof(s)
    for kit in (Libpayload(s), UBoot(s)):
        kit.suite(sources, prof)
    return writer.end()


if __name__ == "__main__":
    sys.exit(main())
