# SPDX-License-Identifier: Apache-2.0
"""A host that takes the CPU away: QEMU is stopped and continued."""

import random
import time
from contextlib import suppress

from harness import progress
from harness.suite import Failed

SLICE_S = (0.001, 0.050)  # the shortest and the longest that it takes


def take(guest, share, seed=1):
    """Takes (share) of the time, in slices of random length, until the guest
    ends. Returns the seconds that were taken. A busy machine makes slices and
    the time between them longer; neither must matter."""
    lengths, taken = random.Random(seed), 0
    wait = progress.Wait(alive=guest.alive, what="the end of the guest")
    while not wait.is_pointless():
        length = lengths.uniform(*SLICE_S)
        begun = time.monotonic()
        with suppress(Failed):  # it has ended meanwhile
            guest.stop()
        time.sleep(length)
        guest.cont()
        taken += time.monotonic() - begun
        time.sleep(length * (1 - share) / share)
    return taken
