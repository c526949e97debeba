# SPDX-License-Identifier: Apache-2.0
"""Shares that are known, sampled from outside."""

import shutil
import signal

from harness.suite import background, check, soon

SHARES = {"leaf_a": 0.4, "leaf_b": 0.3, "leaf_c": 0.2, "leaf_d": 0.1}
OFF = 0.015
# so many that chance errs by OFF less often than by four standard deviations,
# sqrt(0.4 * 0.6 / 17,500) = 0.0037 each
LEAVES = 17500
SAMPLES = 18500


def leaves(attach):
    """The samples of each leaf."""
    found = dict.fromkeys(SHARES, 0)
    for names, samples in attach.parasite.folded(attach.trace):
        if names[-1] in found:
            found[names[-1]] += samples
    return found


def exact(s, attach):
    with (
        s.test(f"{s.part}: shares at 1 kHz are right to 1.5 points"),
        s.guest(
            *(s.part, "split", "exact"),
            append="prof.start=off",
            channels={"stub": "unix"},
            args=["-gdb", "chardev:stub"],
        ) as guest,
    ):
        guest.wait_line("^boot: ")
        shutil.rmtree(attach.trace, ignore_errors=True)
        with background(
            *(s.parasite, "attach", "-F", 1000, "-o", attach.trace),
            *("-k", s.image(s.part, "split")),
            f"gdb:{guest.address('stub')}",
            log=s.work / "exact.log",
        ) as sampling:
            soon(lambda: (attach.fact("samples") or 0) >= SAMPLES)
            sampling.signal(signal.SIGINT)
            sampling.end()
        found = leaves(attach)
        total = sum(found.values())
        check.true(total >= LEAVES, total)
        for name, share in SHARES.items():
            check.between(found[name] / total, share - OFF, share + OFF, found)
        worst = max(abs(found[n] / total - p) for n, p in SHARES.items())
        s.measured(f"{s.part}: shares off by {100 * worst:.2f} points at most")
