# SPDX-License-Identifier: Apache-2.0
"""Machines: the same images on each that QEMU has for x86, with what they
sample, their RAM, and a disk, a network and a console by each way that virtio
devices are reached. i386 images are entered by PVH, too: QEMU takes Multiboot
where there is a header, so there is none."""

import re

from harness.command import Command
from harness.suite import FULL, WIDTHS, Guest, check

PARTS = WIDTHS
SHARES = {"leaf_a": 40, "leaf_b": 30, "leaf_c": 20, "leaf_d": 10}
QUIET = "prof.start=off prof.every=0"
# a request takes a millisecond, so that it is waited for
ZEROES = (
    "driver=null-co,node-name=d,size=67108864,read-zeroes=on,latency-ns=1000000"
)
MULTIBOOT = bytes.fromhex("02b0ad1b")
PVH = " by PVH"

# how virtio devices are reached: (name, options of a device, of the machine)
PCI = (
    ("modern", ",disable-legacy=on", ()),
    ("legacy", ",disable-modern=on", ()),
)
MMIO = (
    ("version 2", "", ("-global", "virtio-mmio.force-legacy=false")),
    ("version 1", "", ()),
)
SHIFT = 2  # of an instruction's time: the boot waits for clocks
# without ACPI's tables devices are found by words that only PVH's loader adds
WAYS = {
    "pc": PCI,
    "q35": PCI if FULL else PCI[:1],
    "microvm": MMIO,
    "microvm,ioapic2=off": MMIO[:1],
    f"microvm,acpi=off{PVH}": MMIO[:1],
    "microvm,pic=off,rtc=off": MMIO[:1],
    f"microvm,pic=off,acpi=off{PVH}": MMIO[:1] if FULL else (),
}
# RAM in MiB: 2 are the image's and the firmware's. i386 has what is below 4
# GiB: 3 GiB of a pc's, 2 of a q35's
RAM = (128, 3072, 6144)
LOW = {"pc": 3072, "q35": 2048, "microvm": 3072}


def boot(s, machine, name, append, **options):
    """A guest, on a machine of WAYS."""
    image, pvh = s.image(s.part, name), machine.endswith(PVH)
    machine = machine.removesuffix(PVH)
    log = s.work / f"{image.stem}.{machine}.log"
    if pvh:
        found = image.read_bytes()
        image = s.work / f"{image.stem}.pvh.elf"
        image.write_bytes(found.replace(MULTIBOOT, bytes(4), 1))
    return Guest(image, s.part, log, append=append, machine=machine, **options)


def by(s, machine):
    """The protocol that an image is entered by."""
    return "pvh" if s.part == "x86_64" or PVH in machine else "multiboot"


def shares(s, machine):
    """The leaves' shares, by instructions."""
    append = "prof.every=0 split.rounds=3000"
    with boot(s, machine, "split", append, icount=4) as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    check.has(text, f"^boot: by {by(s, machine)}, memory from the loader's ")
    no_pic = "^boot: no PIC: interrupts by the IO-APIC$"
    (check.has if "pic=off" in machine else check.lacks)(text, no_pic)
    has_shares(text)


def has_shares(text):
    for name, share in SHARES.items():
        found = re.findall(rf"^ +([\d.]+) % .* {name}$", text, re.M)
        check.true(found, text)
        check.between(float(found[-1]), share - 3, share + 3)


def passes(s, machine, image, append, *args, **options):
    """A guest test, whose TAP has no failure."""
    append = f"{QUIET} alarm=tick {append}"  # as tests/guest/drivers
    with boot(
        s, machine, f"test/{image}", append, args=args, **options
    ) as guest:
        status = guest.end()
        text = guest.text()
    check.lacks(text, "^not ok")  # first: it says what failed
    check.same(status, 0)
    planned = re.search(r"^1\.\.(\d+)$", text, re.M)
    check.true(planned, text)
    check.has(text, f"^ok {planned[1]} ")
    return text


def disk(s, machine, options, more):
    passes(
        *(s, machine, "blk_reads_and_writes", "want=works"),
        *("-blockdev", ZEROES),
        *("-device", f"virtio-blk-pci,drive=d{options}", *more),
        icount=SHIFT,
    )


def network(s, machine, options, more):
    passes(
        *(s, machine, "net_device_frames_pass", ""),
        *("-netdev", "user,id=n"),
        *("-device", f"virtio-net-pci,netdev=n{options}", *more),
        icount=SHIFT,
    )


def console(s, machine, options, more):
    """A stream arrives whole."""
    stream, trace = s.work / "stream.bin", s.work / "stream.trace"
    append = "prof.out=virtio prof.every=0 split.rounds=300"
    args = [
        *("-chardev", f"file,id=v,path={stream}"),
        *("-device", f"virtio-serial-pci{options}"),
        *("-device", "virtconsole,chardev=v", *more),
    ]
    with boot(s, machine, "split", append, icount=4, args=args) as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    sent = re.search(r"^prof: stream to virtio: (\d+) samples", text, re.M)
    check.true(sent, text)
    parasite = Command(s)
    parasite.record(trace, f"file:{stream}", "-k", s.image(s.part, "split"))
    info = parasite.info(trace)
    check.same([info["samples"], info["lost"]], [int(sent[1]), 0])
    check.true(info["samples"] > 0, text)


