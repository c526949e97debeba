# SPDX-License-Identifier: Apache-2.0
"""The stream from an image to the host's command, by each transport and on
both widths, also in a panic; and commands the other way. What the command
reads must be, to the last sample, what the guest says it has counted."""

import os
import re

from harness.command import Command, boot_and_record
from harness.suite import WIDTHS, check

SUBJECTS = ("transports", "ends", "commands")
PARTS = tuple(f"{width}-{subject}" for width in WIDTHS for subject in SUBJECTS)
PARSER = "services/lua/scripts/parser.lua"
ONE = "prof.reports=1"
FAST = f"{ONE} prof.hz=10000 prof.drain=20"


def counted(s, width, name, append, **options):
    """lua, on a clock that counts instructions; not yet ended."""
    return s.guest(
        width, "lua", name, append=append, modules=[PARSER], icount=2, **options
    )


def recorded(parasite, trace, source, *words):
    """What info says of (source), recorded."""
    parasite.record(trace, "-q", *words, source)
    return parasite.info(trace)


# ---- what leaves is what was counted


def leaves(s, width, name, transport, append, **options):
    """One run of a guest whose stream goes to NAME.bin, or to its console."""
    packets = s.work / f"{name}.bin"
    with counted(
        s, width, name, f"{append} prof.out={transport}", **options
    ) as guest:
        check.same(guest.end(), 0)
        said = check.has(
            guest.text(),
            rf"^prof: stream to {transport}: (\d+) samples, (\d+) of ",
        )
    source = {"serial": f"console:{guest.log}", "shm": f"shm:{packets}"}
    info = recorded(
        Command(s),
        s.work / f"{name}.trace",
        source.get(transport, f"file:{packets}"),
        "-k",
        s.image(width, "lua"),
    )
    check.same([info["samples"], info["lost"]], [int(n) for n in said.groups()])
    check.same(info["lost"], 0)
    check.true(info["samples"] > 500, info["samples"])
    packets.unlink(missing_ok=True)


def virtio(packets, *more):
    """A virtio console that writes to the file."""
    return [
        *("-chardev", f"file,id=v,path={packets}"),
        *("-device", ",".join(["virtio-serial-pci", *more])),
        *("-device", "virtconsole,chardev=v"),
    ]


def test_transports(s, width):
    def leaves_by(name, transport, append, **options):
        s.holds(
            f"what leaves by {name} is what was counted",
            *(leaves, s, width, name, transport, append),
            **options,
        )

    def file(name):
        (s.work / f"{name}.bin").unlink(missing_ok=True)
        return s.work / f"{name}.bin"

    leaves_by("serial", "serial", ONE)
    uart2 = ["-serial", f"file:{file('uart2')}"]
    leaves_by("uart2", "uart2", ONE, args=uart2)
    leaves_by("e9", "e9", ONE, stream=file("e9"))
    for face, other in (("legacy", "modern"), ("modern", "legacy")):
        name = f"virtio-{face}"
        args = virtio(file(name), f"disable-{other}=on")
        leaves_by(name, "virtio", ONE, args=args)
    leaves_by("shm", "shm", ONE, ram=file("shm"))
    args = virtio(file("virtio-10kHz"))
    leaves_by("virtio-10kHz", "virtio", FAST, args=args)
    leaves_by("shm-10kHz", "shm", FAST, ram=file("shm-10kHz"))


# ---- how it ends


def boots_twice(s, width):
    """A guest that is reset while it is recorded."""
    parasite, packets = Command(s), s.work / "boots.bin"
    packets.write_bytes(b"")

    def grows(guest, count):
        wanted = packets.stat().st_size + count
        guest.soon(
            lambda: packets.stat().st_size >= wanted, f"{count} bytes more"
        )

    with s.guest(
        *(width, "lua", "boots"),
        append="prof.out=e9 prof.every=0",
        modules=[PARSER],
        stream=packets,
        icount=3,
        monitor=True,
        args=["-action", "reboot=reset"],
    ) as guest:
        grows(guest, 16384)
        guest.monitor.command("system_reset")
        grows(guest, 32768)
        guest.interrupt()
    first, second = s.work / "boots.trace", s.work / "boots.trace-2"
    done = parasite.record(first, f"file:{packets}")
    check.contains(done.text, "booted 2 times")
    first, second = parasite.info(first), parasite.info(second)
    check.true(first["samples"] > 500, first["samples"])
    check.true(second["samples"] > 500, second["samples"])
    check.same(second["missing_packets"], 0)


