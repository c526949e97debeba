# SPDX-License-Identifier: Apache-2.0
"""measure.py BUILD WIDTH [TURNS [SECONDS]]: what `parasite attach` costs, and
how right it is. Prints lines "NAME VALUE [LOW HIGH]", a median of TURNS (5) and
their range, or what one run says:

attach_hz             samples a second, as fast as it can, of 12 callers
attach_plain_hz       the same of a plain loop (host/plain.c), in turns with it
attach_plain          the former in multiples of the latter
attach_pause_us       median pause, at 1 kHz
attach_fast_us        median pause, as fast as it can
attach_plain_us       median pause of the plain loop
attach_ram_us         median pause with --ram, as fast as it can
attach_ram            the same in multiples of the plain loop's
attach_ram_own        the same in multiples of attach_fast_us
attach_split_points   shares of split, 1 kHz: points that the worst one is off
attach_split_samples  samples of that
attach_ring_hz        samples a second of the guest's time that come from its
                      ring, while it samples itself at 20 kHz
attach_ring_host_hz   the same, a second of the host's time
attach_ring_lost      samples and packets that did not come
"""

import re
import shutil
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from statistics import median

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS)]
from harness import tap  # noqa: E402 (its folder comes first)
from harness.command import Command  # noqa: E402
from harness.suite import Suite, check, run, soon  # noqa: E402

CALLERS = 12
FASTEST = 100000
HZ = 1000
SHARES = {"leaf_a": 40, "leaf_b": 30, "leaf_c": 20, "leaf_d": 10}
LONG_SECONDS = 10
RING_HZ = 20000
OURS = "without a stop"  # is what attach says of a ring
RING_SHIFT = 3  # 8 ns an instruction
STACK_BYTES = 1024  # that the plain loop reads


def show(name, values):
    values = sorted(values)
    print(
        f"{name} {median(values):.4g} {values[0]:.4g} {values[-1]:.4g}",
        flush=True,
    )


class Bench:
    def __init__(self, build, width):
        self.build, self.width = Path(build).resolve(), width
        work = self.build / "bench" / "attach" / width
        work.mkdir(parents=True, exist_ok=True)
        self.log = open(work / "log", "w", encoding="utf-8")
        self.s = Suite("", work, self.build, tap.Writer(self.log))
        self.parasite = Command(self.s)
        self.trace, self.ram = work / "x.trace", work / "ram"

    def image(self, name):
        return self.s.image(self.width, name)

    @contextmanager
    def guest(self, name, append="", **options):
        with self.s.guest(
            *(self.width, name, name.rpartition("/")[2]),
            append=append,
            channels={"stub": "unix"},
            args=["-gdb", "chardev:stub"],
            ram=self.ram,
            **options,
        ) as guest:
            guest.wait_line("^boot: ")
            yield guest
        self.ram.unlink()

    def attach(self, guest, name, *words):
        """What it prints; its trace is self.trace."""
        shutil.rmtree(self.trace, ignore_errors=True)
        said = self.parasite(
            *("attach", "-k", self.image(name), "-o", self.trace, *words),
            f"gdb:{guest.address('stub')}",
        ).err
        self.log.write(said)
        return said

    # ---- rates and pauses

    def plain(self, guest, seconds):
        """Its samples a second, and its median pause."""
        socket = guest.address("stub").removeprefix("unix:")
        program = self.build / "bench" / "attach" / "plain"
        said = run(program, socket, seconds, self.stack, f"{STACK_BYTES:x}")
        return [float(word) for word in said.out.split()]

    def rate(self, guest, *words):
        said = self.attach(guest, "bench/attach", *words)
        found = re.search(r"median (\d+) us.*rate: ([\d.]+) Hz", said, re.S)
        return float(found[2]), float(found[1])

    def callers(self):
        """Nearly all samples have as many as they should."""
        depths = Counter()
        for names, samples in self.parasite.folded(self.trace):
            depths[len(names) - 1] += samples
        check.true(depths[CALLERS] > 0.9 * sum(depths.values()), depths)

    def rates(self, turns, seconds):
        found = {}
        with self.guest("bench/attach", "prof.start=off") as guest:
            self.stack = run("nm", self.image("bench/attach")).out
            self.stack = re.search(r"(\w+) T service_main", self.stack)[1]
            self.attach(guest, "bench/attach", "-F", HZ, "-T", 1)
            self.callers()
            for _ in range(turns):
                for name, value in self.turn(guest, seconds):
                    found.setdefault(name, []).append(value)
        for name, values in found.items():
            show(name, values)

    def turn(self, guest, seconds):
        fast, usual = (
            ("-F", hz, "-T", seconds, "--stub") for hz in (FASTEST, HZ)
        )
        ram = ("--ram", self.ram)
        plain_hz, plain_us = self.plain(guest, seconds)
        hz, fast_us = self.rate(guest, *fast)
        _, ram_us = self.rate(guest, *fast, *ram)
        _, usual_us = self.rate(guest, *usual)
        yield "attach_hz", hz
        yield "attach_plain_hz", plain_hz
        yield "attach_plain", hz / plain_hz
        yield "attach_pause_us", usual_us
        yield "attach_fast_us", fast_us
        yield "attach_plain_us", plain_us
        yield "attach_ram_us", ram_us
        yield "attach_ram", ram_us / plain_us
        yield "attach_ram_own", ram_us / fast_us

    # ---- shares

    def shares(self):
        with self.guest("split", "prof.start=off") as guest:
            self.attach(guest, "split", "-F", HZ, "-T", LONG_SECONDS)
        whole = Counter()
        for names, samples in self.parasite.folded(self.trace):
            whole[names[-1]] += samples
        total = sum(whole[name] for name in SHARES)
        off = [
            abs(100 * whole[name] / total - share)
            for name, share in SHARES.items()
        ]
        show("attach_split_points", [max(off)])
        show("attach_split_samples", [total])

    # ---- the ring

    def ring(self):
        """By instructions, as else a busy host loses ticks of its timer."""
        append = f"prof.out=shm prof.hz={RING_HZ} prof.every=0"
        with self.guest("split", append, icount=RING_SHIFT) as guest:
            words = ("--ram", self.ram, "-T")
            soon(lambda: OURS in self.attach(guest, "split", *words, 0.1))
            words += (LONG_SECONDS,)
            check.contains(self.attach(guest, "split", *words), OURS)
        info = self.parasite.info(self.trace)
        self.log.write(f"{dict(info)}\n")
        lost = info["lost"] + info["dropped"] + info["missing_packets"]
        show("attach_ring_hz", [1e9 * info["samples"] / info["duration_ns"]])
        show("attach_ring_host_hz", [info["samples"] / LONG_SECONDS])
        show("attach_ring_lost", [lost])


def main(build, width, turns="5", seconds="2"):
    bench = Bench(build, width)
    bench.rates(int(turns), float(seconds))
    bench.shares()
    bench.ring()


if __name__ == "__main__":
    main(*sys.argv[1:])
