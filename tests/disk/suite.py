# SPDX-License-Identifier: Apache-2.0
"""A disk image that the guest reads, inverts and writes to the image's second
half (guest test blk_reads_and_writes), compared from outside; both widths, both
interfaces of the device."""

import os

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


def suite(s):
    made = os.urandom(HALF)
    disk = s.work / "disk"
    for width in WIDTHS:
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
