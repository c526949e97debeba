# SPDX-License-Identifier: Apache-2.0
"""A guest that runs already: sampled, interrupted, paused, reset, killed."""

import shlex
import shutil
import signal
from contextlib import contextmanager

from exact import PATIENCE
from harness.suite import background, check, given_time, run, soon


class Running:
    """A guest that runs already, and what is sampled of it."""

    def __init__(self, s, attach, guest):
        self.s, self.attach, self.guest = s, attach, guest
        self.image = s.image(s.part, "split")
        address = guest.address("stub").removeprefix("tcp:")
        self.target = f"gdb:{address}"
        self.monitor = "qmp:localhost:1"
        if "control" in guest.channels:
            self.monitor = f"qmp:{guest.address('control')}"
        self.log = s.work / "attach.log"

    def status(self):
        return self.guest.monitor.command("query-status")["status"]

    def samples(self):
        """None before there is a trace."""
        return self.attach.fact("samples")

    def wait_samples(self, count=20):
        soon(lambda: (self.samples() or 0) > count)

    @contextmanager
    def sampled(self):
        """Attached, with some samples; Ctrl-C unless it ends by itself."""
        trace = self.attach.trace
        shutil.rmtree(trace, ignore_errors=True)
        words = ("attach", *PATIENCE, "-F", 200)
        words += ("-k", self.image, "-o", trace)
        with background(
            self.s.parasite, *words, self.target, log=self.log
        ) as sampling:
            self.wait_samples()
            yield
            if self.guest.alive():
                sampling.signal(signal.SIGINT)
            sampling.end()

    # ---- the tests

    def interrupted(self):
        with self.sampled():
            pass
        check.has(self.log.read_text(), "samples, .* of halted CPUs")
        check.true(self.samples() > 20)
        check.same(self.status(), "running")

    def once(self):
        said = self.attach("--once", "-k", self.image, self.target).out
        check.has(said, r"^CPU 0: (running|halted), \d\d-bit$")
        check.has(
            said,
            r"^ +\d+  0x[0-9a-f]+  service_main\+0x[0-9a-f]+  main\.c:\d+$",
        )
        check.same(self.status(), "running")

    def idle(self, seconds):
        self.attach("-F", 200, "-d", seconds, "-k", self.image, self.target)
        stacks = self.attach.parasite.folded(self.attach.trace)
        count = sum(n for names, n in stacks if names == ["[idle]"])
        total = sum(n for _, n in stacks)
        check.true(total > 50, total)
        check.between(count / total, 0.3, 0.7)

    def top(self, seconds):
        """Tables, one after the other, of what the guest does now."""
        words = ("--stdio", "-n", 3, "--delay", seconds, "-F", 400)
        words += ("-k", self.image, self.target)
        said = self.attach.parasite("top", "--attach", *words).out
        check.has(said, "^ *[0-9.]+% .* leaf_a$")
        check.has(said, "Symbol", count=3)
        check.same(self.status(), "running")

    def top_of_none(self):
        words = ("top", "--attach", "--stdio", "-n", 1, "gdb:localhost:1")
        said = self.attach.parasite(*words, status=1).err
        check.has(said, "localhost:1: ")
        words = ("top", "--attach", "gdb:localhost:1")
        line = shlex.join(map(str, (self.s.parasite, *words)))
        said = run("script", "-qec", line, "/dev/null", status=1).text
        check.has(said, "localhost:1: ")
        check.lacks(said, "\x1b")  # no screen was opened
        words = ("top", "--attach", "--loop", self.target)
        self.attach.parasite(*words, status=2)

    def paused_before(self):
        self.guest.monitor.command("stop")

        def held(seconds):
            words = ("-d", seconds, "-k", self.image, self.target)
            check.has(self.attach(*words).err, "somebody else held the guest")

        given_time(held)
        said = self.attach("--once", "-k", self.image, self.target).out
        check.has(said, r"  service_main\+0x[0-9a-f]+  main")
        check.same(self.status(), "paused")
        self.guest.monitor.command("cont")

    def stays_paused(self):
        """Pauses it, unless that comes during a pause of ours: nothing
        distinguishes the two then. From one look to the next a sample is due.
        """
        self.guest.monitor.command("stop")
        return all(
            self.samples() and self.status() == "paused" for _ in range(20)
        )

    def paused(self):
        given_time(lambda _: self.paused_meanwhile())

    def paused_meanwhile(self):
        with self.sampled():
            soon(self.stays_paused)
            self.guest.monitor.command("cont")
            self.wait_samples(self.samples() + 20)
        check.has(self.log.read_text(), "somebody else held the guest")

    def resumed(self):
        """Both ways, and a guest that is not paused."""
        for target in (self.target, self.monitor):
            self.guest.monitor.command("stop")
            said = self.attach.parasite("attach", "--resume", target).out
            check.has(said, "the guest runs; it was paused before")
            check.same(self.status(), "running")
            said = self.attach.parasite("attach", "--resume", target).out
            check.has(said, "the guest runs; it was not paused before")
            check.same(self.status(), "running")
        for target in ("xen:1", "unix:x", "qmp:localhost:1"):
            self.attach.parasite("attach", "--resume", target, status=(1, 2))

    def left_paused(self):
        """By SIGKILL in a stop, which nobody can catch."""
        words = ("attach", "-q", "-F", 100000, "-o", self.attach.trace)

        def is_paused():
            shutil.rmtree(self.attach.trace, ignore_errors=True)
            with background(
                self.s.parasite, *words, self.target, log=self.log
            ) as sampling:
                self.wait_samples()
                sampling.signal(signal.SIGKILL)
                sampling.end(-signal.SIGKILL)
            return self.status() == "paused"

        soon(is_paused, "a kill in a stop")
        said = self.attach.parasite("attach", "--resume", self.target).out
        check.has(said, "it was paused before")
        check.same(self.status(), "running")

    def reboots(self):
        with self.sampled():
            self.guest.monitor.command("set-action", reboot="reset")
            self.guest.monitor.command("system_reset")
            self.guest.wait_line("^boot: ", 2)
            self.wait_samples(self.samples() + 20)

    def killed(self):
        with self.sampled():
            self.guest.interrupt()
        check.has(self.log.read_text(), "after [0-9]+ samples")
        check.true(self.samples() > 20)


