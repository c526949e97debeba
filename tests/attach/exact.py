# SPDX-License-Identifier: Apache-2.0
"""Shares that are known, sampled from outside."""

import math
import re
import shutil
import signal
import statistics

from harness.command import if_grown
from harness.suite import FULL, Failed, background, check

SHARES = {"leaf_a": 0.4, "leaf_b": 0.3, "leaf_c": 0.2, "leaf_d": 0.1}
# On a busy host a stub answers later than the default timeout allows.
PATIENCE = ("--timeout", 120)
OFF = 0.015
Z = 4  # standard errors that chance errs by less often than once in 10,000
# The shares are of the work. In the host's time, which is sampled here, leaves
# of equal work differ on a busy host: beside four busy loops the first one had
# 41.7 % of 28,525 samples, and 40.7 % by the guest's own sampling.
BUSY = 0.015
# allowed error of a share, and the least number of samples with which chance
# errs by less: 4 sqrt(0.4 * 0.6 / N)
WANTED = (OFF, 18500) if FULL else (2 * OFF, 4625)
BATCHES = (16, 64)
ROUNDS = 6
PARTS = 16
LEAF = re.compile(r" sample: .*\n\t(leaf_\w) ")


def leaves(attach):
    """The leaf of each sample in one, in their order."""
    return LEAF.findall(attach.parasite("script", "-q", attach.trace).out)


def error_of_means(found, name, batches):
    """The standard error of the share of (name), from those of batches."""
    size = len(found) // batches
    if size < batches:
        return 0
    means = [
        found[i * size : (i + 1) * size].count(name) / size
        for i in range(batches)
    ]
    return math.sqrt(statistics.variance(means) / batches)


def error_of(share, found, name):
    """The standard error of the (share) of (name) among (found), leaves in
    their order. Samples are not independent of each other: on a busy host the
    guest gets nowhere between some of them. So it is taken from the shares of
    batches, of two lengths, where that is more than of independent ones."""
    return max(
        math.sqrt(share * (1 - share) / len(found)),
        *(error_of_means(found, name, batches) for batches in BATCHES),
    )


def wait_samples(attach, sampling, wanted):
    """In parts: a busy host may take longer for all than one wait may."""
    for part in range(1, PARTS + 1):
        some = wanted * part // PARTS
        sampling.soon(
            if_grown(
                attach.trace, lambda n=some: (attach.fact("samples") or 0) >= n
            ),
            f"{some} of {wanted} samples",
        )


def sampled(attach, sampling, off, wanted):
    """Leaves in their order, at least (wanted), and so many that chance does
    not err by (off)."""
    for _ in range(ROUNDS):
        wait_samples(attach, sampling, wanted)
        found = leaves(attach)
        errors = [error_of(p, found, n) for n, p in SHARES.items()]
        if Z * max(errors) <= off:
            return found
        # An error falls with the square root of how many there are. On a busy
        # host three times as many as chance asks for were too few.
        wanted = int(1.2 * len(found) * (Z * max(errors) / off) ** 2)
    raise Failed(f"{len(found)} samples vary too much: {errors}")


def exact(s, attach):
    off, wanted = WANTED
    with (
        s.test(
            "shares at 1 kHz are right to " f"{100 * (off + BUSY):g} points"
        ),
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
            *(s.parasite, "attach", *PATIENCE, "-F", 1000),
            *("-o", attach.trace),
            *("-k", s.image(s.part, "split")),
            f"gdb:{guest.address('stub')}",
            log=s.work / "exact.log",
        ) as sampling:
            found = sampled(attach, sampling, off, wanted)
            sampling.signal(signal.SIGINT)
            sampling.end()
        counts = {name: found.count(name) for name in SHARES}
        total = sum(counts.values())
        off += BUSY
        for name, share in SHARES.items():
            check.between(
                counts[name] / total, share - off, share + off, counts
            )
        worst = max(abs(counts[n] / total - p) for n, p in SHARES.items())
        s.measured(
            f"shares off by {100 * worst:.2f} points at most, "
            f"{total} samples"
        )
