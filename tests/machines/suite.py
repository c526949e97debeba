# SPDX-License-Identifier: Apache-2.0
"""Machines: the same images on each that QEMU has for x86, with what they
sample, and a disk, a network and a console by each way that virtio devices are
reached."""

import re

from harness.command import Command
from harness.suite import WIDTHS, check

PARTS = WIDTHS
SHARES = {"leaf_a": 40, "leaf_b": 30, "leaf_c": 20, "leaf_d": 10}
MODERN = ",disable-legacy=on"
LEGACY = ",disable-modern=on"
QUIET = "prof.start=off prof.every=0"
# a request takes a millisecond, so that it is waited for
ZEROES = (
    "driver=null-co,node-name=d,size=67108864,read-zeroes=on,latency-ns=1000000"
)

# how virtio devices are reached, by machine: (name, options of a device, of
# the machine)
WAYS = {
    "pc": (("modern", MODERN, ()), ("legacy", LEGACY, ())),
    "q35": (("modern", MODERN, ()), ("legacy", LEGACY, ())),
}


def shares(s, machine, args=()):
    """The leaves' shares, by instructions."""
    append = "prof.every=0 split.rounds=3000"
    with s.guest(
        *(s.part, "split", f"split.{machine}"),
        append=append,
        machine=machine,
        icount=4,
        args=args,
    ) as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    for name, share in SHARES.items():
        found = re.findall(rf"^ +([\d.]+) % .* {name}$", text, re.M)
        check.true(found, text)
        check.between(float(found[-1]), share - 3, share + 3)
    return text


def passes(s, machine, image, append, *args):
    """A guest test, whose TAP has no failure."""
    with s.guest(
        *(s.part, f"test/{image}", f"{image}.{machine}"),
        append=f"{QUIET} {append}",
        machine=machine,
        icount=0,
        args=args,
    ) as guest:
        check.same(guest.end(), 0)
        check.has(guest.text(), "^ok 2 ")
        check.lacks(guest.text(), "^not ok")


def disk(s, machine, options, more):
    passes(
        *(s, machine, "blk_reads_and_writes", "want=works"),
        *("-blockdev", ZEROES),
        *("-device", f"virtio-blk-pci,drive=d{options}", *more),
    )


def network(s, machine, options, more):
    passes(
        *(s, machine, "net_device_frames_pass", ""),
        *("-netdev", "user,id=n"),
        *("-device", f"virtio-net-pci,netdev=n{options}", *more),
    )


def console(s, machine, options, more):
    """A stream arrives whole."""
    stream, trace = s.work / "stream.bin", s.work / "stream.trace"
    with s.guest(
        *(s.part, "split", f"stream.{machine}"),
        append="prof.out=virtio prof.every=0 split.rounds=300",
        machine=machine,
        args=[
            *("-chardev", f"file,id=v,path={stream}"),
            *("-device", f"virtio-serial-pci{options}"),
            *("-device", "virtconsole,chardev=v", *more),
        ],
    ) as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    sent = re.search(r"^prof: stream to virtio: (\d+) samples", text, re.M)
    check.true(sent, text)
    parasite = Command(s)
    parasite.record(trace, f"file:{stream}", "-k", s.image(s.part, "split"))
    info = parasite.info(trace)
    check.same([info["samples"], info["lost"]], [int(sent[1]), 0])
    check.true(info["samples"] > 0, text)


# MiB of the heap: 2 are the image's and the firmware's. i386 has what is below
# 4 GiB: 3 GiB of a pc's, 2 of a q35's.
RAM = (128, 3072, 6144)
LOW = {"pc": 3072, "q35": 2048}


def memory(s, machine, mib, options="", more=()):
    """All of it is the heap's; of 6 GiB few pages are touched."""
    split = LOW[machine.split(",")[0]] < mib
    whole = min(mib, LOW[machine]) if s.part == "i386" else mib
    with s.guest(
        *(s.part, "test/memory", f"memory.{machine}"),
        append=f"{QUIET} mib={whole - 2}",
        machine=machine,
        memory=mib,
        args=[
            *("-blockdev", ZEROES),
            *("-device", f"virtio-blk-pci,drive=d{options}", *more),
        ],
    ) as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    check.has(text, "^ok 7 ")
    check.lacks(text, "^not ok")
    check.has(text, rf"^boot: heap {whole - 2} MiB, ")
    ignored = "^boot: 1 memory ranges ignored, above 4 GiB or too many$"
    (check.has if split and s.part == "i386" else check.lacks)(text, ignored)


def suite(s):
    for machine, ways in WAYS.items():
        s.holds(f"{machine}: shares", shares, s, machine)
        for mib in RAM:
            s.holds(f"{machine}: {mib} MiB", memory, s, machine, mib)
        for way, *options in ways:
            for function in (disk, network, console):
                name = f"{machine}, {way}: {function.__name__}"
                s.holds(name, function, s, machine, *options)
