# SPDX-License-Identifier: Apache-2.0
"""What the machine can run on which the tests are run."""

import errno
import functools
import os
import struct
import subprocess
import tempfile

NO_32_BIT = (
    "this kernel runs no 32-bit programs; boot it with ia32_emulation=on"
)

# exit(0): xor ebx, ebx; mov eax, 1; int 0x80
_CODE = bytes.fromhex("31db b801000000 cd80")
_BASE, _HEADERS = 0x08048000, 52 + 32


def _program():
    """The smallest static ELF file for i386 that a kernel accepts."""
    size = _HEADERS + len(_CODE)
    ident = b"\x7fELF" + bytes([1, 1, 1]) + bytes(9)
    header = struct.pack(
        "<HHIIIIIHHHHHH",
        *(2, 3, 1, _BASE + _HEADERS, 52, 0, 0, 52, 32, 1, 0, 0, 0),
    )
    segment = struct.pack("<8I", 1, 0, _BASE, _BASE, size, size, 5, 0x1000)
    return ident + header + segment + _CODE


@functools.cache
def runs_32_bit():
    """Whether the kernel runs programs for i386: some are built, or booted,
    without that."""
    with tempfile.TemporaryDirectory(prefix="runs32.") as folder:
        path = os.path.join(folder, "exits")
        with open(path, "wb") as out:
            out.write(_program())
        os.chmod(path, 0o755)
        try:
            subprocess.run([path], check=True)
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            return False
        return True


def lacks_32_bit(error):
    """Whether (error) is that a program for i386 cannot be run here."""
    return (
        isinstance(error, OSError)
        and error.errno == errno.ENOEXEC
        and not runs_32_bit()
    )
