# SPDX-License-Identifier: Apache-2.0
"""`parasite attach`: guests sampled from outside, through QEMU's stub for GDB;
and stubs that lie, stall and leave."""

import re
import shutil
import signal

import exact
import fake
import foreign
import moved
import odd
import once
import running
import stops
from exact import PATIENCE, SHARES
from harness.command import Command
from harness.suite import WIDTHS, background, by_turns, check, given_time, run

PARTS = (*WIDTHS, "fake")
CHAIN = ("service_main", "level_7")
# more where the shares of the first are not right: on a busy host samples
# depend on each other
SAMPLES = (300, 1200, 4800)
HZ = 1000


class Attach:
    def __init__(self, s):
        self.s, self.parasite = s, Command(s)
        self.trace = s.work / "x.trace"

    def __call__(self, *words, **options):
        shutil.rmtree(self.trace, ignore_errors=True)
        words = (*PATIENCE, "-o", self.trace, *words)
        return self.parasite("attach", *words, **options)

    def until(self, enough, *words):
        """Samples until enough() of its trace; what it said."""
        log = self.s.work / "until.log"
        return self.parasite.attach(
            self.trace, enough, *PATIENCE, *words, log=log
        )

    def fact(self, name):
        return self.parasite.info(self.trace)[name]

    def machine(self, width, append, *args):
        return self.parasite.machine(width, "split", append, *args)


def rate(said):
    """The figures that a run reports of itself."""
    found = re.search(
        r"median (\d+) us, p99 (\d+) us, worst (\d+) us; ([\d.]+) %.*"
        r"rate: ([\d.]+) Hz of ([\d.]+) Hz, ([\d,]+) deadlines missed, "
        r"([\d,]+) torn",
        said,
        re.DOTALL,
    )
    check.true(found, said)
    return [float(part.replace(",", "")) for part in found.groups()]


def shares(attach, cpus, wanted, *words, machine=None):
    """The leaves' shares of what is not idle, and who calls them, of at least
    so many samples as are (wanted)."""
    if machine is None:
        machine = attach.machine(attach.s.part, "prof.start=off", "-smp", cpus)

    def enough():
        stacks = attach.parasite.folded(attach.trace)
        return sum(n for names, n in stacks if names[-1] in SHARES) >= wanted

    said = attach.until(enough, "-F", HZ, *words, *machine)
    stacks = attach.parasite.folded(attach.trace)
    whole = {name: 0 for name in SHARES}
    for names, samples in stacks:
        for name in SHARES:
            if names[-1] == name:
                whole[name] += samples
                for caller in CHAIN:
                    check.contains(names, caller)
    total = sum(whole.values())
    order = exact.leaves(attach)
    for name, share in SHARES.items():
        # 1.5 points, or what chance allows so few samples
        chance = 4.5 * exact.error_of(share, order, name)
        off = max(exact.OFF, chance)
        check.between(whole[name] / total, share - off, share + off, whole)
    return said


