# SPDX-License-Identifier: Apache-2.0
"""kits.py BUILD SOURCES: builds Debian's U-Boot with kits/u-boot, boots it and
judges its table. `make kits` runs it; it is not part of `make test`, for it
fetches and builds what is not ours."""

import os
import re
import sys
from pathlib import Path

from harness import tap
from harness.suite import Guest, Suite, check, run

ICOUNT = 4
NAMES = 131072  # bytes for the names: U-Boot has 4,500 functions
ACCOUNTS = ("attributed", "masked", "idle", "unresolved", "dropped", "queued")


def build(s, sources):
    """The library with room for the names, and U-Boot with it and the kit."""
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
    image = s.work / "u-boot" / "u-boot.bios"
    run(
        *("make", "-s", "-j2", "-f", "kits/u-boot/Makefile"),
        *(f"SOURCE={sources}", f"BUILD={image.parent}", f"PROF={prof}"),
        f"MEMORY={Path('tests/embed/memory.c').resolve()}",
        f"PARASITE={s.parasite}",
    )
    check.same(image.stat().st_size, 2 << 20)
    return image


def boot(s, image):
    """What it prints: the prompt, and tables while it computes checksums."""
    with Guest(
        *(image, "i386", s.work / "u-boot.log"), icount=ICOUNT, typed=True
    ) as guest:
        guest.wait_line("^Hit any key to stop autoboot")
        guest.send("")
        guest.wait_line("^=> ")
        guest.send("while true; do crc32 1000000 100000; done")
        guest.wait_line("^crc32 for 01000000 ")
        tables = len(re.findall("--- profile", guest.text()))
        guest.wait_line("--- profile", tables + 4)
        return guest.text()


def last_table(text):
    """The last complete table."""
    return text.split("--- profile: ")[-2]


def check_names(table):
    for name in ("crc32_no_comp",):
        row = check.has(table, rf"^ *(\S+) % .* 0x0[67]\S+ +{name}\b")
        check.between(float(row[1]), 5, 100, name)
    check.lacks(table, "no names")


def check_accounts(table):
    """All ticks are in one of the accounts, nearly all in functions."""
    ticks = int(check.has(table, r"(\d+) +all ticks since the start")[1])
    rows = [
        int(found[1])
        for found in (
            re.search(rf"% +(\d+) +{name}", table) for name in ACCOUNTS
        )
        if found
    ]
    check.same(sum(rows), ticks)
    check.between(rows[0], ticks * 0.95, ticks)


def main():
    build_folder, sources = (Path(word).resolve() for word in sys.argv[1:])
    os.makedirs(build_folder / "kits", exist_ok=True)
    writer = tap.Writer()
    s = Suite("", build_folder / "kits", build_folder, writer)
    image = text = table = None
    with s.test("u-boot: it builds with the kit"):
        image = build(s, sources / "u-boot")
    with s.test("u-boot: it boots, and prints tables"):
        text = boot(s, image)
    with s.test("u-boot: its functions have names where it has moved them"):
        table = last_table(text)
        s.note(table)
        check_names(table)
    s.holds("u-boot: the accounts add up", check_accounts, table)
    return writer.end()


if __name__ == "__main__":
    sys.exit(main())
