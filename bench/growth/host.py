# SPDX-License-Identifier: Apache-2.0
"""host.py BUILD WORK IMAGE [short]: the cost of embed and parasite for growing
numbers of functions, stacks and samples, as JSON lines.

Time is CPU time, the minimum of several runs; memory is the maximum resident
size; instructions are counted by callgrind if that does not take long. With
"short" each runs once, of fewer stacks and samples, and is counted at its first
point only.
"""

import json
import os
import re
import subprocess
import sys

RUNS = 3
STACKS, STACKS_SHORT = 1000, 100  # where samples grow
# where stacks grow, at least: as many as there are stacks
SAMPLES, SAMPLES_SHORT = 20000, 2000


def emit(name, x, value, unit):
    print(
        json.dumps(
            {
                "width": "host",
                "name": name,
                "x": x,
                "value": value,
                "unit": unit,
            }
        ),
        flush=True,
    )


def run(command):
    """CPU seconds and KiB of (command). A process inherits the memory of its
    parent, and `time` is smaller than this program."""
    with open(os.devnull, "w", encoding="ascii") as nothing:
        process = subprocess.Popen(
            ["time", "-f", "%M", *command],
            stdout=nothing,
            stderr=subprocess.PIPE,
        )
        said = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(
            f"host.py: {command[0]} ended with {process.returncode}: " f"{said}"
        )
    return usage.ru_utime + usage.ru_stime, int(said.split()[-1])


def instructions(command):
    said = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            *command,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ).stderr
    return int(re.search(r"Collected : (\d+)", said).group(1))


def measure(name, x, command, counted, runs=RUNS):
    took = [run(command) for _ in range(runs)]
    emit(name + "_seconds", x, round(min(time for time, _ in took), 4), "s")
    emit(name + "_held", x, min(held for _, held in took), "KiB")
    if counted:
        emit(name + "_instructions", x, instructions(command), "instructions")


class Host:
    def __init__(self, build, work, image, short):
        self.build, self.work, self.image = build, work, image
        self.short, self.counted = short, set()
        self.parasite = f"{build}/host/parasite"
        said = subprocess.run(
            ["readelf", "-n", image],
            check=True,
            text=True,
            stdout=subprocess.PIPE,
        ).stdout
        self.build_id = re.search(r"Build ID: (\S+)", said).group(1)
        said = subprocess.run(
            ["nm", image], check=True, text=True, stdout=subprocess.PIPE
        ).stdout
        places = [
            line.split()[0]
            for line in said.splitlines()
            if re.match(r"\S+ [tT] [^.]*$", line)
        ]
        with open(f"{work}/places", "w", encoding="ascii") as out:
            out.write("\n".join(places[:400]) + "\n")

    def measure(self, name, x, command, may_be_counted):
        counted = may_be_counted and not (self.short and name in self.counted)
        self.counted.add(name)
        measure(name, x, command, counted, 1 if self.short else RUNS)

    def trace(self, stacks, samples):
        """Packets with that many samples and stacks, and the command that
        records them."""
        maker = f"{self.work}/make_stream.{stacks}"
        subprocess.run(
            [
                "gcc",
                "-std=gnu11",
                "-O2",
                f"-DNODES={stacks}u",
                "-Iprofiler/include",
                "-o",
                maker,
                "tests/tool/make_stream.c",
            ],
            check=True,
        )
        with open(f"{self.work}/packets", "wb") as out:
            subprocess.run(
                [maker, str(samples), "1", f"{self.work}/places"],
                stdout=out,
                check=True,
                env={**os.environ, "BUILD_ID": self.build_id},
            )
        os.remove(maker)
        return [
            self.parasite,
            "record",
            "-q",
            "-k",
            self.image,
            "-o",
            f"{self.work}/trace",
            f"{self.work}/packets",
        ]

    def commands(self):
        trace = f"{self.work}/trace"
        return {
            "report": [self.parasite, "report", "-q", "-i", trace],
            "flame": [
                self.parasite,
                "flame",
                "-q",
                "-o",
                f"{self.work}/flame.html",
                trace,
            ],
            "folded": [
                self.parasite,
                "export",
                "-q",
                "-f",
                "folded",
                "-o",
                f"{self.work}/folded",
                trace,
            ],
        }

    def stacks(self, counts):
        least = SAMPLES_SHORT if self.short else SAMPLES
        for stacks in counts:
            record = self.trace(stacks, max(stacks, least))
            self.measure("record", stacks, record, stacks <= 10000)
            for name, command in self.commands().items():
                self.measure(name, stacks, command, stacks <= 10000)

    def samples(self, counts):
        stacks = STACKS_SHORT if self.short else STACKS
        for samples in counts:
            run(self.trace(stacks, samples))
            for name, command in self.commands().items():
                if name != "folded":
                    self.measure(
                        "samples_" + name, samples, command, samples <= 100000
                    )

    def embed(self, counts):
        for functions in counts:
            self.measure(
                "embed",
                functions,
                [
                    f"{self.build}/host/embed",
                    f"{self.work}/made64.{functions}.elf",
                    f"{self.work}/embedded",
                ],
                functions <= 10000,
            )


def main(build, work, image, short):
    host = Host(build, work, image, short)
    powers = [10**power for power in range(1, 7)]
    host.embed([100, 1000] if short else powers[1:])
    host.stacks([10, 100] if short else powers)
    host.samples([1000, 10000] if short else powers[3:] + [10**7])


if __name__ == "__main__":
    main(*sys.argv[1:4], short="short" in sys.argv[4:])
