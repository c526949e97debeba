# SPDX-License-Identifier: Apache-2.0
"""The share that each instruction of a function has of the samples in it."""

import collections
import re

EVENT = re.compile(r"\) (node|leaf|sample)(?:_wide|_late)?: (\{.*\})")


def shares(events, start, size):
    """Lines "ADDRESS PERCENT", sorted, of the function at (start); from the
    events of a trace that babeltrace2 printed."""
    addresses, samples = {}, collections.Counter()
    for line in events.split("\n"):
        event = EVENT.search(line)
        if not event:
            continue
        fields = dict(re.findall(r"(\w+) = (\w+)", event[2]))
        if "text_offset" in fields:
            fields["address"] = hex(
                int(fields["text_begin"], 0) + int(fields["text_offset"], 0)
            )
        if event[1] != "sample":
            addresses[fields["node"]] = int(fields["address"], 0)
        if event[1] != "node":
            samples[fields["node"]] += 1
    here = collections.Counter()
    for node, count in samples.items():
        if start <= addresses[node] < start + size:
            here[addresses[node]] += count
    all_here = sum(here.values())
    return sorted(
        f"{address:x} {100 * count / all_here:.2f}"
        for address, count in here.items()
    )
