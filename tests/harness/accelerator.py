# SPDX-License-Identifier: Apache-2.0
"""Whether guests run with KVM here. A device is not enough, as in a virtual
machine whose host does not nest them well: an image has to come up with it."""

import os
import subprocess
from pathlib import Path

from . import qemu

PROBE_S = 60  # for less, a busy host may stand still
GUEST_ENDED = 1  # QEMU's status where the guest's code is 0
DEVICE = "PARASITE_KVM"  # environment: the device, /dev/kvm


def _boots(image, width):
    line = qemu.command(
        width, image, accel="kvm", memory=64, serial="null", args=[]
    )
    try:
        done = subprocess.run(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PROBE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == GUEST_ENDED


def probe(image, width):
    """ "kvm" or "tcg", and in words why; asked once per boot of this host. The
    answer is kept beside (image), which ends at once with code 0."""
    known = Path(image).parent / "accelerator"
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot = "unknown"
    lines = known.read_text().splitlines() if known.exists() else []
    if len(lines) != 2 or lines[0] != boot:
        device = os.environ.get(DEVICE) or "/dev/kvm"
        if not os.access(device, os.W_OK):
            found = f"tcg TCG (KVM: no access to {device})"
        elif _boots(image, width):
            found = "kvm KVM"
        else:
            found = "tcg TCG: KVM failed to boot it; using slower TCG"
        new = known.with_name(f"{known.name}.{os.getpid()}")
        new.write_text(f"{boot}\n{found}\n")
        os.replace(new, known)  # others may be asking, too
        lines = [boot, found]
    accel, _, words = lines[1].partition(" ")
    return accel, words


def choose(asked, image, width, args=()):
    """What (asked), "tcg", "kvm" or "auto", means for a machine with (args);
    the words are None where nothing had to be found out."""
    if asked != "auto":
        return asked, None
    if "-icount" in args:  # which KVM cannot
        return "tcg", "TCG, which counts instructions (-icount)"
    return probe(image, width)
