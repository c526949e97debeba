# SPDX-License-Identifier: Apache-2.0
"""The host command against guests, files and neighbours that mean harm, and
against full disks: nothing is lost, and nothing grows without a limit
(docs/limits.md)."""

from files import test_files
from harness.command import Command
from harness.suite import run
from output import test_output
from quantity import test_quantity
from ring import test_ring

PARTS = ("files", "output", "quantity", "ring")
TESTS = dict(zip(PARTS, (test_files, test_output, test_quantity, test_ring)))


class Hostile:
    """The command, and streams for it."""

    def __init__(self, s):
        self.s, self.work, self.parasite = s, s.work, Command(s)
        self.maker = s.work / "make_hostile"
        run(
            *("gcc", "-std=gnu11", "-O2", "-Iprofiler/include"),
            *("-o", self.maker, "tests/hostile/make_hostile.c"),
        )

    def stream(self, *words):
        return run(self.maker, *words).data

    def good(self, samples=20000, seed=1):
        """The bytes of a guest's stream."""
        return self.parasite.make_stream(samples, seed)

    def samples(self, trace):
        return self.parasite.info(trace)["samples"]

    def record(self, trace, data, *words, **options):
        return self.parasite(
            "record", "-o", trace, *words, "-", data=data, **options
        )


def suite(s):
    TESTS[s.part](Hostile(s))
