# SPDX-License-Identifier: Apache-2.0
"""What happened in a recording, as lines without times: `WHO event: WHAT`, with
objects numbered in the order in which they appear. What depends on the machine
or belongs to the kernel alone is left out: interrupts, timers, idleness."""

import re

LINE = re.compile(r"^(.+) \d+\.\d{7} \[\d+\] (\w+): ?(.*)$", re.M)
OBJECT = re.compile(r"\b(\d+)\b(?=$|:| by | for | is | \()")
TIMER = re.compile(r"^timer \d+$")
DEVICES = re.compile(r"^(disk|network) \d+$")
FOREIGN = re.compile(
    r"timer \d|^(callback )?(disk|network) \d|virtio|\[unknown\]"
    r"|heap bytes|idle"
)
DROPPED = (
    "irq_enter irq_exit start stop bye miss stolen sample hello recorded"
).split()


def sequence(script):
    numbers = {}

    def renumbered(match):
        return str(numbers.setdefault(match[1], len(numbers) + 1))

    found = []
    for who, event, what in LINE.findall(script):
        # what devices have done is found by the loop, with or without a reason
        who = DEVICES.sub("[event loop]", TIMER.sub("timer", who))
        if (
            event in DROPPED
            or who == "[unknown]"
            or FOREIGN.search(what)
            or (event == "switch" and what == "[event loop]")
        ):
            continue
        what = re.sub(r" \((\S+):\d+\)$", r" (\1)", what)
        if event not in ("counter", "suspend"):
            what = OBJECT.sub(renumbered, what)
        found.append(f"{OBJECT.sub(renumbered, who)} {event}: {what}")
    return found
