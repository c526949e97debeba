# SPDX-License-Identifier: Apache-2.0
"""Servers under the plugin: irc and http with clients that come once, and are
recorded. QEMU writes down all that reaches the guest from outside, and at which
instruction; played back, a run repeats to the instruction, and truth and
profile must, too.

Clients answer in real time, and while the guest waits for them its clock goes
on like the wall's. With an instruction a nanosecond it would wait most of the
time, and what it does for a handful of frames would be over before the next
tick: but as frames come in where QEMU wakes for a tick, such work is hardly
ever met. At 2**SHIFT ns an instruction the guest seldom waits, and a turn of
its loop takes longer than a sampling period.

QEMU 7.2 does not record event descriptors and bottom halves on the way from the
guest to the device. Hence ioeventfd=off and tx=timer."""

import itertools
import os
import tarfile
from contextlib import ExitStack, contextmanager

from guests import Sampled
from harness.suite import Failed, Guest, background, check, run, soon

SHIFT = 6
SESSIONS = 400
SERVED_MS = 2500  # of the guest's clock
CLIENTS = 48
# Ports: QEMU listens with a backlog of one, and who finds it full comes again
# after a second.
DOORS = 64
ATTEMPTS = 8
OUTCOMES = ("json", "ticks", "packets", "console")
# Clients go on until the guest has ended, and are ended then.
FOREVER_S = 1000000


def doors():
    """ "ADDRESS:PORT" for the clients, at an address of 127.0.0.0/8 that
    follows from the number of this process: where two run at a time they do
    not meet."""
    pid = os.getpid()
    host = f"127.{pid >> 16 & 127 | 128}.{pid >> 8 & 255}.{pid & 255}"
    return [f"{host}:{port}" for port in range(7000, 7000 + DOORS)]


class Served(Sampled):
    """A server that listens at (port). clients(self, doors) is a context in
    which they come."""

    port = 0

    @contextmanager
    def clients(self, found):
        raise NotImplementedError

    def machine(self, mode, append, forwards="", args=()):
        """The guest, to "record" it or to "replay" it."""
        period = 1000000000 // self.rate >> SHIFT
        icount = (
            f"shift={SHIFT},sleep=on,rr={mode},rrfile={self.file('events')}"
        )
        return Guest(
            self.image,
            self.width,
            self.file(f"{mode}.log"),
            append=f"prof.out=e9 prof.hz={self.rate} "
            f"prof.seed={self.seed} {append}",
            serial=f"file:{self.file('console')}",
            stream=self.file("packets"),
            args=[
                *("-icount", icount, "-rtc", "clock=vm"),
                *("-netdev", f"user,id=load{forwards}"),
                "-device",
                "virtio-net-pci,netdev=load,tx=timer,ioeventfd=off",
                *("-object", "filter-replay,id=frames,netdev=load"),
                *("-plugin", self.plugin_words(period, traps=True)),
                *args,
            ],
        )

    def is_up(self):
        console = self.file("console")
        return console.exists() and any(
            line.startswith(b"net: address")
            for line in console.read_bytes().splitlines()
        )

    def record(self, append, args):
        """The guest with its clients, until it ends."""
        self.clear()
        found = doors()
        forwards = "".join(
            f",hostfwd=tcp:{door}-:{self.port}" for door in found
        )
        with self.machine("record", append, forwards, args) as guest:
            soon(self.is_up, "an address", guest.alive)
            with self.clients(found):
                self.ended(guest)

    def ended(self, guest):
        code = guest.end()
        check.same((code, guest.why), (0, None), f"{guest.tail()}\n")

    def trace(self):
        """The recorded profile; what info says of it."""
        self.parasite.record(
            self.file("trace"),
            *("-q", "-k", self.image, f"file:{self.file('packets')}"),
        )
        return self.parasite.info(self.file("trace"))

    def record_busy(self, append, args=()):
        """Where the host has had no time for the clients, the guest has
        rested, and is recorded again; whatever else came out."""
        for _ in range(ATTEMPTS):
            self.record(append, args)
            info = self.trace()
            samples, idle = info["samples"], info["idle"]
            self.note(f"{self.name}: {idle} of {samples} samples are idle")
            if idle < samples / 5:
                return
        raise Failed(f"{ATTEMPTS} times the clients were too slow")

    def note(self, text):
        self.s.note(text)

    def replay(self, append, args):
        """Whether the run that is played back is, to the last byte, the one
        that was recorded: the console, the profile, and the truth."""
        for kind in OUTCOMES:
            os.replace(self.file(kind), self.file(f"recorded.{kind}"))
        with self.machine("replay", append, args=args) as guest:
            self.ended(guest)
        for kind in OUTCOMES:
            run("cmp", self.file(f"recorded.{kind}"), self.file(kind))

    def judge(self, append="", modules=()):
        """Recorded, played back, and that run compared with its truth."""
        args = ["-initrd", ",".join(map(str, modules))] if modules else []
        self.record_busy(append, args)
        self.replay(append, args)
        self.trace()
        self.compare()


class Irc(Served):
    port = 6667

    @contextmanager
    def clients(self, found):
        """One comes first, since lwIP keeps a single frame for a peer whose
        address it is asking for, and repeats the others after three seconds.
        Then until the guest ends, which it does after SESSIONS: so none is left
        alone with it."""
        loadgen = self.s.build / "host" / "loadgen"
        run(loadgen, "-q", "-n", 1, found[0], status=None)
        with background(
            *(loadgen, "-q", "--first", 1, "-c", CLIENTS),
            *("-d", FOREVER_S, *found),
            log=self.file("clients"),
        ):
            yield


class Http(Served):
    port = 80

    @contextmanager
    def clients(self, found):
        """Pages, a long file, and what is not there; half of the clients keep
        their connection, half come anew for each request."""
        pages = itertools.cycle(
            ("book.txt", "page.html", "missing", "index.html")
        )
        run("curl", "-s", "-o", "/dev/null", f"http://{found[0]}/", status=None)
        with ExitStack() as all_clients:
            for number, door, page in zip(
                range(1, CLIENTS + 1), found[1:], pages
            ):
                stay = "keep-alive" if number // 4 % 2 else "close"
                all_clients.enter_context(
                    background(
                        *("wrk", "-t", 1, "-c", 1, "-d", FOREVER_S),
                        *("-H", f"Connection: {stay}"),
                        f"http://{door}/{page}",
                        log=self.file(f"client{number}"),
                    )
                )
            yield

    def site(self):
        """An archive of what it serves."""
        folder = self.s.work / "site"
        folder.mkdir(exist_ok=True)
        texts = {
            "index.html": "a page of one line\n",
            "page.html": "".join(f"{n}\n" for n in range(1, 2001)),
            "book.txt": "".join(f"{n}\n" for n in range(1, 30001)),
        }
        path = self.file("tar")
        with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
            for name, text in texts.items():
                (folder / name).write_text(text, encoding="ascii")
                tar.add(folder / name, name)
        return path


def irc_append(sessions):
    return (
        "prof.reports=0 prof.every=0 irc.every=0 " f"irc.connections={sessions}"
    )


def irc(s, name, width, rate):
    Irc(s, name, width, "irc", rate).judge(irc_append(SESSIONS))


def http(s, name, width, rate):
    one = Http(s, name, width, "http", rate)
    one.judge(f"prof.reports=1 prof.every={SERVED_MS}", [one.site()])


SERVERS = {"irc": irc, "http": http}