def booted(s, attach):
    for cpus in (1, 2):
        with s.test(f"{s.part}, {cpus} CPUs: shares and callers of a guest"):
            said = given_time(lambda n, c=cpus: shares(attach, c, n), SAMPLES)
            check.has(said, f"QEMU's stub.*, {cpus} CPU")
    with s.test("what a run reports of itself"):
        median, p99, worst, share, got, asked, _, torn = rate(said)
        check.true(0 < median <= p99 <= worst, said)
        check.between(share, 0.01, 100, said)
        check.true(0 < got <= asked == HZ, said)
        check.same(torn, 0)
    with s.test("the other CPU is halted"):
        check.has(said, "[1-9][0-9,]* of halted CPUs")
        idle = [
            n
            for names, n in attach.parasite.folded(attach.trace, "--cpu=1")
            if names == ["[idle]"]
        ]
        check.true(sum(idle) > SAMPLES[0] // 2, idle)


def views(s, attach):
    with s.test("the trace is like any other"):
        for words in (
            ("report",),
            ("flame", "-o", s.work / "f.html"),
            ("annotate", "leaf_a"),
            ("info", "--check"),
            ("diff", attach.trace),
            ("export", "-f", "pprof", "-o", s.work / "f.pb"),
        ):
            run(s.parasite, *words, attach.trace)


def budget(attach, seconds):
    said = attach(
        *("-F", 1000, "-d", seconds, "--pause-budget", "2%"),
        *attach.machine(attach.s.part, "prof.start=off"),
    ).err
    _, _, worst, share, *_ = rate(said)
    # the last pause may come on top
    check.true(share <= 2.05 + worst / 1e4 / seconds, said)
    return said


def shared_ram(s, attach):
    """The stack comes from the file that is the guest's memory."""
    ram = s.work / f"ram.{s.part}"
    memory = f"memory-backend-file,id=ram,size=128M,share=on,mem-path={ram}"
    machine = attach.machine(
        *(s.part, "prof.start=off", "-object", memory),
        *("-machine", "memory-backend=ram"),
    )
    with s.test("callers from shared RAM"):
        said = given_time(
            lambda n: shares(attach, 1, n, "--ram", ram, machine=machine),
            SAMPLES,
        )
        check.has(said, "stacks from shared RAM")
    with s.test("RAM that is not there"):
        said = attach("--ram", s.work / "none", *machine, status=1).err
        check.has(said, "none: cannot be read")
    ram.unlink()


def triple_fault(s, attach):
    """A boot sector that counts down, and then has no interrupt table."""
    code = bytes.fromhex("66b900000004" "6649" "75fc" "0f011e2a7c" "cc" "ebfe")
    sector = s.work / f"triple.{s.part}.img"
    sector.write_bytes(code.ljust(510, b"\0") + b"\x55\xaa")
    words = (
        *(f"qemu-system-{s.part}", "-accel", "tcg", "-display", "none"),
        *("-monitor", "none", "-nic", "none", "-m", 16, "-drive"),
        f"file={sector},format=raw",
    )
    with s.test("a triple fault ends the recording, not the trace"):
        attach("-F", 200, "--", *words, "-no-reboot")
        check.true(attach.fact("samples") > 0)
    with s.test("one after the other do not end it"):

        def reboots(seconds):
            attach("-F", 200, "-d", seconds, "--", *words)
            check.true(attach.fact("samples") > 50)

        given_time(reboots)


def ends(s, attach):
    with s.test("the guest's exit code is that of attach"):
        attach("-F", 100, *attach.machine(s.part, "split.rounds=20"))
        dies = ("test/panic", "prof.start=off die=guard_read")
        machine = attach.parasite.machine(s.part, *dies)
        attach("-F", 100, *machine, status=101)
        said = attach("--", f"qemu-system-{s.part}", "-wrong", status=1).err
        check.has(said, "-wrong: invalid option")
    with s.test("pauses stay within their budget"):
        given_time(lambda t: budget(attach, t))


def sampled(s, attach, what, kind, holds, *words, status=0):
    """A test that, given time, holds(STUB, what was said, SECONDS) of a stub of
    that (kind), sampled for so long."""

    def once(seconds):
        with kind() as stub:
            ram = ("--ram", stub.ram) if isinstance(stub, fake.Ram) else ()
            words_of = (*words, *ram, "-d", seconds, stub.target)
            said = attach(*words_of, status=status).err
            holds(stub, said, seconds)

    with s.test(what):
        given_time(once)


def has_callers(attach):
    """Each sample has all that the stub's stack has."""
    stacks = [names for names, _ in attach.parasite.folded(attach.trace)]
    for names in stacks:
        check.same(len(names), fake.CALLERS + 1, names)
    return stacks


def stub_test(s, attach, what, kind, status=0, says=(), samples=20):
    def holds(_, said, __):
        check.true(attach.fact("samples") >= samples, said)
        for text in says:
            check.has(said, text)
        for names in has_callers(attach):
            check.same(names[-1], "0x100000")

    words = ("-F", 200, "--timeout", 3)
    what = f"a stub that {what}"
    sampled(s, attach, what, kind, holds, *words, status=status)


def stubs_are_sampled(s, attach):
    def top(stub, *_):
        """What lies above the stack is asked for once, not for each sample."""
        check.true(stub.stops >= 40, stub.stops)
        check.true(stub.failed <= 4, f"{stub.failed}, {stub.stops}")
        has_callers(attach)

    def nowhere(stub, *_):
        """It is looked for in many stops, not in one."""
        check.true(stub.total - stub.stops > 60, stub.total)
        check.true(stub.most <= 30, stub.most)

    def torn(_, said, seconds):
        """The rate that was reached is of stops of which there are samples."""
        samples = attach.fact("samples")
        check.true(samples >= 40, said)
        *_, reached, _, _, torn_samples = rate(said)
        check.true(torn_samples >= samples // 4, said)
        check.true(reached * seconds <= samples + 1, said)

    def wild(*_):
        check.true(attach.fact("samples") > 40, "samples")

    image = ("-k", s.image("x86_64", "lua"))
    for what, kind, holds, *words in (
        ("whose stack ends where its memory does", fake.Top, top, 200),
        ("that tears samples, of which none counts", fake.Tears, torn, 200),
        ("with registers near the last address", fake.Wild, wild, 400),
        ("whose guest's image is nowhere", fake.Unknown, nowhere, 400, *image),
    ):
        sampled(s, attach, f"a stub {what}", kind, holds, "-F", *words)


def one_cpu_is_not_all(s, attach):
    """Registers of one CPU are not shown as those of another."""
    for kind in (fake.OneCpu, fake.OneQemuCpu, fake.KnowsNoChoice):
        with s.test(f"a stub that refuses a CPU: {kind.__name__}"):
            with kind() as stub:
                said = attach("-F", 200, stub.target, status=1).err
            check.has(said, "several CPUs, and the stub refuses to show one")
            check.true(stub.detached, "it goes on")


def endless(s, attach):
    """A stub may take its time for an answer, and no longer, however it comes;
    and a signal ends each wait."""
    for kind in (
        *(fake.DripsNews, fake.DripsBytes, fake.DripsInStop, fake.DripsXml),
        *(fake.NeverReads, fake.FloodsNews),
    ):
        name = kind.__name__
        with s.test(f"{name}: an answer has its deadline"):
            with kind() as stub:
                said = attach("--timeout", 1, stub.target, status=1).err
            check.has(said, "does not answer|make no sense")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if kind is fake.FloodsNews:
                continue  # it ends by itself
            with s.test(f"{name}: {number.name} ends the wait"):
                with kind() as stub, background(
                    *(s.parasite, "attach", "--timeout", 1000000),
                    *("-o", attach.trace, stub.target),
                    log=s.work / "endless",
                ) as running:
                    running.soon(stub.begun.is_set, "it was asked")
                    running.signal(number)
                    running.end(1)
                    check.has(running.text(), "interrupted before the stub")


def split_ram(s, attach):
    """Where a large RAM is split is found out, not assumed."""

    def holds(stub, said, _):
        known = not isinstance(stub, fake.Elsewhere)
        check.true(attach.fact("samples") >= 20, said)
        for names in has_callers(attach):
            check.true("0x10beef" not in str(names), names)
        check.same("another layout" in said, not known, said)
        check.same(stub.reads < 10, known, stub.reads)

    for kind in (fake.Ram, fake.Pc, fake.Elsewhere):
        what = f"RAM above 4 GiB, split at {kind.split >> 20} MiB"
        sampled(s, attach, what, kind, holds, "-F", 200)


def cut_ram(s, attach):
    with s.test("RAM that is cut while the guest is stopped: it goes on"):
        with fake.Cut() as stub:
            words = ("-F", 200, "--ram", stub.ram, stub.target)
            said = attach(*words, status=1).err
            check.has(said, "a file became shorter while it was read")
            check.same((stub.detached, stub.running), (True, True))


SENSELESS = {"status": 1, "says": ["make no sense"]}
STUBS = (
    ("is QEMU's", fake.Stub, {"says": ["one round trip"]}),
    ("is another", fake.Other, {"says": ["several round"]}),
    ("sends bytes", fake.Binary, {"says": ["2 CPUs"], "samples": 40}),
    ("sends garbage", fake.Garbage, {}),
    (
        *("is slow", fake.Slow),
        {"says": ["[1-9][0-9,]* deadlines missed"], "samples": 1},
    ),
    (
        *("stalls", fake.Stalls),
        {"status": 1, "says": ["does not answer after 20 samples"]},
    ),
    ("leaves", fake.Leaves, {"says": ["connection was closed"]}),
    (
        *("says that the guest ended", fake.Exits),
        {"says": ["the guest has ended"]},
    ),
    ("lies", fake.Lies, SENSELESS),
    ("damages its packets", fake.Damages, SENSELESS),
    (
        *("tears samples", fake.Tears),
        {"says": ["[1-9][0-9]* torn samples"], "samples": 10},
    ),
    ("never ends", fake.Floods, SENSELESS),
    ("has one CPU", fake.OnlyCpu, {}),
)


def fakes(s, attach):
    stubs_are_sampled(s, attach)
    one_cpu_is_not_all(s, attach)
    endless(s, attach)
    split_ram(s, attach)
    cut_ram(s, attach)
    odd.odd(s, attach)
    once.of_stubs(s, attach)
    for what, kind, options in STUBS:
        stub_test(s, attach, what, kind, **options)
    with s.test("no stub at all"):
        for words in ("gdb:localhost:1", "xen:32000"):
            attach(words, status=1)
        for words in ("unix:x", "xen:", "xen:-1", "xen:99999", "--ram x xen:1"):
            attach(*words.split(), status=2)
        attach(status=2)
        attach("--pause-budget", "0", "gdb:localhost:1", status=2)


def suite(s):
    attach = Attach(s)
    if s.part == "fake":
        fakes(s, attach)
        return
    booted(s, attach)
    views(s, attach)
    if s.part in by_turns("x86_64"):
        exact.exact(s, attach)
    shared_ram(s, attach)
    foreign.foreign(s, attach)
    moved.elsewhere(s, attach)
    stops.stops(s, attach, foreign.blocks_image(s))
    ends(s, attach)
    running.running(s, attach)
    once.once(s, attach)
    running.ring(s, attach)
    triple_fault(s, attach)