def panics(s, width, image, how):
    """An image that dies in that way, recorded: its info and its console."""
    trace, text = boot_and_record(
        *(s, width, f"test/{image}", f"panic-{how}"),
        f"prof.every=0 prof.jitter=0 die={how}",
        code=101,
        icount=2,
    )
    info = Command(s).info(trace)
    check.same(info["exit_code"], 101)
    return info, text


def guest_image(s, width, image):
    return s.image(width, f"test/{image}")


def last_samples_come(s, width, how, overflowed):
    """A panic sends all samples, so many of them from the overflow table."""
    info, text = panics(s, width, "panic_sends_what_is_left", how)
    ticks = check.has(text, r"^ends with (\d+) ticks$")
    check.same(info["samples"], int(ticks[1]))
    check.same(info["lost"], 0)
    check.same(info["overflowed"], overflowed)
    report = Command(s)("report", s.work / f"panic-{how}.trace").out
    check.has(report, " +50 +last_samples$")


def goes_to(s, width, asked, taken, **options):
    """Without the transport that was asked for."""
    name = f"missing-{asked}"
    append = f"{ONE} prof.out={asked}"
    with counted(s, width, name, append, **options) as guest:
        guest.end()
        text = guest.text()
    check.has(
        text, f"^prof: prof.out={asked}: no such device; .* goes to {taken}$"
    )
    check.has(text, f"^prof: stream to {taken}: ")


def test_ends(s, width):
    s.holds(boots_twice, s, width)
    for how, overflowed in (("null", 0), ("overflow", 0), ("drain", 50)):
        s.holds(
            f"a panic ({how}) sends the last samples",
            *(last_samples_come, s, width, how, overflowed),
        )
    for how in ("without_heap", "stack_smashed", "stack_lost"):
        s.holds(
            f"a panic ({how}) ends the stream",
            *(panics, s, width, "panic", how),
        )
    s.holds(
        "without virtio the stream goes to e9",
        *(goes_to, s, width, "virtio", "e9"),
        stream=os.devnull,
    )
    s.holds(
        "without uart2 the stream goes to serial",
        *(goes_to, s, width, "uart2", "serial"),
    )


# ---- commands


# Each transport's commands, as `parasite tell` sends them: suite/live.


def garbage():
    """Each "start" of it with a byte of no text before and after it."""
    return "".join(
        f"{chr(1 + i % 9)}{chr(128 + i % 90)}start\x0e" for i in range(60)
    )


def test_commands(s, width):
    """They come by a virtio console, and are answered on the serial one."""
    (s.work / "console").unlink(missing_ok=True)  # of an earlier run
    with s.guest(
        *(width, "lua", "commands"),
        append="prof.start=off prof.every=0 prof.out=virtio",
        modules=[PARSER],
        typed=True,
        args=[
            *("-chardev", "stdio,id=c", "-device", "virtio-serial-pci"),
            *("-device", "virtconsole,chardev=c"),
        ],
        serial=f"file:{s.work / 'console'}",
    ) as guest:
        console = s.work / "console"

        def lines():
            """The last one may be a part of one."""
            text = console.read_bytes().decode("latin-1").replace("\r", "")
            return text.split("\n")

        def oks():
            return sum(line.startswith("#prof! ok") for line in lines())

        def wait(pattern, before=0):
            guest.soon(
                lambda: any(re.search(pattern, l) for l in lines()[before:]),
                f"a line {pattern!r}",
            )

        def ask(command, pattern):
            before = len(lines()) - 1
            guest.send(command)
            wait(pattern, before)

        # what is sent before may be lost with the device's reset
        guest.soon(console.exists, "the console")
        wait("^parser: ")
        for command, pattern in (
            ("rate 500", r"^#prof! ok rate 500 at 500\.\d* Hz$"),
            ("depth 9", "^#prof! ok depth 9$"),
            ("start", r"^#prof! ok start at 500\."),
            ("fly", '^#prof! error: "fly": not a command'),
            ("rate 0", '^#prof! error: "rate 0": rate takes '),
            ("stacks off", "^#prof! ok stacks off$"),
            ("report", "^#prof! ok report$"),
            ("reset", "^#prof! ok reset$"),
            ("stop", "^#prof! ok stop$"),
        ):
            s.holds(f'"{command}" is answered', ask, command, pattern)
        before, too_long = oks(), '^#prof! error: ".*": too long for a command'
        s.holds("too much is refused", ask, garbage() + " is too", too_long)
        with s.test("garbage changes nothing"):
            check.same(oks(), before)
        s.holds("what follows is answered", ask, "report", "^#prof! ok report$")


def suite(s):
    width, subject = s.part.split("-")
    globals()[f"test_{subject}"](s, width)
