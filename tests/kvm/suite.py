# SPDX-License-Identifier: Apache-2.0
"""Guests with KVM: all guest cases that QEMU itself loads and that do not count
instructions, the shares of a program that has known ones, and what make runs
and records. Skipped where no guest comes up with KVM."""

import re

from harness import accelerator, cases
from harness.suite import WIDTHS, Failed, Skip, check, run

PARTS = WIDTHS
SHARES = {"leaf_a": 40, "leaf_b": 30, "leaf_c": 20, "leaf_d": 10}
PLAIN = {"MAKEFLAGS": "", "MAKELEVEL": ""}  # not those of the tests' make


def guest_cases(s):
    """Each is as it is in the emulator."""
    wrong = []
    for case in (case for table in cases.load().values() for case in table):
        if case.icount is not None or (s.part, "kernel") not in case.machines():
            continue
        results, log, _ = cases.run(
            case, s.part, "kernel", s.build, accel="kvm"
        )
        s.note(f"{case.name}: {results.counts()}, {log}")
        wrong += [f"{case.name}: {problem}" for problem in results.problems]
        if results.failed:
            wrong.append(f"{case.name}: {results.failed} failed, see {log}")
    if wrong:
        raise Failed("\n".join(wrong))


def shares_are_right(s):
    append = "prof.every=0 prof.hz=2000 split.seconds=4"
    with s.guest(s.part, "split", append=append, accel="kvm") as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    for name, share in SHARES.items():
        found = re.findall(rf"^ +([\d.]+) % .* {name}$", text, re.M)
        check.between(float(found[-1]), share - 3, share + 3)


def is_recorded(s, *words):
    """By make, which finds out by itself that there is KVM."""
    out = s.work / "x.trace"
    run("rm", "-rf", out)
    said = run(
        *("make", *words, f"ARCH={s.part}", f"OUT={out}"), env=PLAIN
    ).text
    check.has(said, "^accelerator: KVM$")
    check.has(run(s.parasite, "info", "--check", out).text, "0 problems")


def suite(s):
    accel, why = accelerator.probe(s.image(s.part, "hello"), s.part)
    for what, function, *words in (
        ("guest cases", guest_cases),
        ("shares are right", shares_are_right),
        ("make record", is_recorded, "record", "SERVICE=split"),
        ("make async", is_recorded, "async", "DEMO=sleep"),
    ):
        with s.test(what):
            if accel != "kvm":
                raise Skip(f"guests run with {why}")
            function(s, *words)
