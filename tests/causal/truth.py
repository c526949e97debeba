# SPDX-License-Identifier: Apache-2.0
"""`make causal-truth`: predictions beside the truth at both widths, in guests
that count instructions, and fifty generated programs in simulated time."""

import re
import subprocess
import sys
from pathlib import Path

from harness.guest import Guest

APPEND = "prof.start=off prof.every=0 prof.drain=10000"
IMAGES = {"causal_truth": "", "causal_net": "net.ip=10.0.2.15/24"}


def guest(build, width, name, visits):
    """Prints its table; whether all of it is within the bounds."""
    log = build / width / "test" / f"{name}.truth.log"
    image = build / width / "test" / name / f"{name}.elf"
    append = f"{APPEND} {IMAGES[name]} causal.speedups=3 causal.visits={visits}"
    with Guest(image, width, log, append=append, icount=0) as one:
        code = one.end()
        lines = one.text().splitlines()
    print(f"{name}, {width}, {visits} requests each:")
    for line in lines:
        if line.startswith(("# ", "not ok")):
            print(line.removeprefix("# "))
    return code == 0


def generated(build):
    """Prints what the intervals of fifty programs contain."""
    done = subprocess.run(
        [build / "host64/experiments_test"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    print("fifty generated programs:")
    for line in done.stdout.splitlines():
        if re.match(r" *\d+ ", line):
            print(line)
    return done.returncode == 0


def main():
    """The arguments: folder of the build, requests of each run."""
    build, visits = Path(sys.argv[1]), int(sys.argv[2])
    good = [
        guest(build, width, name, visits)
        for name in IMAGES
        for width in ("i386", "x86_64")
    ]
    good.append(generated(build))
    sys.exit(0 if all(good) else 1)


main()
