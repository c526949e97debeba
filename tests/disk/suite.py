# SPDX-License-Identifier: Apache-2.0
"""A disk image that the guest reads, inverts and writes to the image's second
half (guest test blk_reads_and_writes), compared from outside; both widths, both
interfaces of the device. The same by tasks, in requests of all sizes (guest
test disk)."""

import os
import struct

from harness.suite import WIDTHS, check

HALF = 1 << 20


def run_guest(s, width, disabled, disk):
    """Its console."""
    with s.guest(
        width,
        "test/blk_reads_and_writes",
        log=f"without-{disabled}",
        append="prof.start=off prof.every=0 want=copy",
        icount=0,
        args=[
            "-blockdev",
            f"driver=file,node-name=d,filename={disk}",
            "-device",
            f"virtio-blk-pci,drive=d,disable-{disabled}=on",
        ],
    ) as guest:
        guest.end()
        return guest.text()


PAGES = 32
SECTORS = PAGES * 8


def test_tasks(s, width):
    """Each sector of the first half is full of its number."""
    disk = s.work / "numbers"
    made = b"".join(struct.pack("<I", n) * 128 for n in range(SECTORS))
    disk.write_bytes(made + bytes(len(made)))
    with s.guest(
        width,
        "test/disk",
        log="numbers",
        append="prof.start=off prof.every=0 want=numbers",
        icount=0,
        args=[
            "-blockdev",
            f"driver=file,node-name=d,filename={disk}",
            "-device",
            "virtio-blk-pci,drive=d",
        ],
    ) as guest:
        guest.end()
        check.has(guest.text(), "^ok 1")
        check.has(guest.text(), "^ok 2")
    found = disk.read_bytes()
    check.true(found[: len(made)] == made, "the first half is as it was")
    check.true(
        found[len(made) :] == bytes(byte ^ 255 for byte in made),
        "the second half is its inverse",
    )


def suite(s):
    made = os.urandom(HALF)
    disk = s.work / "disk"
    for width in WIDTHS:
        s.holds(
            f"{width}: split requests are put together", test_tasks, s, width
        )
        for disabled in ("legacy", "modern"):
            with s.test(
                f"{width}, disable-{disabled}: the disk holds what was written"
            ):
                disk.write_bytes(made + bytes(HALF))
                check.has(run_guest(s, width, disabled, disk), "^ok 3")
                found = disk.read_bytes()
                check.true(found[:HALF] == made, "the first half is as it was")
                check.true(
                    found[HALF:] == bytes(byte ^ 255 for byte in made),
                    "the second half is its inverse",
                )
