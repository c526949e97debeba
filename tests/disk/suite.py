# SPDX-License-Identifier: Apache-2.0
"""A disk image that the guest reads, inverts and writes to the image's second
half (guest test blk_reads_and_writes), compared from outside; both widths, both
interfaces of the device. The same by tasks, in requests of all sizes (guest
test disk)."""

import os
import struct

from harness.suite import WIDTHS, check

HALF = 1 << 20
# each sector is full of its number
NUMBERS = b"".join(struct.pack("<I", n) * 128 for n in range(32 * 8))


def is_inverted(s, width, image, want, made, wanted, device=""):
    disk, drive = s.work / want, "driver=file,node-name=d,filename"
    disk.write_bytes(made + bytes(len(made)))
    with s.guest(
        *(width, f"test/{image}", f"{want}{device}"),
        append=f"prof.start=off prof.every=0 alarm=tick want={want}",
        icount=0,
        args=[
            *("-blockdev", f"{drive}={disk}"),
            *("-device", f"virtio-blk-pci,drive=d{device}"),
        ],
    ) as guest:
        guest.end()
        for line in wanted:
            check.has(guest.text(), f"^ok {line}")
    found = disk.read_bytes()
    inverse = bytes(byte ^ 255 for byte in made)
    check.true(found[: len(made)] == made, "the first half is as it was")
    check.true(found[len(made) :] == inverse, "the second half is its inverse")


def suite(s):
    for width in WIDTHS:
        words = ("disk", "numbers", NUMBERS, (1, 2))
        s.holds(f"{width}: by tasks", is_inverted, s, width, *words)
        words = ("blk_reads_and_writes", "copy", os.urandom(HALF), (3,))
        for device in (",disable-legacy=on", ",disable-modern=on"):
            what = f"{width}{device}"
            s.holds(what, is_inverted, s, width, *words, device)
