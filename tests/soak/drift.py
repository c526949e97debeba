# SPDX-License-Identifier: Apache-2.0
"""How fast a guest's clock runs, held against the host's.

A line of statistics takes a while to arrive, sometimes a long one; a clock that
runs late looks the same. So a stretch of time is cut into blocks, and of each
block the line that took the shortest counts. The steps from block to block have
a mean, the drift, and a spread, which gives its 95 % interval.
"""

import math
from typing import NamedTuple

TICK_NS = 10000152  # the kernel's tick: kernel/include/kernel/clock.h
BLOCKS = 12
# 95 % intervals; of all blocks, chance alone goes beyond once in 20,000 times
CERTAIN = 3
T_95 = {
    2: 4.30,
    3: 3.18,
    4: 2.78,
    5: 2.57,
    6: 2.45,
    7: 2.36,
    8: 2.31,
    9: 2.26,
    10: 2.23,
    11: 2.20,
}


class Drift(NamedTuple):
    """Parts per million that a clock is fast, and half of the interval."""

    ppm: float
    interval: float

    def __str__(self):
        return f"{self.ppm:+.1f} ± {self.interval:.1f} ppm"


def of_ns(statistics, scale=1.0):
    """Of clock_ns(), corrected by (scale)."""
    return drift([(v.host, v.ns * scale / 1e9 - v.host) for v in statistics])


def of_ticks(statistics):
    """Of the kernel's count of ticks."""
    return drift(
        [(v.host, v.ticks * TICK_NS / 1e9 - v.host) for v in statistics]
    )


def drift(points):
    """Of pairs of the host's time and how far the clock is ahead, in s."""
    begin, end = points[0][0], points[-1][0]
    best = {}
    for host, ahead in points:
        at = min(BLOCKS - 1, int((host - begin) / (end - begin) * BLOCKS))
        if at not in best or ahead > best[at][1]:
            best[at] = (host, ahead)
    line = [best[at] for at in sorted(best)]
    steps = [
        (b[1] - a[1]) / (b[0] - a[0]) * 1e6 for a, b in zip(line, line[1:])
    ]
    if len(steps) < 3:
        raise ValueError("too short a time to say how a clock runs")
    mean = sum(steps) / len(steps)
    spread = math.sqrt(
        sum((step - mean) ** 2 for step in steps) / (len(steps) - 1)
    )
    half = T_95[len(steps) - 1] * spread / math.sqrt(len(steps))
    return Drift(mean, half)


def worse(profiled, plain, floor):
    """Whether the first clock is certainly more wrong than the second, by more
    than (floor) ppm. A host that is busy makes clocks slow; one that is fast
    has nobody but us to thank, and no right to what the other one is slow."""
    noise = math.hypot(profiled.interval, plain.interval)
    slack = CERTAIN * noise + floor
    ahead = profiled.ppm - max(plain.ppm, 0) - slack
    behind = -profiled.ppm - max(-plain.ppm, 0) - slack
    return max(ahead, behind) > 0
