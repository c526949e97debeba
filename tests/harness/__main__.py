# SPDX-License-Identifier: Apache-2.0
"""python3 -m harness [OPTIONS] BUILD [PATTERN...]: runs all tests whose
name matches one of the shell patterns; see tests/README.md."""

import argparse
import os
import shutil
import signal
import sys

from . import progress, qemu, runner


def main():
    parser = argparse.ArgumentParser(prog="harness")
    parser.add_argument(
        "--write-plan",
        action="store_true",
        help="write tests/plan.txt by what was run",
    )
    parser.add_argument(
        "--without-plan",
        action="store_true",
        help="for a run that makes more checks than tests/plan.txt has",
    )
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("build")
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    patterns = [word for text in arguments.patterns for word in text.split()]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # the firmware has no drives and no screen to wait for, which takes longer
    # than many a guest runs
    os.environ.setdefault(qemu.MACHINE, "-nodefaults")
    _prefer_this_python()
    try:
        return runner.main(
            arguments.build,
            patterns or ["*"],
            arguments.lanes,
            arguments.write_plan,
            arguments.without_plan,
        )
    finally:
        _end_children()


def _prefer_this_python():
    """Scripts of tests and of make are run by this interpreter, and not by what
    looks for it first, as that of pyenv does in half a second of CPU."""
    if shutil.which("python3") != sys.executable:
        folder = os.path.dirname(sys.executable)
        os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"


def _end_children():
    """Kills everything that was started and still runs."""
    for pid in progress.tree(os.getpid()):
        if pid != os.getpid():
            progress.kill_tree(pid)


sys.exit(main())
