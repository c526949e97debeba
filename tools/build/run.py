#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py IMAGE: boots IMAGE in QEMU, its serial line on stdin and stdout, and
exits with the guest's own code (tests/harness/qemu.py has the others). The
environment says how:

  ARCH      i386 or x86_64
  LOADER    kernel (QEMU's -kernel) or grub (from an ISO made for the purpose)
  MACHINE   QEMU's -M, as pc, q35 or microvm,pit=off; empty = its default
  MEM       MiB of memory, or with a unit as QEMU takes it
  APPEND    command line
  INITRD    file to be given as boot module; several with commas between them
            (for GRUB and for Multiboot, not for PVH)
  ACCEL     tcg or kvm; auto takes kvm where PROBE, an image, boots with it
  LIMIT     seconds after which the guest is ended with code 124, 0 = never
  GDB       port to wait for a debugger at, before the first instruction
  QEMU_ARGS more arguments for QEMU
  QUIET     not empty: only what the guest prints is printed

run.py --accel only prints what ACCEL means for such a machine, tcg or kvm, for
those who start QEMU themselves.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.dont_write_bytecode = True

from harness import accelerator, qemu  # noqa: E402


def log(text, out=sys.stdout):
    if not os.environ.get("QUIET"):
        print(text, file=out, flush=True)


def run(line, limit):
    """QEMU's status, what it wrote to stderr, and whether it was in time."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(line, stderr=errors)
        # QEMU gets the terminal's signals, too, and ends in order
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        in_time = True
        try:
            process.wait(limit or None)
        except subprocess.TimeoutExpired:
            in_time = False
            process.terminate()
            process.wait()
        errors.seek(0)
        words = errors.read().decode("utf-8", "replace")
    sys.stderr.write(words)
    return process.returncode, words, in_time


def main():
    get = os.environ.get
    width = get("ARCH") or "x86_64"
    append = get("APPEND") or ""
    modules = [name for name in (get("INITRD") or "").split(",") if name]
    limit = float(get("LIMIT") or 0)
    args = (get("QEMU_ARGS") or "").split()
    accel, why = accelerator.choose(
        get("ACCEL") or "tcg", get("PROBE"), width, args
    )
    if sys.argv[1:] == ["--accel"]:
        if why:
            log(f"accelerator: {why}", sys.stderr)
        print(accel)
        return 0
    if why:
        log(f"accelerator: {why}")
    image, iso = Path(sys.argv[1]), None
    if get("LOADER") == "grub":
        iso = image.with_suffix(".iso")
        qemu.make_iso(width, iso, image, append, modules)
    if get("GDB"):
        args += ["-S", "-gdb", f"tcp::{get('GDB')}"]
        log(f"waiting for: gdb {image} -ex 'target remote :{get('GDB')}'")
    status, words, in_time = run(
        qemu.command(
            width,
            image,
            append,
            machine=get("MACHINE"),
            iso=iso,
            modules=modules,
            memory=get("MEM") or 128,
            accel=accel,
            network="-nic" in args,
            args=args,
        ),
        limit,
    )
    code = qemu.exit_code(status, words) if in_time else qemu.STOPPED
    if not in_time:
        log(f"run.py: no end after {limit:g} s", sys.stderr)
    elif code == qemu.RESET:
        log("run.py: the guest was reset or switched off", sys.stderr)
    elif code == qemu.QEMU_FAILED:
        log(f"run.py: QEMU failed with status {status}", sys.stderr)
    return code


sys.exit(main())
