# SPDX-License-Identifier: Apache-2.0
"""Starting QEMU, for every test: its command line, the ISO that GRUB boots
from, and the meaning of its exit status."""

import os
import re
import subprocess

from . import progress

# environment: words for every machine that boots an image by -kernel
MACHINE = "PARASITE_TEST_MACHINE"
ISO = "tools/build/iso.sh"

# exit codes if the guest gave none
STOPPED = 124  # ended from outside
RESET = 125  # reset or switched off: a triple fault, mostly
QEMU_FAILED = 126
INTERRUPTED = 130


def icount(shift, rtc=None):
    """Arguments for a clock that counts instructions, 2**shift ns each, so that
    a guest's measurements do not depend on the host. (rtc) is the initial date
    of its clock."""
    base = f"base={rtc}," if rtc else ""
    return ["-icount", f"shift={shift},sleep=off", "-rtc", f"{base}clock=vm"]


def devices(words, machine):
    """(words) with the virtio devices that such a machine has: microvm has no
    PCI."""
    if not (machine or "").startswith("microvm"):
        return words
    return [
        re.sub(r"^(virtio-\w+)-pci\b", r"\1-device", str(word))
        for word in words
    ]


def command(
    width,
    image,
    append="",
    *,
    machine=None,
    iso=None,
    modules=(),
    memory=128,
    accel="tcg",
    serial="stdio",
    network=False,
    args=(),
):
    """The command line of a machine that ends with its guest, as a list.

    An image NAME.bios is a ROM, in the place of the machine's own. With (iso),
    see make_iso(), the image is booted from there. (network): whether (args)
    bring a network; otherwise there is none. (machine): QEMU's -M, as in "q35"
    or "microvm,pit=off"; (args) may name virtio devices of PCI anywhere.
    """
    words = [
        f"qemu-system-{width}",
        "-accel",
        accel,
        "-display",
        "none",
        "-no-reboot",
        "-monitor",
        "none",
        "-m",
        str(memory),
        "-device",
        "isa-debug-exit,iobase=0xf4,iosize=0x04",
    ]
    if machine:
        words += ["-M", machine]
    if not network:
        words += ["-nic", "none"]
    if serial:
        words += ["-serial", serial]
    if iso:
        words += ["-cdrom", str(iso), "-boot", "d"]
    elif str(image).endswith(".bios"):
        words += ["-bios", str(image)]
    else:
        words += os.environ.get(MACHINE, "").split()
        words += ["-kernel", str(image), "-append", append]
        if modules:
            words += ["-initrd", ",".join(map(str, modules))]
    return words + devices([str(a) for a in args], machine)


def make_iso(width, iso, image, append="", modules=()):
    """An ISO from which GRUB boots (image), one for each command line."""
    done = subprocess.run(
        [ISO, width, str(iso), str(image), append, ",".join(map(str, modules))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=progress.WAIT_S,
    )
    if done.returncode:
        raise RuntimeError(f"{ISO} failed:\n{done.stdout}")


def exit_code(status, errors):
    """The guest's exit code. (status) is QEMU's as subprocess has it,
    (errors) what it wrote to stderr.

    isa-debug-exit turns the guest's code into 2 * code + 1. QEMU's own
    failures exit with 1, and so does a guest's code 0: only what QEMU says
    can distinguish them.
    """
    if re.search(r"terminating on signal 2|via GDBstub", errors):
        return INTERRUPTED
    for line in errors.splitlines():
        if line.startswith("qemu") and not re.search(
            r" warning: | terminating on ", line
        ):
            return QEMU_FAILED
    if status == 0:
        return STOPPED if "terminating on" in errors else RESET
    if status < 0:
        return STOPPED
    if status % 2 == 0:
        return QEMU_FAILED
    return (status - 1) // 2
