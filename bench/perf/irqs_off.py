# SPDX-License-Identifier: Apache-2.0
"""What perf and we say of code with interrupts off (bench/irqs_off)."""

import re

OFF, ON, AROUND = "leaf_off", "leaf_on", "hold"
TURNS = re.compile(r"^#define (OFF|ON)_TURNS (\d+)u", re.M)


def truth(header):
    """Percent of the instructions that leaf_off has, by leaves.h."""
    turns = {name: int(count) for name, count in TURNS.findall(header)}
    return 100 * turns["OFF"] / (turns["OFF"] + turns["ON"])


def rows_of(lines, who):
    """{name: (value, None)} of the lines "share FUNCTION SAMPLES": percent of
    the program's samples in the leaf with interrupts off, and in the function
    that turns them on again."""
    samples = dict.fromkeys((OFF, ON, AROUND), 0)
    for line in lines:
        if line.startswith("share "):
            _, function, count = line.split()
            samples[function] += int(count)
    if samples[ON] == 0:
        raise ValueError(f"{who}: no samples of {ON}")
    whole = sum(samples.values())
    return {
        f"{who}_irqs_off": (100 * samples[OFF] / whole, None),
        f"{who}_irqs_off_around": (100 * samples[AROUND] / whole, None),
        f"{who}_irqs_off_samples": (whole, None),
    }
