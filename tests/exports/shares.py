# SPDX-License-Identifier: Apache-2.0
#
# shares.py "ADDRESS BYTES" <EVENTS: the share that each instruction of a
# function, which nm says begins there, has of the samples in it, as lines
# "ADDRESS PERCENT"; from the events of a trace that babeltrace2 printed.
import collections
import re
import sys


def main():
    start, size = (int(word, 16) for word in sys.argv[1].split())
    addresses, samples = {}, collections.Counter()
    for line in sys.stdin:
        event = re.search(
            r"\) (node|leaf|sample)(?:_wide|_late)?: (\{.*\})", line)
        if not event:
            continue
        fields = dict(re.findall(r"(\w+) = (\w+)", event[2]))
        if "text_offset" in fields:
            fields["address"] = hex(int(fields["text_begin"], 0) +
                                    int(fields["text_offset"], 0))
        if event[1] != "sample":
            addresses[fields["node"]] = int(fields["address"], 0)
        if event[1] != "node":
            samples[fields["node"]] += 1
    here = collections.Counter()
    for node, count in samples.items():
        if start <= addresses[node] < start + size:
            here[addresses[node]] += count
    for line in sorted(f"{address:x} {100 * count / sum(here.values()):.2f}"
                       for address, count in here.items()):
        print(line)


main()
