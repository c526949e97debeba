# SPDX-License-Identifier: Apache-2.0
"""demos.py BUILD WIDTH: bytes of an event in the stream, over the programs of
services/async one after the other: all packets of their traces, heads, names
and the first HELLO included, by the events of objects. Under -icount, without
samples; how often the disk's programs find nothing to do is up to the host.
Prints lines "NAME VALUE":

demos_event_bytes       bytes of an event
demos_hour_megabytes    of an hour at 2,000 such events a second
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from harness import qemu  # noqa: E402 (its folder comes first)

DEMOS = "sleep series join choose pick catch disk disk-fixed udp tcp console"
DISK = (
    "-blockdev",
    "driver=null-co,node-name=d,size=1048576,read-zeroes=on,latency-ns=1000000",
    "-device",
    "virtio-blk-pci,drive=d",
)
NETWORK = (
    "-netdev",
    "user,id=n,guestfwd=tcp:10.0.2.100:9-null",
    "-device",
    "virtio-net-pci,netdev=n",
)
# what is in the stream besides events of objects
OTHERS = "hello bye start stop clock site name recent objects recorded".split()
AN_HOUR = 2000 * 3600


def recorded(build, width, demo):
    """Bytes and events of the trace of one program."""
    trace = build / "bench" / "demos" / f"{width}-{demo}.trace"
    tool = build / "host" / "parasite"
    subprocess.run(["rm", "-rf", trace], check=True)
    trace.parent.mkdir(parents=True, exist_ok=True)
    network = demo in ("udp", "tcp")
    devices = DISK if demo.startswith("disk") else NETWORK if network else ()
    guest = qemu.command(
        width,
        build / width / "async" / "async.elf",
        f"demo={demo} prof.trace=stream prof.every=0 prof.start=off",
        network=network,
        args=[*devices, *qemu.icount(0, None)],
    )
    words = [tool, "record", "-q", "-t", "virtio", "-o", trace, "--", *guest]
    subprocess.run(words, check=True, stdout=sys.stderr)
    words = ["babeltrace2", "--names", "none", trace]
    said = subprocess.run(words, check=True, capture_output=True, text=True)
    names = re.findall(r"^\[\S+ \S+ (\w+): ", said.stdout, re.M)
    events = sum(1 for name in names if name not in OTHERS)
    info = [tool, "info", "--json", trace]
    found = json.loads(subprocess.check_output(info))
    return found["bytes"], events


def main(build, width):
    build = Path(build)
    found = [recorded(build, width, demo) for demo in DEMOS.split()]
    sums = [sum(column) for column in zip(*found)]
    for demo, (size, events) in zip(DEMOS.split(), found):
        print(f"{demo}: {size / events:.2f}", file=sys.stderr)
    mean = sums[0] / sums[1]
    print(f"demos_event_bytes {mean:.2f}")
    print(f"demos_hour_megabytes {mean * AN_HOUR / 1e6:.1f}")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main(*sys.argv[1:])