def memory(s, machine, mib):
    """All of it is the heap's; of 6 GiB few pages are touched."""
    low = LOW[machine]
    whole = min(mib, low) if s.part == "i386" else mib
    text = passes(
        *(s, machine, "memory", f"mib={whole - 2}"),
        *("-blockdev", ZEROES, "-device", "virtio-blk-pci,drive=d"),
        memory=mib,
    )
    check.has(text, rf"^boot: heap ({whole - 2}|{whole - 3}) MiB, ")
    ignored = "^boot: 1 memory ranges ignored, above 4 GiB or too many$"
    (check.has if whole < mib else check.lacks)(text, ignored)


def lines_of_virtio(s, machine, name, append, code):
    """The console of a machine without a serial line."""
    path = s.work / "console.txt"
    path.write_bytes(b"")
    with boot(
        *(s, f"{machine},isa-serial=off", name, append),
        serial=None,
        args=[
            *("-chardev", f"file,id=v,path={path}"),
            *("-device", "virtio-serial-pci"),
            *("-device", "virtconsole,chardev=v"),
        ],
    ) as guest:
        check.same(guest.end(), code)
    return path.read_text(encoding="latin-1").replace("\r", "")


def no_pit(s, machine):
    """The local APIC's timer is shared: it samples, and ends the service's
    halts. A line of each says so."""
    append = "prof.every=0 split.rounds=3000"
    with boot(s, machine, "split", append, icount=4) as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    check.has(text, "^boot: no PIT: TSC measured against ")
    check.has(text, "^boot: timer: local APIC, one-shot$")
    by_lapic = "^prof: sampling by the local APIC's timer: there is no PIT$"
    check.same(len(re.findall(by_lapic, text, re.M)), 1)
    has_shares(text)
    found = check.has(text, r"^--- profile: (\d+) samples in ")
    check.true(int(found[1]) > 1000, text)


def console_is_virtio(s, machine):
    """From the first line to the last, of a panic, too."""
    append = f"{QUIET} split.rounds=30 prof.out=virtio x=1"
    text = lines_of_virtio(s, machine, "split", append, 0)
    check.has(text, "^boot: by ")
    check.has(text, '^options: "x=1" ignored')
    check.has(text, "^prof: .*virtio.*serial")
    check.has(text, "^split: 32 rounds, ")
    text = lines_of_virtio(s, machine, "test/panic", QUIET, 101)
    check.has(text, "^panic: the image ends here$")


def console_is_e9(s, machine):
    """The debug port, where there is no serial line either."""
    path = s.work / "e9.txt"
    path.write_bytes(b"")
    with boot(
        *(s, f"{machine},isa-serial=off", "hello", QUIET),
        serial=None,
        stream=path,
    ) as guest:
        check.same(guest.end(), 0)
    check.has(path.read_text(encoding="latin-1"), "^hello from a unikernel")


def nothing_to_print_to(s, machine):
    name = f"{machine},isa-serial=off"
    with boot(s, name, "hello", QUIET, serial=None) as guest:
        check.same(guest.end(), 0)


def seen_from_outside(s, machine):
    """A stack above 4 GiB, or, with i386, as high as it can be, is read from
    the file that is the RAM."""
    parasite, trace = Command(s), s.work / "x.trace"
    ram = s.work / f"ram.{machine}"
    image = "test/stack_above_4_gib"

    def seen():
        """How many samples have the chain of callers."""
        stacks = parasite.folded(trace)
        chain = ["outermost", "middle", "innermost"]
        return sum(n for names, n in stacks if names[-3:] == chain)

    said = parasite.attach(
        *(trace, lambda: seen() >= 50, "--timeout", 120),
        *("-F", 1000, "--ram", ram),
        *parasite.machine(
            *(s.part, image, QUIET, "-M", machine, "-m", 6144),
            *("-machine", "memory-backend=ram", "-object"),
            f"memory-backend-file,id=ram,size=6G,share=on,mem-path={ram}",
        ),
        log=s.work / "attach.log",
    )
    check.has(said, "stacks from shared RAM")
    ram.unlink()


def recorded(s, machine):
    """By the command, which adds a device for the stream."""
    parasite, trace = Command(s), s.work / "recorded.trace"
    append = "prof.every=0 split.rounds=300"
    parasite.record(
        *(trace, "-t", "virtio"),
        *parasite.machine(*(s.part, "split", append, "-M", machine), icount=4),
    )
    check.has(parasite("info", "--check", trace).text, "0 problems")
    check.true(parasite.info(trace)["samples"] > 0, machine)


NO_PIT = ("microvm,pit=off", "microvm,pit=off,pic=off,rtc=off")


def suite(s):
    for machine, ways in WAYS.items():
        s.holds(f"{machine}: shares", shares, s, machine)
        for mib in RAM if machine in LOW else ():
            s.holds(f"{machine}: {mib} MiB", memory, s, machine, mib)
        for way, *options in ways:
            for function in (disk, network, console):
                name = f"{machine}, {way}: {function.__name__}"
                s.holds(name, function, s, machine, *options)
    for machine in LOW:
        name = f"{machine}: a high stack, seen from outside"
        s.holds(name, seen_from_outside, s, machine)
    for machine in LOW:
        s.holds(f"{machine}: recorded", recorded, s, machine)
    for machine in NO_PIT:
        s.holds(f"{machine}: no PIT", no_pit, s, machine)
    for machine in ("microvm", NO_PIT[-1]):
        s.holds(f"{machine}: virtio console", console_is_virtio, s, machine)
    s.holds("microvm: debug port", console_is_e9, s, "microvm")
    s.holds("microvm: no console", nothing_to_print_to, s, "microvm")
    s.holds("pc by PVH: shares", shares, s, f"pc{PVH}")