def running(s, attach):
    with s.guest(
        *(s.part, "split", "running"),
        append="prof.start=off split.idle=50",
        channels={"stub": "unix", "control": "unix"},
        args=["-gdb", "chardev:stub", "-mon", "control,mode=control"],
    ) as guest:
        guest.wait_line("^boot: ")
        there = Running(s, attach, guest)
        for what, test in (
            ("Ctrl-C keeps what was collected", there.interrupted),
            ("--once prints the stack of every CPU", there.once),
            ("halted time is idle time", lambda: given_time(there.idle)),
            ("top --attach shows functions", lambda: given_time(there.top)),
            ("top --attach says why it cannot", there.top_of_none),
            ("what somebody else has paused stays so", there.paused_before),
            ("what is paused meanwhile, too", there.paused),
            ("a guest that was left paused is resumed", there.resumed),
            ("also one whose attach was killed", there.left_paused),
            ("a guest that reboots is sampled on", there.reboots),
            ("the trace of a guest that is killed stays", there.killed),
        ):
            s.holds(what, test)


def ring(s, attach):
    """A guest whose own profiler writes to its RAM."""
    ram, image = s.work / f"ring.{s.part}", s.image(s.part, "split")
    with s.guest(
        *(s.part, "split", "ring"),
        append="prof.out=shm prof.hz=1000 prof.every=0",
        channels={"stub": "tcp"},
        args=["-gdb", "chardev:stub"],
        ram=ram,
    ) as guest:
        guest.wait_line("^boot: ")
        there = Running(s, attach, guest)
        words = ("--ram", ram, "-k", image)

        def read(seconds):
            target = f"{there.target}.none"
            said = attach("-d", seconds, *words, target).err
            check.has(said, "read without a stop")
            check.true(there.samples() > 100)

        with s.test("a ring in shared RAM is read without a stop"):
            given_time(read)

        def by_stub(seconds):
            line = ("-d", seconds, "--stub", *words, there.target)
            check.has(attach(*line).err, "QEMU's stub.* stacks from shared RAM")

        with s.test("but not if the stub is asked for"):
            given_time(by_stub)

        def by_port(seconds):
            check.has(there.target, r"^gdb:127\.0\.0\.1:\d+$")
            attach("-F", 200, "-d", seconds, "-k", image, there.target)
            check.true(there.samples() > 20)

        with s.test("the stub is at gdb:HOST:PORT"):
            given_time(by_port)
    ram.unlink()
