# SPDX-License-Identifier: Apache-2.0
"""The programs of services/async, recorded as `make async` does: each keeps the
rules of traces, and shows what it is there to show. With the instruction
counter two runs are the same, event by event."""

import re

from harness import qemu
from harness.suite import WIDTHS, check, run

PARTS = WIDTHS
DISK = [
    "-blockdev",
    "driver=null-co,node-name=d,size=1048576,read-zeroes=on,latency-ns=1000000",
    "-device",
    "virtio-blk-pci,drive=d",
]
NETWORK = [
    "-netdev",
    "user,id=n,guestfwd=tcp:10.0.2.100:9-null",
    "-device",
    "virtio-net-pci,netdev=n",
]

# what is created how often, as `script` names it; and what else it prints
SHOWS = {
    "sleep": {"create: sleep": 1},
    "series": {"create: sleep": 2, "create: bind": 1, " become: bind": 1},
    "join": {"create: sleep": 3, "create: join": 1},
    "choose": {"create: sleep": 4, "create: choose": 1},
    "pick": {"create: sleep": 3, "create: pick": 1, " cancel: sleep": 1},
    "catch": {"create: catch": 1, " fail: ": 1},
    "disk": {"create: io disk read": 8, "create: io disk request": 24},
    "disk-fixed": {"create: io disk read": 8, "create: io disk request": 8},
    "udp": {"create: task packet": 10, "counter: packets sent = ": 10},
    "tcp": {"counter: segments given to TCP = ": 100},
    "console": {},
}


def devices(demo):
    if demo.startswith("disk"):
        return DISK
    return NETWORK if demo in ("udp", "tcp") else []


def record(s, demo, name):
    """A trace of (demo), and what `script` prints of it."""
    trace = s.work / f"{name}.trace"
    run(
        *(s.parasite, "record", "-q", "-t", "virtio", "-o", trace, "--"),
        *qemu.command(
            s.part,
            s.image(s.part, "async"),
            f"demo={demo} prof.trace=stream prof.every=0",
            network=demo in ("udp", "tcp"),
            args=devices(demo) + qemu.icount(0, None),
        ),
    )
    return trace, run(s.parasite, "script", trace).out


def shows(s, demo):
    trace, text = record(s, demo, demo)
    run(s.parasite, "info", "--check", trace)
    for pattern, count in SHOWS[demo].items():
        check.same(len(re.findall(pattern, text)), count, pattern)


def events(text):
    """All but samples and interrupts, without their times."""
    lines = (re.sub(r" \d+\.\d+ ", " ", l) for l in text.splitlines())
    return [l for l in lines if re.search(r"\] [a-z_]+: ", l)]


def repeats(s):
    first, second = (
        events(record(s, "join", f"again-{i}")[1]) for i in range(2)
    )
    check.true(len(first) > 20, first)
    check.same(first, second)


def suite(s):
    for demo in SHOWS:
        s.holds(f"{s.part}: demo={demo} shows what it is for", shows, s, demo)
    s.holds(f"{s.part}: two runs have the same events", repeats, s)
