# SPDX-License-Identifier: Apache-2.0
"""`make causal-truth`: predictions beside the truth at both widths, in guests
that count instructions, of programs and of the services irc and http; of
programs on two CPUs; and fifty generated programs in simulated time."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cpus
import services
from harness.guest import Guest

WIDTHS = ("i386", "x86_64")
OFF = "prof.start=off prof.every=0 prof.drain=10000"
# from enter to leave, over the network, and by samples
IMAGES = {
    "causal_truth": OFF,
    "causal_net": f"{OFF} net.ip=10.0.2.15/24",
    "causal_smooth": "prof.start=off prof.every=0 prof.depth=0 prof.hz=20000",
}
P99_RUNS = 64  # at most, until a 99th percentile is certain enough
CPU_LIMIT_S = 7200


class Run:
    """A guest that prints its table."""

    def __init__(self, build, image, width, visits, words):
        self.title = f"{width}, {image}, {visits} requests each:"
        words = f"{words} causal.visits={visits}"
        name = f"{image}-{words.split()[0]}.log"
        with Guest(
            build / width / "test" / image / f"{image}.elf",
            width,
            build / width / "test" / name,
            append=f"{IMAGES[image]} {words}",
            icount=0,
            cpu_limit=CPU_LIMIT_S,
            limit=4 * CPU_LIMIT_S,
        ) as guest:
            self.good = guest.end() == 0
            self.lines = guest.text().splitlines()

    def print(self):
        print(self.title)
        for line in self.lines:
            if line.startswith(("# ", "not ok")):
                print(line.removeprefix("# "))
        sys.stdout.flush()
        return self.good


def guests(build, visits):
    """Two at a time. Whether all of it is within the bounds."""
    with ThreadPoolExecutor(len(WIDTHS)) as pool:
        runs = [
            pool.submit(Run, build, image, width, visits, words)
            for image, words in (
                *((image, "causal.speedups=3") for image in IMAGES),
                ("causal_truth", f"causal.p99={P99_RUNS}"),
            )
            for width in WIDTHS
        ]
        return [run.result().print() for run in runs]


def of_services(build, visits):
    """Two at a time. Whether all services are within their bounds. A row that
    misses a goal is marked and does not fail alone: these services have several
    rhythms, and may change to another (docs/causal.md)."""
    limits = {"cpu_limit": CPU_LIMIT_S, "limit": 4 * CPU_LIMIT_S}
    count = missed = 0
    good = True
    for width in WIDTHS:
        for service in services.SERVICES:
            print(f"{width}, {service}, {visits} requests each:")
            print(services.HEADING)
            runs = services.Services(build, width, service, visits, **limits)
            found = services.rows(runs, lanes=len(WIDTHS))
            for row in found:
                print(row if row.good() else f"{row} missed")
                count += 1
                missed += not row.good()
            for fault in services.faults(found):
                print(f"not ok: {service}: {fault}")
                good = False
            sys.stdout.flush()
    print(f"of services: {missed} of {count} rows missed a goal")
    return good


def of_cpus(build):
    """One at a time. Whether all rows are within their bounds. One interval of
    twenty does not contain the truth: such a row is marked, and fails only if
    it is off by much more."""
    good = True
    for width in WIDTHS:
        print(f"{width}, programs on {cpus.CPUS} CPUs, {cpus.BLOCKS} blocks:")
        print(cpus.HEADING)
        for row in cpus.rows(
            build, width, cpu_limit=CPU_LIMIT_S, limit=4 * CPU_LIMIT_S
        ):
            print(row if row.good() else f"{row} missed")
            if not row.good(cpus.EVER):
                print(f"not ok: {row.name} is off by more than chance")
                good = False
        sys.stdout.flush()
    return good


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
        generated(build),
        *guests(build, visits),
        of_services(build, visits // 2),
        of_cpus(build),
    ]
    sys.exit(0 if all(good) else 1)


main()
