# SPDX-License-Identifier: Apache-2.0
"""parasite serve: guests by sockets, files and RAM; what it adds up, what it
passes on, what it refuses, and what is left when somebody is killed."""

import collections
import functools
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import tempfile
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.command import Command, packets_of
from harness.stream import CLOCK_HZ, TEXT, Stream
from harness.suite import WIDTHS, background, check, run
from late import test_late
from readers import test_slow_reader
from pushes import test_push, test_push_of_rows, test_push_refused

PARTS = (*WIDTHS, "hosts", "store", "page")
COUNTS = ("ticks", "attributed", "idle", "unresolved", "dropped", "missed")
PERIOD = CLOCK_HZ // 100
RATE_MHZ = 100_000
RING_MAGIC = 0x676E6972666F7270  # of struct prof_share


class Serve:
    """A running `parasite serve`, with a socket at which guests connect."""

    def __init__(self, s, process, folder):
        self.s, self.process, self.folder = s, process, folder
        self.path = f"{folder}/g"
        self.address = f"unix:{self.path}"

    def text(self):
        return self.process.text()

    def rows(self, table=None):
        """What it has printed: a row for each line."""
        found = [
            json.loads(line)
            for line in self.text().splitlines()
            if line.startswith("{") and line.endswith("}")
        ]
        return [r for r in found if table in {None, r["table"]}]

    def sums(self, **wanted):
        """The accounts' sums of guests with these values."""
        sums = collections.Counter(dict.fromkeys((*COUNTS, "samples"), 0))
        for row in self.rows():
            if any(row[key] != value for key, value in wanted.items()):
                continue
            if row["table"] == "accounts":
                sums.update({name: row[name] for name in COUNTS})
            elif row["table"] == "samples":
                sums["samples"] += row["samples"]
        return sums

    def connect(self, first="", address=None):
        """A socket to it, with a first line."""
        file = socket.socket(socket.AF_INET if address else socket.AF_UNIX)
        file.settimeout(600)
        file.connect(address or self.path)
        if first:
            file.sendall(f"parasite {first}\n".encode())
        return file

    def ask(self, line, address=None):
        """The answer to a first line."""
        with self.connect(line, address) as file:
            return read_all(file)

    def ask_bytes(self, line):
        with self.connect(line) as file:
            return b"".join(iter(lambda: file.recv(65536), b""))

    def guests(self):
        return json.loads(self.ask("list"))

    def guest(self, **wanted):
        """The only guest with these values in the list, or None."""
        found = [
            g
            for g in self.guests()
            if all(g[key] == value for key, value in wanted.items())
        ]
        return found[0] if len(found) == 1 else None

    def soon_guest(self, **wanted):
        return self.process.soon(lambda: self.guest(**wanted), f"{wanted}")

    def soon_forgotten(self, *boots):
        """Returns when these have ended and are forgotten: all their rows are
        printed."""
        boots = {f"{boot:02x}" * 16 for boot in boots}
        self.process.soon(
            lambda: boots <= {row["boot"] for row in self.rows("guests")}
            and not boots & {guest["boot"] for guest in self.guests()},
            f"the ends of {boots}",
        )

    def stop(self):
        """Ends it as a user does; all that it has is then printed."""
        self.process.signal(signal.SIGTERM)
        self.process.end()


@contextmanager
def serving(s, *words, name="serve", service="one", json_rows=True, env=None):
    """serve with (words), listening, for guests of (service)."""
    folder = tempfile.mkdtemp(prefix="serve.")
    try:
        with background(
            *(s.parasite, "serve", "--host", "here"),
            *("--listen", f"{service}=unix:{folder}/g", *words),
            *(("--json",) if json_rows else ()),
            log=s.work / f"{name}.log",
            env=env,
        ) as process:
            sockets = 1 + words.count("--listen")
            process.soon(
                # whole lines: of one that is being written, the end may miss
                lambda: len(re.findall("listening at .*\n", process.text()))
                == sockets,
                "it listens",
            )
            yield Serve(s, process, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_all(file):
    said = b""
    while data := file.recv(65536):
        said += data
    return said.decode()


def samples_of(count, boot, *, end=True, room=512):
    """A stream's packets with (count) samples at 100 Hz."""
    stream = Stream(boot=boot, room=room)
    stream.begins(RATE_MHZ)  # the first sample is a period later
    stream.step = PERIOD
    stream.node(1, 0, TEXT + 0x10)
    stream.node(2, 1, TEXT + 0x20)
    for i in range(count):
        stream.sample(1 + i % 2)
    if end:
        stream.event("bye", code=0)
    return packets_of(stream.data())


def send(serve, packets, first=""):
    """All of a guest, in one connection."""
    with serve.connect(first) as file:
        file.sendall(b"".join(packets))
    return b"".join(packets)


# ---- real guests


def virtio_to(path):
    return (
        *("-device", "virtio-serial-pci"),
        *("-chardev", f"socket,id=out,path={path}"),
        *("-device", "virtconsole,chardev=out"),
    )


def guests_of(s):
    """Three guests of this width at once, one of which is killed."""
    width, parasite = s.part, Command(s)
    raw = s.work / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    words = ("--keep-raw", "1h", "--raw", raw, "-k", s.image(width, "split"))
    with serving(s, *words, service="split") as serve:
        texts = []
        with s.test(f"{width}: guests connect, run and end"):
            guests = [
                s.guest(
                    *(width, "split", f"guest{i}"),
                    append=f"prof.out=virtio prof.every=0 prof.hz=1000 "
                    f"split.rounds={200 * (i + 1)}",
                    icount=4,
                    # of one image and time they would be one boot
                    rtc=f"2026-01-0{i + 1}",
                    args=virtio_to(serve.path),
                )
                for i in range(2)
            ]
            for guest in guests:
                with guest:
                    check.same(guest.end(), 0)
                    texts.append(guest.text())
            serve.process.soon(
                lambda: not any(g["connected"] for g in serve.guests()),
                "their ends",
            )
        with s.test(f"{width}: a live reader gets stacks, the guest commands"):
            with s.guest(
                *(width, "split", "live"),
                append="prof.out=virtio prof.every=0",
                args=virtio_to(serve.path),
            ) as guest:
                live = guest.soon(
                    lambda: serve.guest(connected=True), "the guest's stream"
                )
                target = f"{serve.address}?guest={live['boot'][:8]}"
                said = parasite("tell", target, "rate", "200").lines()
                check.contains(said[0], "ok rate 200")
                trace = s.work / "live.trace"
                shutil.rmtree(trace, ignore_errors=True)
                with background(
                    *(s.parasite, "record", "-q", "-g", "-o", trace),
                    *("-k", s.image(width, "split"), target),
                    log=s.work / "record.log",
                ) as recorder:
                    recorder.soon(
                        lambda: "leaf_a" in parasite.selves(trace),
                        "stacks in the trace",
                    )
                    recorder.signal(signal.SIGINT)
                    recorder.end()
                check.same(parasite.info(trace)["depth"], 64)
                rows = parasite.selves(trace)
                check.true("leaf_a" in rows, rows)
                guest.kill()
        serve.stop()
        with s.test(f"{width}: the sums are the guests' own counts"):
            exact(s, serve, raw, texts)
        with s.test(f"{width}: stacks have the functions' names"):
            names = {
                name for row in serve.rows("stacks") for name in row["names"]
            }
            check.true({"leaf_a", "leaf_d", "level_5"} <= names, names)


def exact(s, serve, raw, texts):
    """Each guest's accounts are what another reader of its packets adds up,
    and those of the guests that ended are also what they have printed."""
    parasite, totals = Command(s), []
    boots = {row["boot"]: row["guest"] for row in serve.rows("guests")}
    check.same(len(boots), 3)
    for boot, guest in boots.items():
        sums = serve.sums(guest=guest)
        packets = s.work / f"{boot}.packets"
        packets.write_bytes(
            b"".join(
                path.read_bytes() for path in sorted((raw / boot).iterdir())
            )
        )
        info = parasite.info(packets)
        check.same(
            sums["attributed"] + sums["unresolved"] + sums["idle"],
            info["samples"],
        )
        check.same(sums["samples"], sums["attributed"])
        check.same(sums["missed"], info["missed_ticks"])
        check.same(sums["dropped"], info["dropped"] + info["discarded"])
        totals.append(sums["ticks"] - sums["missed"])
    printed = [
        int(re.search(r"([\d,]+) +all ticks", t)[1].replace(",", ""))
        for t in texts
    ]
    for count in printed:  # and some until the end, after it is printed
        check.true(
            any(count <= total < count + 32 for total in totals),
            (printed, totals),
        )


# ---- made streams


def test_file(s):
    """The sums are the trace's, whatever is in it."""
    parasite, stream = Command(s), s.work / "all.bin"
    stream.write_bytes(parasite.make_stream("--all", 20000, 7, CPUS=2))
    info = parasite.info(stream)
    done = run(s.parasite, "serve", "-q", "--json", f"made={stream}")
    sums = collections.Counter()
    for line in done.lines():
        row = json.loads(line)
        if row["table"] == "accounts":
            sums.update({name: row[name] for name in COUNTS})
        elif row["table"] == "samples":
            sums["samples"] += row["samples"]
            sums["weight"] += row["weight"]
    check.same(sums["attributed"], info["stacks"] + info["overflowed"])
    check.same(sums["samples"], sums["attributed"])
    check.same(sums["idle"], info["idle"])
    check.same(sums["dropped"], info["dropped"] + info["discarded"])
    check.same(sums["missed"], info["missed_ticks"])


def test_reboot(s, serve):
    """A guest that reboots on its line, in the middle of a minute, is another
    guest."""
    send(serve, samples_of(300, 1, end=False) + samples_of(200, 2))
    serve.process.soon(
        lambda: serve.sums()["attributed"] >= 200, "the second boot's end"
    )
    check.same(serve.guest(boot="01" * 16)["packets"] > 1, True)


def test_reconnect(s, serve):
    """A guest that connects again goes on; what it repeats counts once."""
    packets = samples_of(500, 3)
    send(serve, packets[:3])
    serve.soon_guest(boot="03" * 16, connected=False)
    send(serve, packets[1:])
    serve.process.soon(
        lambda: [
            r["guest"] for r in serve.rows("guests") if r["boot"] == "03" * 16
        ],
        "its row",
    )


def sums_of_boot(serve, boot):
    (guest,) = {
        row["guest"]
        for row in serve.rows("guests")
        if row["boot"] == f"{boot:02x}" * 16
    }
    return guest, serve.sums(guest=guest)


def test_loss(s, serve):
    """Samples in a packet that never came are lost, and a row says so."""
    packets = samples_of(400, 4)
    send(serve, packets[:2] + packets[3:])
    serve.soon_forgotten(4)
    guest, sums = sums_of_boot(serve, 4)
    (row,) = serve.rows("losses")
    check.same(row["guest"], guest)
    check.same((row["why"], row["what"]), ("packets missing", "packets"))
    check.same(row["rows"], 1)
    check.true(row["amount"] > 10, row)
    check.same(sums["dropped"], row["amount"])
    check.same(sums["ticks"], 400)


def test_garbage(s, serve):
    """Bytes that are no packets cost themselves only."""
    packets = samples_of(100, 5)
    send(serve, [b"no packet\xc1\x1f\xfc\xc1" * 50, *packets])
    serve.process.soon(
        lambda: sums_of_boot(serve, 5)[1]["attributed"] == 100
        if any(r["boot"] == "05" * 16 for r in serve.rows("guests"))
        else False,
        "its samples",
    )


def metrics(serve):
    """The port of /metrics, and what is there."""
    port = serve.process.soon(
        lambda: re.search(r"127\.0\.0\.1:(\d+)/metrics", serve.text()),
        "the port",
    )[1]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
        check.contains(page.headers["Content-Type"], "text/plain")
        return port, page.read().decode()


def test_metrics(s, serve):
    """/metrics and /guests say the same as the rows."""

    def between_rows():
        """(port, text, rows), if none came meanwhile: the minute of the guest
        that has not ended is closed at some time."""
        before = len(serve.rows())
        found = (*metrics(serve), before)
        return found if len(serve.rows()) == before else None

    port, text, rows = serve.process.soon(between_rows, "no rows meanwhile")
    values = dict(
        line.rsplit(" ", 1)
        for line in text.splitlines()
        if not line.startswith("#")
    )
    check.true(int(values["parasite_serve_rows_total"]) > 0, values)
    check.same(int(values["parasite_serve_packets_repeated_total"]), 2)
    check.same(int(values["parasite_serve_rows_total"]), rows)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/guests") as page:
        check.true(isinstance(json.loads(page.read()), list))
    for line in text.splitlines():
        check.has(line, r"^(# (HELP|TYPE) )?parasite_serve_\w+ ")


def one_serve(s):
    """Tests that share one."""
    with serving(s, "--http", 0) as serve:
        for function in (
            *(test_reboot, test_reconnect, test_loss, test_garbage),
            test_metrics,
        ):
            s.holds(function, s, serve)
        serve.stop()
        with s.test("the sums of each boot are exact"):
            for boot, count in ((1, 300), (2, 200), (3, 500), (5, 100)):
                sums = sums_of_boot(serve, boot)[1]
                check.same((sums["attributed"], sums["ticks"]), (count,) * 2)
                check.same(sums["samples"], count)


class Answering:
    """A guest that is a socket: it answers commands as one does."""

    def __init__(self, serve, packets):
        self.file = serve.connect()
        self.packets, self.heard = packets, b""
        self.file.sendall(packets[0])

    def hear(self):
        data = self.file.recv(4096)
        check.true(data, self.heard)
        self.heard += data

    def wait_heard(self, command):
        """Reads until it was sent."""
        while f"\n{command}\n".encode() not in self.heard:
            self.hear()

    def wait_matching(self, pattern, last):
        """Reads until the pattern's last match is another than (last)."""
        while (found := re.findall(pattern, self.heard)) and found[-1] == last:
            self.hear()
        return found[-1]

    def wait_command(self, command):
        """Reads until it was sent, and answers."""
        self.wait_heard(command)
        self.file.sendall(f"\n#prof! ok {command}\n".encode())

    def send_rest(self):
        self.file.sendall(b"".join(self.packets[1:]))
        self.file.close()


def test_reader(s, serve):
    """Commands reach the guest, its answers and packets the reader."""
    guest = Answering(serve, samples_of(300, 6))
    live = serve.soon_guest(boot="06" * 16)
    target = f"{serve.address}?guest={live['guest'][:8]}"
    with background(
        *(s.parasite, "tell", target, "stop"), log=s.work / "tell.log"
    ) as tell:
        guest.wait_command("stop")
        tell.end()
        check.contains(tell.text(), "ok stop")
    trace = s.work / "read.trace"
    shutil.rmtree(trace, ignore_errors=True)
    with background(
        *(s.parasite, "record", "-o", trace, "-F", 50, target),
        log=s.work / "record.log",
    ) as recorder:
        guest.wait_command("rate 50")
        guest.send_rest()
        recorder.end()
    rest = s.work / "rest.packets"
    rest.write_bytes(b"".join(guest.packets[1:]))
    check.same(
        Command(s).info(trace)["samples"], Command(s).info(rest)["samples"]
    )


def test_deaf_guest(s, serve):
    """A guest that takes no bytes any more costs its reader an error only."""
    guest = Answering(serve, samples_of(20, 24, end=False))
    live = serve.soon_guest(boot="18" * 16)
    guest.file.shutdown(socket.SHUT_RD)
    with serve.connect(f"read guest={live['guest']}") as reader:
        check.same(reader.recv(3), b"ok\n")
        reader.sendall(b"rate 5\n")
        said = b""
        while b"takes no commands" not in said:
            data = reader.recv(4096)
            check.true(data, said)
            said += data
    guest.file.close()
    check.same(serve.ask("capture"), "error: service= is missing\n")


def test_no_guest(s, serve):
    """A reader of a guest that is not there gets a line that says so."""
    said = Command(s)(
        *("tell", f"{serve.address}?guest=nobody", "stop"), status=1
    ).text
    check.contains(said, "there is no guest of that name")
    check.contains(serve.ask("jump"), "error: expected send, read")
    check.contains(serve.ask("x" * 600), "error: the first line is too long")


def test_capture(s, serve):
    """A capture sets a guest's rate, and restores it when its client leaves."""
    guest = Answering(serve, samples_of(100, 7))
    serve.soon_guest(boot="07" * 16)
    for wrong in (
        *("", "service=one seconds=0", "service=one rate=0"),
        *("service=one rate=1e3", "service=one seconds=-1"),
        *("service=one bytes=1", "service=one begin=1"),
        *("service=one bytes=1e6", "service=one bytes=5000000000"),
        *("service=one tasks=2", "service=one tasks=yes"),
    ):
        check.contains(serve.ask(f"capture {wrong}"), "error: ")
    with serve.connect("capture service=one seconds=3600 rate=500") as asker:
        guest.wait_command("rate 500")
        guest.wait_command("hello")
        check.has(asker.recv(100).decode(), r"^ok capture-\d+-\d+$")
        guest.file.sendall(guest.packets[1])
        serve.process.soon(
            lambda: serve.guest(boot="07" * 16)["packets"] == 2, "the packet"
        )
    guest.wait_command("rate 100")
    guest.packets[1:2] = []
    guest.send_rest()
    (folder,) = Path(s.work / "raw").glob("capture-*")
    (file,) = folder.iterdir()
    check.same(file.name, f"{'07' * 16}.packets")
    check.true(Command(s).info(file)["samples"] > 0)
    name, boot = folder.name, "07" * 16
    said = serve.ask_bytes(f"captured capture={name} boot={boot}")
    packets = file.read_bytes()
    check.same(said, b"ok %d\n" % len(packets) + packets)
    for wrong in (
        *(f"capture={name} boot={'08' * 16}", f"capture={name} boot=../x"),
        *(f"capture=../{name} boot={boot}", f"boot={boot}", ""),
        f"capture=capture-/../{name} boot={boot}",
    ):
        check.contains(serve.ask(f"captured {wrong}"), "error: ")


def captured(s, *words, name, form=("--json",), **options):
    """parasite fleet capture of service one into the folder (name), which
    goes on until its guests end."""
    folder = s.work / name
    shutil.rmtree(folder, ignore_errors=True)
    return background(
        *(s.parasite, "fleet", "capture", "one", "--seconds", 3600),
        *(*form, "-o", folder, *words),
        log=s.work / f"{name}.log",
        **options,
    )


def rows_of(process):
    text = process.text()
    return json.loads(text[text.index("[") : text.rindex("]") + 1])


def test_fleet_capture(s):
    """A trace of each guest, of two serves at once; who does not answer or is
    not there is named."""
    words = ("--captures", s.work / "captures")
    shutil.rmtree(s.work / "captures", ignore_errors=True)
    with (
        serving(s, *words, name="capture1") as one,
        serving(s, *words, name="capture2") as two,
    ):
        guests = [
            Answering(serve, samples_of(300, 40 + i))
            for i, serve in enumerate((one, one, two))
        ]
        deaf = Answering(one, samples_of(100, 43))
        for number, serve in ((40, one), (41, one), (42, two), (43, one)):
            serve.soon_guest(boot=f"{number:02x}" * 16)
        froms = ("--from", one.address, "--from", two.address)
        with captured(s, *froms, "--rate", 500, name="all") as process:
            for guest in guests:
                guest.wait_command("rate 500")
                guest.wait_command("hello")
            deaf.wait_heard("rate 500")
            for guest in (*guests, deaf):
                guest.send_rest()
            process.end(status=1)
            rows = {row["boot"]: row for row in rows_of(process)}
        check.same(len(rows), 4)
        for number in (40, 41, 42):
            row = rows[f"{number:02x}" * 16]
            check.same((row["error"], row["left_out"]), (None, 0))
            info = Command(s).info(row["trace"])
            check.true(info["samples"] > 200, info)
            check.true(f"{number:02x}" * 8 in row["trace"], row["trace"])
        said = rows["2b" * 16]["error"]
        check.same(said, "it ended before it had answered")
        begins = {
            path.name.split("-")[1] for path in (s.work / "captures").iterdir()
        }
        check.same(len(begins), 1, "they begin at the same second")
        guest = Answering(one, samples_of(300, 44))
        one.soon_guest(boot="2c" * 16)
        names = ("--guest", "2c2c", "--guest", "nobody")
        with captured(s, "--from", one.address, *names, name="two") as process:
            guest.wait_command("rate 997")
            guest.send_rest()
            process.end(status=1)
            found = {row["guest"]: row["error"] for row in rows_of(process)}
        check.same(found.pop("nobody"), "there is no guest of that name")
        check.same(list(found.values()), [None])
        guest = Answering(one, samples_of(300, 46))
        one.soon_guest(boot="2e" * 16)
        names = ("--from", one.address, *names[2:], "--guest", "2e2e")
        with captured(s, *names, name="text", form=()) as process:
            guest.wait_command("rate 997")
            guest.send_rest()
            process.end(status=1)
            text = process.text()
        trace = re.escape(str(s.work / "text" / f"one-{'2e' * 8}.trace"))
        check.has(text, rf"^[0-9a-f]{{16}}   +\d+ +\d+ +0  {trace}$")
        check.has(text, r"^nobody +0 +0 +0  there is no guest of that name$")
        said = Command(s)(
            *("fleet", "capture", "none", "--from", one.address),
            *("--seconds", 1, "-o", s.work / "none"),
            status=1,
        ).text
        check.contains(said, "there are no guests of service none")
        one.stop()
        two.stop()


def answering(serve, boot):
    """A guest that answers, once serve has it."""
    guest = Answering(serve, samples_of(300, boot))
    serve.soon_guest(boot=f"{boot:02x}" * 16)
    return guest


def test_capture_budget(s):
    """The rate is what fits; for who sends more it is lowered, and no more
    is kept than may be; the recorder goes first."""
    packets = samples_of(60000, 45)
    shutil.rmtree(s.work / "captures", ignore_errors=True)
    with serving(
        s, "--captures", s.work / "captures", name="capture3"
    ) as serve:
        guest = Answering(serve, packets)
        serve.soon_guest(boot="2d" * 16)
        with captured(
            *(s, "--from", serve.address, "--tasks"),
            *("--rate", 5000, "--budget", "2kB/s"),
            name="budget",
        ) as process:
            guest.wait_command("rate 250")
            guest.wait_command("trace on")
            sent = len(packets) - 1
            third = len(packets) // 3
            guest.file.sendall(b"".join(packets[1:third]))
            guest.wait_command("trace off")
            guest.file.sendall(b"".join(packets[third : 2 * third]))
            rate = guest.wait_matching(rb"\nrate (\d+)\n", last=b"250")
            check.true(int(rate) < 250, rate)
            del guest.packets[1 : 2 * third]
            guest.send_rest()
            process.end()
            check.contains(process.text(), "Hz instead of 5000")
            check.contains(process.text(), "recorders were switched off")
            (row,) = rows_of(process)
        check.true(row["left_out"] > 0, row)
        check.same(row["packets"] + row["left_out"], sent)
        (file,) = (s.work / "captures").glob("*/*.packets")
        check.same(file.stat().st_size, row["bytes"])
        serve.stop()


def passing_on(s):
    shutil.rmtree(s.work / "raw", ignore_errors=True)
    with serving(
        s, "--keep-raw", "1h", "--raw", s.work / "raw", name="readers"
    ) as serve:
        for function in (
            *(test_reader, test_deaf_guest, test_no_guest),
            test_capture,
        ):
            s.holds(function, s, serve)
        serve.stop()
        with s.test("packets are kept as they came"):
            (file,) = (s.work / "raw" / ("06" * 16)).iterdir()
            check.same(file.read_bytes(), b"".join(samples_of(300, 6)))
        with s.test("packets and captures are their owner's alone"):
            (capture,) = (s.work / "raw").glob("capture-*")
            for kept in (file, *capture.iterdir()):
                check.same(kept.stat().st_mode & 0o777, 0o600)
            for folder in (s.work / "raw", file.parent, capture):
                check.same(folder.stat().st_mode & 0o777, 0o700)


def test_old_packets(s):
    """Parts that began before the time, and before that of a part, are removed
    from the folders of guests; nothing else is."""
    raw, now = s.work / "old.raw", int(time.time())
    shutil.rmtree(raw, ignore_errors=True)
    part = 600  # a sixth of the hour
    goes = ("aa" * 16 + "/1000", "bb" * 16 + f"/{now - 3600 - 2 * part}")
    stays = (
        *("bb" * 16 + f"/{now - 3600 - part // 2}", "bb" * 16 + f"/{now}"),
        *("capture-1000-1/1000", "cc" * 15 + "/1000"),
    )
    for name in (*goes, *stays):
        path = raw / f"{name}.packets"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    other = raw / ("bb" * 16) / "1000.txt"
    other.touch()
    words = ("--keep-raw", "1h", "--raw", raw)
    with serving(s, *words, name="old_packets") as serve:
        for name in goes:
            path = raw / f"{name}.packets"
            serve.process.soon(lambda path=path: not path.exists(), name)
        serve.process.soon(
            lambda: not (raw / ("aa" * 16)).exists(), "its folder, too"
        )
        serve.stop()
    for name in stays:
        check.true((raw / f"{name}.packets").exists(), name)
    check.true(other.exists(), "another file")


def test_budget(s):
    """A budget of 36,000 samples an hour is 10 Hz for one CPU."""
    with serving(s, "--budget", "one=36000/h", name="budget") as serve:
        guest = Answering(serve, samples_of(10, 8))
        guest.wait_command("rate 10")
        guest.send_rest()
        serve.stop()


def test_flood(s):
    """What a guest sends beyond its rate is lost, and counted."""
    stream = Stream(step=PERIOD, boot=9, room=4096)
    stream.begins(RATE_MHZ)
    stream.node(1, 0, TEXT + 0x10)
    for i in range(2000):
        if i in {20, 1980}:
            stream.flush()
        stream.sample(1)
    stream.event("bye", code=0)
    packets = packets_of(stream.data())
    small = [p for p in packets if len(p) < 1024]
    check.same((len(small), len(packets) > 3), (2, True))
    with serving(s, "--guest-kb", 2, name="flood") as serve:
        send(serve, packets)
        serve.process.soon(lambda: serve.rows("accounts"), "the account")
        serve.stop()
        sums = serve.sums()
        check.same(sums["ticks"], 2000)
        check.true(sums["attributed"] < 100, sums)
        (loss,) = serve.rows("losses")
        check.same(loss["amount"], sums["dropped"])
        check.same(loss["rows"], len(packets) - 2)


def test_flood_to_the_end(s):
    """So it is if no packet comes after them."""
    stream = Stream(step=PERIOD, boot=25, room=4096)
    stream.begins(RATE_MHZ)
    stream.node(1, 0, TEXT + 0x10)
    for i in range(2000):
        if i == 20:
            stream.flush()
        stream.sample(1)
    packets = packets_of(stream.data())
    with serving(s, "--guest-kb", 2, name="flood_end") as serve:
        send(serve, packets)
        serve.soon_guest(boot="19" * 16, connected=False)
        serve.stop()
        sums = serve.sums()
        check.same((sums["ticks"], sums["attributed"]), (2000, 20))
        (loss,) = serve.rows("losses")
        check.same((loss["rows"], loss["amount"]), (len(packets) - 1, 1980))


def test_liar(s):
    """What a guest says and cannot be is no sum, but a row."""
    stream = Stream(step=PERIOD, boot=26)
    stream.begins(RATE_MHZ)
    stream.node(1, 0, TEXT + 0x10)
    stream.sample(1)
    stream.event("drop", samples=2**32 - 1, clocks=2**32 - 1)
    stream.event("bye", code=0)
    with serving(s, name="liar") as serve:
        send(serve, packets_of(stream.data()))
        serve.process.soon(lambda: serve.rows("losses"), "the row of the loss")
        serve.stop()
        (loss,) = serve.rows("losses")
        check.same(loss["why"], "implausible")
        check.true(serve.sums()["ticks"] < 10**9, serve.sums())


def test_after_bye(s):
    """What a guest sends after its end is refused, and closes no minute; nor
    does it when the guest was forgotten meanwhile."""
    stream = Stream(step=PERIOD, boot=27)
    stream.begins(RATE_MHZ)
    stream.node(1, 0, TEXT + 0x10)
    for _ in range(50):
        stream.sample(1)
        stream.event("bye", code=0)
        stream.flush()
    packets = packets_of(stream.data())
    with serving(s, "--http", 0, name="bye") as serve:
        send(serve, packets[:40])
        serve.soon_forgotten(27)
        send(serve, packets[40:])
        serve.process.soon(
            lambda: metric(serve, "packets_after_bye_total") == 49, "refusals"
        )
        serve.stop()
        (account,) = serve.rows("accounts")
        check.same(account["ticks"], 1)


def test_limits(s):
    """No more guests than are allowed, and none that another service has."""
    with serving(s, "--guests", 1, name="limits") as serve:
        first = Answering(serve, samples_of(100, 10))
        serve.soon_guest(boot="0a" * 16)
        send(serve, samples_of(100, 11))
        send(serve, samples_of(50, 10)[1:], "send service=other")
        check.contains(serve.ask("list"), '"service": "one"')
        first.send_rest()
        serve.process.soon(lambda: serve.rows("accounts"), "the account")
        serve.stop()
        check.same(serve.sums()["attributed"], 100)
        check.same({r["service"] for r in serve.rows()}, {"one"})


def test_tokens(s):
    """By TCP only with a token, and for its service only."""
    tokens = s.work / "tokens"
    tokens.write_text("# a comment\nsecret\nforone one\n", encoding="ascii")
    tokens.chmod(0o644)
    words = ("--listen", "tcp:127.0.0.1:0", "--tokens", tokens)
    said = run(s.parasite, "serve", *words, status=2).text
    check.contains(said, "others can read the tokens")
    tokens.chmod(0o600)
    with serving(s, *words, name="tokens") as serve:
        port = int(re.search(r"tcp:127\.0\.0\.1:(\d+)\n", serve.text())[1])
        address = ("127.0.0.1", port)
        wrong = "error: wrong token\n"
        check.same(serve.ask("list", address), wrong)
        check.same(serve.ask("list token=secre", address), wrong)
        check.same(serve.ask("list token=secrets", address), wrong)
        check.same(serve.ask("list token=secret", address), "[]\n")
        check.same(
            serve.ask("list token=forone", address),
            "error: the token is for sending only\n",
        )
        check.same(
            serve.ask("send token=forone service=two", address),
            "error: the token is not for this service\n",
        )
        with serve.connect(address=address) as file:
            file.sendall(b"".join(samples_of(10, 12)))
            check.same(read_all(file), "error: a token is needed\n")
        with serve.connect("send token=forone", address) as file:
            file.sendall(b"".join(samples_of(10, 13)))
        serve.process.soon(lambda: serve.rows("accounts"), "the account")
        serve.stop()
        check.same({r["service"] for r in serve.rows()}, {"one"})
        check.same(serve.sums()["attributed"], 10)


def test_options(s):
    """What makes no sense ends with 2 and one line."""
    for words in (
        (),
        ("--listen", "udp:here"),
        ("--listen", "tcp:0.0.0.0:0"),
        ("--scan", "/dev/shm/*"),
        ("--json", "--bucket", "0", "x"),
        ("--bucket", "5", "x"),
        ("--keep-raw", "never", "x"),
        ("--raw", "r", "x"),
        ("--budget", "one=5", "x"),
        ("--label", "none", "x"),
        ("--keep", "30d", "x"),
        ("--keep", "5m", "--store", "none", "x"),
    ):
        said = run(s.parasite, "serve", *words, status=2).text
        check.same(len(said.splitlines()), 1, said)


def test_silent(s):
    """A connection that breaks off in its first line is closed. One that says
    nothing is not, until no file is left for another: half of all are kept for
    other things."""
    with serving(s, name="silent") as serve:
        pid, files = serve.process.pid, resource.RLIMIT_NOFILE
        oldest = serve.connect()
        with serve.connect() as half:
            half.sendall(b"parasite li")
            check.same(
                read_all(half),
                "error: the rest of the first line did not come\n",
            )
        used = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
        free = min(set(range(len(used) + 1)) - used)
        resource.prlimit(pid, files, (2 * free, 2 * free))
        check.same(serve.ask("list"), "[]\n")
        check.same(read_all(oldest), "")
        oldest.close()


def test_many_boots(s):
    """A line brings no more than 16 new boots in a minute."""
    boots = range(40, 80)
    packets = [one for boot in boots for one in samples_of(10, boot)]
    with serving(s, name="boots") as serve:
        send(serve, packets)
        send(serve, samples_of(10, 81))
        serve.process.soon(lambda: boot_is_stored(serve, 81), "another line's")
        serve.stop()
        stored = {row["boot"] for row in serve.rows("guests")}
        # a minute may have begun meanwhile
        check.true(17 <= len(stored) <= 33, stored)


def test_socket_file(s):
    """A socket takes the place of no other file, and is its owner's alone."""
    with tempfile.TemporaryDirectory(prefix="serve.") as folder:
        path = Path(folder) / "image"
        path.write_text("not a socket", encoding="ascii")
        run(s.parasite, "serve", "--listen", f"unix:{path}", status=1)
        check.same(path.read_text(encoding="ascii"), "not a socket")
    with serving(s, name="socket") as serve:
        path = Path(serve.path)
        check.same(path.stat().st_mode & 0o777, 0o600)
        path.unlink()
        path.write_text("another", encoding="ascii")
        serve.stop()
        check.same(path.read_text(encoding="ascii"), "another")


def test_ram(s):
    """Guests whose RAM a pattern matches are found without their image."""
    folder = Path(tempfile.mkdtemp(prefix="serve.ram.", dir="/dev/shm"))
    try:
        with serving(s, "--scan", f"ram=shm:{folder}/*", name="ram") as serve:
            with s.guest(
                *("x86_64", "split", "ram"),
                append="prof.out=shm prof.every=0 split.rounds=300",
                icount=4,
                ram=folder / "ram",
            ) as guest:
                check.same(guest.end(), 0)
                serve.soon_guest(service="ram", ended=True)
            os.truncate(folder / "ram", 4096)
            send(serve, samples_of(50, 15))  # which others do not notice
            serve.soon_guest(boot="0f" * 16, ended=True)
            serve.stop()
            sums = serve.sums(service="ram")
            check.true(sums["attributed"] > 100, sums)
            check.same(sums["attributed"], sums["samples"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_full_ring(s):
    """A ring that is full when it is found is read whole, however little a
    guest may send in a second, and what comes later waits for its second."""
    stream = Stream(step=PERIOD, boot=28, room=4096)
    stream.begins(RATE_MHZ)
    stream.node(1, 0, TEXT + 0x10)
    for _ in range(12000):
        stream.sample(1)
    packets = packets_of(stream.data())
    ring, at = 1 << 17, 4096
    written = read = 0
    folder = Path(tempfile.mkdtemp(prefix="serve.ring.", dir="/dev/shm"))
    bytes_of = bytearray(at + ring)
    for packet in packets:
        bytes_of[at + written : at + written + len(packet)] = packet
        written += (len(packet) + 7) // 8 * 8
    check.true(10 * 4096 < written < ring, written)
    struct.pack_into(
        "<6Q", bytes_of, 64, RING_MAGIC, at, ring, written, read, 0
    )
    try:
        (folder / "ram").write_bytes(bytes_of)
        words = ("--scan", f"ram=shm:{folder}/*", "--guest-kb", 4)
        with serving(s, *words, name="ring") as serve:
            serve.process.soon(
                lambda: serve.guest(boot="1c" * 16, packets=len(packets)),
                "all packets",
            )
            check.same(serve.guest(boot="1c" * 16)["excess_packets"], 0)
            serve.stop()
            check.same(serve.sums(service="ram")["ticks"], 12000)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_target(s):
    """A target is connected to again when its guest has gone."""
    path = f"{tempfile.mkdtemp(prefix='serve.')}/guest"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        listener.settimeout(600)
        with serving(s, f"two=unix:{path}", name="target") as serve:
            packets = samples_of(300, 14)
            for some in (packets[:3], packets[2:]):
                guest, _ = listener.accept()
                with guest:
                    guest.sendall(b"".join(some))
                    if some[-1] is packets[2]:
                        serve.soon_guest(boot="0e" * 16, packets=3)
            serve.process.soon(lambda: serve.rows("accounts"), "the account")
            serve.stop()
            check.same(serve.sums(service="two")["attributed"], 300)
    shutil.rmtree(Path(path).parent)


def buckets_of(serve):
    return {row["bucket"] for row in serve.rows("accounts")}


NO_STORE = "http://127.0.0.1:1/none"


def killed(s, number, name):
    """Ended by that signal in the middle of a guest, and begun again: what is
    in no bucket is a loss, and the sum is that of all ticks. The store is not
    there: what it should get is in the spool."""
    spool = s.work / f"spool.{name}"
    shutil.rmtree(spool, ignore_errors=True)
    words = ("--store", NO_STORE, "--spool", spool)
    packets = samples_of(600, 15)
    half = len(packets) // 2
    with serving(s, *words, name=f"{name}.1") as serve:
        file = serve.connect()
        file.sendall(b"".join(packets[:half]))
        boot = "0f" * 16
        serve.soon_guest(boot=boot, packets=half)
        serve.process.soon(lambda: boot in state_text(spool), "the state")
        serve.process.signal(number)
        serve.process.end(None)
        before, closed = serve.sums(), buckets_of(serve)
    with serving(s, *words, name=f"{name}.2") as serve:
        send(serve, packets[half:])
        serve.soon_forgotten(15)
        serve.process.signal(signal.SIGKILL)
        after = serve.sums()
        # a minute that was closed is not opened again
        check.same(closed & buckets_of(serve), set())
        lost = sum(r["amount"] for r in serve.rows("losses"))
        check.same(after["dropped"], lost)
    check.true(
        any(path.name != "serve.state" for path in spool.iterdir()),
        "batches in the spool",
    )
    return before["ticks"], after, lost


def test_killed(s):
    """kill -9: the open bucket is lost, and known to be."""
    before, after, lost = killed(s, signal.SIGKILL, "killed")
    check.same(before, 0)
    check.true(lost > 100, lost)
    check.same(after["ticks"], 600)


def test_stopped(s):
    """Stopped and begun again, nothing is lost."""
    before, after, lost = killed(s, signal.SIGTERM, "stopped")
    check.true(before > 100, before)
    check.same((before + after["ticks"], lost), (600, 0))


def test_kept_sockets(s):
    """Connections that have ended here, and are still open in a process that
    was forked meanwhile, as the store's is: they are not heard of again. What
    is freed is overwritten, so that it shows if it is used."""
    library = s.work / "keeps_sockets.so"
    run("gcc", "-shared", "-fPIC", "-o", library, "tests/serve/keeps_sockets.c")
    env = {"LD_PRELOAD": library, "MALLOC_PERTURB_": "165"}
    with serving(s, name="kept", env=env) as serve:
        for boot in range(80, 100):
            send(serve, samples_of(20, boot))
            with serve.connect("list") as file:  # it does not end
                check.contains(file.recv(65536), b"[")
        serve.process.soon(lambda: boot_is_stored(serve, 99), "all of them")
        send(serve, samples_of(300, 100))
        serve.process.soon(lambda: boot_is_stored(serve, 100), "one more")
        serve.stop()
        check.same(serve.sums()["samples"], 20 * 20 + 300)


def samples_in(spool):
    """Those that would be sent, by the names of batches."""
    names = [path.name.split(".") for path in spool.glob("*.gz")]
    return sum(int(name[4]) for name in names if name[2] == "samples")


def killed_at_commit(s, when):
    """kill -9 while a minute is closed, (when) the state has its name, which
    makes its batches valid: nothing is stored twice if the guest sends all
    again."""
    spool, sign = s.work / f"spool.{when}", s.work / f"die.{when}"
    shutil.rmtree(spool, ignore_errors=True)
    sign.unlink(missing_ok=True)
    library = s.work / "dies_at_rename.so"
    run(
        "gcc", "-shared", "-fPIC", "-o", library, "tests/serve/dies_at_rename.c"
    )
    env = {"LD_PRELOAD": library, f"DIE_{when.upper()}": sign}
    words = ("--store", NO_STORE, "--spool", spool)
    packets = samples_of(400, 16)
    with serving(s, *words, name=f"{when}.1", env=env) as serve:
        with serve.connect() as file:
            file.sendall(packets[0])
            serve.process.soon(
                lambda: "10" * 16 in state_text(spool), "the state"
            )
            sign.touch()
            file.sendall(b"".join(packets[1:]))
            serve.process.end(-signal.SIGKILL)
    check.same(samples_in(spool), 0)
    check.true(list(spool.glob("*.samples.*.gz.staged")), "a staged batch")
    with serving(s, *words, name=f"{when}.2") as serve:
        send(serve, packets)
        send(serve, samples_of(200, 17))
        serve.process.soon(
            lambda: samples_in(spool) >= 600
            and not list(spool.glob("*.staged")),
            "both guests",
        )
        serve.process.signal(signal.SIGKILL)
    check.same(samples_in(spool), 600)
    check.same(list(spool.glob("*.staged")), [])


def test_killed_before_commit(s):
    killed_at_commit(s, "before")


def test_killed_after_commit(s):
    killed_at_commit(s, "after")


def state_text(spool):
    state = spool / "serve.state"
    return state.read_text() if state.exists() else ""


def test_forgotten(s):
    """What a guest sends again after it was forgotten is not counted twice,
    neither by this run nor by a later one."""
    spool = s.work / "spool.forgotten"
    shutil.rmtree(spool, ignore_errors=True)
    words = ("--store", NO_STORE, "--spool", spool)

    def all_of(serve, *boots):
        packets = [one for boot in boots for one in samples_of(100, boot)]
        send(serve, packets)
        serve.soon_forgotten(boots[-1])

    with serving(s, *words, name="forgotten.1") as serve:
        all_of(serve, 18, 19)
        serve.soon_forgotten(18)
        all_of(serve, 18, 20)
        check.same(serve.sums()["samples"], 300)
        serve.process.soon(lambda: samples_in(spool) == 300, "all is spooled")
        serve.process.signal(signal.SIGKILL)
    with serving(s, *words, name="forgotten.2") as serve:
        all_of(serve, 18, 19, 20, 22)
        check.same(serve.sums()["samples"], 100)
        serve.process.soon(lambda: samples_in(spool) == 400, "all is spooled")
        serve.process.signal(signal.SIGKILL)


def test_loop_goes_on(s):
    """What the event loop's histograms had before serve was started again is
    not stored again; what came meanwhile is a loss. The sums are the guest's
    own counts."""
    spool = s.work / "spool.loop"
    shutil.rmtree(spool, ignore_errors=True)
    words = ("--store", NO_STORE, "--spool", spool)
    stream = Stream(boot=50, room=512)
    stream.begins(RATE_MHZ)
    stream.step = PERIOD
    stream.node(1, 0, TEXT + 0x10)
    for counts in ((10, 4), (25, 4), (30, 7, 2)):
        stream.sample(1)
        stream.event("loop")
        stream.event("loop_site", site=3, site_kind=1, line=7, text="t@f.c")
        for place, count in enumerate(counts):
            low = (32 + place) << 22
            stream.event("loop_bucket", site=3, low=low, count=count)
        stream.flush()
    stream.event("bye", code=0)
    first, second, *rest = packets_of(stream.data())
    with serving(s, *words, name="loop.1") as serve:
        send(serve, [first])
        serve.soon_guest(boot="32" * 16, packets=1)
        serve.stop()
        check.same(sum(row["count"] for row in serve.rows("loop")), 14)
    with serving(s, *words, name="loop.2") as serve:
        send(serve, [first, second, *rest])
        serve.soon_forgotten(50)
        serve.process.signal(signal.SIGKILL)
        check.same([row["count"] for row in serve.rows("loop")], [5, 3, 2])
        (loss,) = serve.rows("losses")
        check.same(
            (loss["why"], loss["what"], loss["amount"]),
            ("collector restarted", "loop", 15),
        )


def waiting_packets(boot):
    """A guest whose task waits three times for 20 ms, and once while events
    are lost."""
    stream = Stream(boot=boot)
    stream.begins(RATE_MHZ)
    stream.step = PERIOD
    put = stream.event
    stream.node(1, 0, TEXT + 0x10)
    stream.sample(1)
    put("site", number=5, line=7, text="worker@w.c")
    put("name", number=6, text="sleep")
    put("create_wide", object=1, object_kind=1, site=5)
    for lost in (False, False, False, True):
        put("switch_wide", task=1)
        put("suspend_wide", why=6)
        if lost:
            put("lost", events=3)
        stream.sample(1)
        put("wake_wide", object=1)
    put("bye", code=0)
    return packets_of(stream.data())


def test_waits(s):
    """Waits of tasks have rows by place and reason."""
    with serving(s, name="waits") as serve:
        send(serve, waiting_packets(53))
        serve.process.soon(lambda: boot_is_stored(serve, 53), "it ends")
        serve.stop()
        (row,) = serve.rows("waits")
        check.same(
            (row["why"], row["count"], row["ns"]), ("sleep", 3, 60_000_000)
        )
        names = {r["stack"]: r["names"] for r in serve.rows("stacks")}
        check.same(names[row["site"]], ["worker@w.c"])


def test_stored_waits(s, store, spool):
    """`fleet waits` has them from a store."""
    words = ("--store", store, "--spool", spool)
    with serving(s, *words, name="stw", service="waiting") as serve:
        send(serve, waiting_packets(54))
        what = "SELECT count() AS rows FROM waits"
        serve.process.soon(
            lambda: stored(s, store, what)["rows"] == 1, "the waits"
        )
        serve.stop()
    ask = Command(s)
    found = json.loads(
        ask("fleet", "waits", "waiting", "--store", store, "--json").out
    )
    check.same(
        found["waits"],
        [
            {
                "place": "worker@w.c",
                "why": "sleep",
                "waits": 3,
                "ns": 60_000_000,
            }
        ],
    )
    said = ask("fleet", "waits", "waiting", "--store", store).out
    check.has(said, r"60\S* ms .* 3  sleep, worker@w.c$")


def guest_of_nodes(boot, count):
    """The packets of a guest with (count) stacks, which goes on."""
    stream = Stream(boot=boot, room=4096)
    stream.begins(RATE_MHZ)
    stream.step = PERIOD // 100
    for node in range(1, count + 1):
        stream.node(node, 0, TEXT + 16 * node)
        stream.sample(node)
    return packets_of(stream.data())


def metric(serve, name):
    found = re.search(
        rf"^parasite_serve_{name} (\d+)$", metrics(serve)[1], re.M
    )
    return int(found[1])


def test_memory(s):
    """Beyond --memory-mb the largest tables are emptied, of which no count is
    lost, and new guests are refused; both can be read in the metrics."""
    words = ("--memory-mb", 1, "--http", 0)
    with serving(s, *words, name="memory.1") as serve:
        with serve.connect() as one, serve.connect() as other:
            guests = [guest_of_nodes(boot, 12000) for boot in (51, 52)]
            for file, boot, packets in zip((one, other), (51, 52), guests):
                # both are known before one fills the memory
                file.sendall(packets[0])
                serve.soon_guest(boot=f"{boot:02x}" * 16)
            for file, packets in zip((one, other), guests):
                file.sendall(b"".join(packets[1:]))
            serve.process.soon(
                lambda: metric(serve, "shrunk_total") > 0, "it is emptied"
            )
            serve.process.soon(
                lambda: metric(serve, "packets_total") >= sum(map(len, guests)),
                "all packets",
            )
            serve.process.soon(
                lambda: metric(serve, "tables_bytes") < 1 << 20, "its end"
            )
        serve.stop()
        sums = serve.sums()
        check.same(sums["ticks"], 24000)
        check.same(sums["attributed"], sums["samples"])
    with serving(s, *words, name="memory.2") as serve, ExitStack() as stack:
        for boot in range(100, 160):
            file = stack.enter_context(serve.connect())
            file.sendall(b"".join(guest_of_nodes(boot, 600)))
        serve.process.soon(
            lambda: metric(serve, "packets_total") >= 60, "all packets"
        )
        serve.process.soon(
            lambda: metric(serve, "tables_bytes") > 900000, "it is full"
        )
        file = stack.enter_context(serve.connect())
        file.sendall(b"".join(guest_of_nodes(200, 10)))
        serve.process.soon(
            lambda: metric(serve, "refused_for_memory_total") > 0, "refusal"
        )
        check.same(serve.guest(boot="c8" * 16), None)
        serve.stop()


def boot_is_stored(serve, boot):
    return any(
        row["boot"] == f"{boot:02x}" * 16 for row in serve.rows("guests")
    )


# ---- a store


def stored(s, store, what):
    """The numbers of one row."""
    done = run(s.parasite, "sql", "--json", store, what)
    (row,) = json.loads(done.out)
    return {name: int(value) for name, value in row.items()}


SUMS = (
    "SELECT sum(ticks) AS ticks, sum(attributed) AS attributed, "
    "sum(dropped) AS dropped FROM accounts WHERE service = 'one'"
)
SAMPLES = (
    "SELECT sum(samples) AS samples, sum(weight) AS weight FROM samples "
    "WHERE service = 'one'"
)


def end_store(store):
    """kill -9 of the engine that keeps it."""
    os.kill(int((store / "lock").read_text().split()[0]), signal.SIGKILL)


def test_stored(s, store, spool):
    """What guests send is in the store once; the engine is killed between."""
    words = ("--store", store, "--spool", spool, "--http", "0")
    with serving(s, *words, name="st") as serve:
        check.same(metric(serve, "store_rows_total"), 0)
        send(serve, samples_of(300, 20))
        serve.process.soon(
            lambda: stored(s, store, SUMS)["ticks"] == 300, "the first guest"
        )
        end_store(store)
        send(serve, samples_of(500, 21))
        serve.process.soon(
            lambda: stored(s, store, SUMS)["ticks"] == 800, "the second"
        )
        serve.process.soon(
            lambda: metric(serve, "spool_batches") == 0, "all is acknowledged"
        )
        check.same(metric(serve, "spool_bytes"), 0)
        check.same(metric(serve, "store_lost_rows_total"), 0)
        check.same(metric(serve, "store_reachable"), 1)
        rows = sum(
            stored(s, store, f"SELECT count() AS n FROM {table}")["n"]
            for table in ("samples", "accounts", "stacks", "guests")
        )
        check.true(metric(serve, "store_rows_total") >= rows, rows)
        check.true(metric(serve, "store_batches_total") >= 4)
        serve.stop()
    check.same(stored(s, store, SAMPLES)["samples"], 800)


def test_twice(s, store, spool):
    """The same packets again, in another run, are in it already."""
    words = ("--store", store, "--spool", spool, "--http", 0)
    packets = samples_of(500, 21)
    with serving(s, *words, name="st2") as serve:
        send(serve, packets)
        serve.process.soon(
            lambda: metric(serve, "packets_total") == len(packets), "packets"
        )
        serve.stop()
    check.same(stored(s, store, SUMS)["ticks"], 800)


def test_without_files(s, store, spool):
    """Connections that say nothing leave files for the spool and the state."""
    words = ("--store", store, "--spool", spool, "--http", "0")
    with serving(s, *words, name="files") as serve, ExitStack() as silent:
        pid, files = serve.process.pid, resource.RLIMIT_NOFILE
        with serve.connect() as guest:
            packets = samples_of(100, 22)
            guest.sendall(packets[0])
            serve.soon_guest(boot="16" * 16)
            # it runs, with a limit of its own
            check.same(stored(s, store, SUMS)["ticks"], 800)
            resource.prlimit(pid, files, (64, 64))
            for _ in range(64):
                silent.enter_context(serve.connect())
            waited = re.compile(
                "^parasite_serve_connections_waited_total 1", re.M
            )
            serve.process.soon(
                lambda: waited.search(metrics(serve)[1]), "one waits"
            )
            guest.sendall(b"".join(packets[1:]))
        serve.process.soon(
            lambda: stored(s, store, SUMS)["ticks"] == 900, "what it sent"
        )
        check.same(metric(serve, "store_lost_rows_total"), 0)
        serve.stop()
    check.lacks(serve.text(), "is lost|cannot be read|cannot be wr")


def test_labels(s, store, spool):
    """Each guest has those of its serve."""
    words = ("--label", "zone=a", "--label", "tier=x=y z")
    words += ("--store", store, "--spool", spool)
    with serving(s, *words, name="labels", service="labelled") as serve:
        send(serve, samples_of(10, 71))
        what = "SELECT count() AS n FROM guests WHERE service = 'labelled'"
        serve.process.soon(lambda: stored(s, store, what)["n"] == 1, "its row")
        serve.stop()
    what = "SELECT labels FROM guests WHERE service = 'labelled'"
    (row,) = json.loads(run(s.parasite, "sql", "--json", store, what).out)
    check.same(row["labels"], "['zone=a','tier=x=y z']")
    words = ("fleet", "list", "labelled", "--store", store, "--json")
    (guest,) = json.loads(Command(s)(*words).out)["guests"]
    check.same(guest["labels"], "zone=a tier=x=y z")


OLD = (
    "INSERT INTO accounts (day, bucket, service, guest, cpu, ticks) "
    "VALUES ('2023-11-14', '2023-11-14 12:00:00', 'old', 7, 0, 7)"
)


def test_keep(s, store, spool):
    """With --keep days that are old go from the store, and no other."""
    run(s.parasite, "sql", "--write", store, OLD)
    old = "SELECT count() AS n FROM accounts WHERE service = 'old'"
    check.same(stored(s, store, old)["n"], 1)
    words = ("--store", store, "--spool", spool, "--keep", "30d")
    with serving(s, *words, name="keep") as serve:
        serve.process.soon(lambda: stored(s, store, old)["n"] == 0, "it goes")
        serve.stop()
    check.has(serve.text(), "accounts of 2023-11-14 are dropped, .*: 1 rows")
    check.same(stored(s, store, SUMS)["ticks"], 900)


def test_lost_stacks(s):
    """What is described in a batch that is lost is described again."""
    library, sign = s.work / "failing_fsync.so", s.work / "fsync.fails"
    run(
        *("gcc", "-std=gnu11", "-O1", "-shared", "-fPIC", "-o", library),
        "tests/store/failing_fsync.c",
    )
    env = {"LD_PRELOAD": str(library), "FAILING_FSYNC": str(sign)}
    what = "SELECT count() AS n FROM (SELECT DISTINCT stack FROM stacks)"
    store = s.work / "lost"
    words = ("--store", store, "--spool", s.work / "lost-spool", "--http", "0")
    sign.touch()
    with serving(s, *words, name="st3", env=env) as serve:
        lost = re.compile("^parasite_serve_store_lost_rows_total [1-9]", re.M)
        send(serve, samples_of(100, 30))
        serve.process.soon(
            lambda: lost.search(metrics(serve)[1]), "rows are lost"
        )
        sign.unlink()
        send(serve, samples_of(100, 31))
        serve.process.soon(lambda: stored(s, store, what)["n"] == 2, "stacks")
        serve.stop()


def with_store(s):
    if not (s.build / "chdb" / "libchdb.so").exists():
        for name in (
            *("test stored", "test stored waits", "test twice"),
            *(
                "test without files",
                "test keep",
                "test labels",
                "test lost stacks",
            ),
        ):
            s.skip(name, "no libchdb.so; 'make store' fetches it")
        return
    store, spool = s.work / "db", s.work / "spool"
    for path in (store, spool, s.work / "lost", s.work / "lost-spool"):
        shutil.rmtree(path, ignore_errors=True)
    s.holds(test_stored, s, store, spool)
    s.holds(test_stored_waits, s, store, spool)
    s.holds(test_twice, s, store, spool)
    s.holds(test_without_files, s, store, spool)
    s.holds(test_keep, s, store, spool)
    s.holds(test_labels, s, store, spool)
    s.holds(test_lost_stacks, s)


def live_page(s):
    """The page of --http in Chromium, with a guest that runs and two others."""
    modules = s.browser_modules()
    words = ("--http", 0, "-k", s.image("x86_64", "split"))
    with (
        serving(s, *words, name="page", service="split") as serve,
        s.guest(
            *("x86_64", "split", "page"),
            append="prof.out=virtio prof.every=0 prof.hz=1000",
            args=virtio_to(serve.path),
        ) as guest,
        serve.connect("send service=one") as other,
    ):
        other.sendall(b"".join(samples_of(500, 61, end=False)))
        serve.soon_guest(boot="3d" * 16)
        live = guest.soon(
            lambda: serve.guest(service="split"), "the guest's stream"
        )
        port, _ = metrics(serve)
        guest.soon(
            lambda: serve.guest(boot=live["boot"])["packets"]
            > live["packets"] + 5,
            "packets",
        )
        done = run(
            *("node", "tests/serve/live.js", s.work, "-", s.parasite),
            *(f"http://127.0.0.1:{port}/", live["boot"]),
            status=None,
            env={"NODE_PATH": str(modules)},
            cpu_limit=1500,
        )
        s.tap_of("", done.text)
        guest.kill()
        serve.stop()


def suite(s):
    if s.part in WIDTHS:
        guests_of(s)
    elif s.part == "page":
        live_page(s)
    elif s.part == "store":
        with_store(s)
    else:
        s.holds(test_file, s)
        one_serve(s)
        passing_on(s)
        for function in (
            *(
                test_old_packets,
                test_budget,
                test_fleet_capture,
                test_capture_budget,
            ),
            *(test_flood, test_flood_to_the_end, test_liar, test_after_bye),
            *(test_limits, test_tokens),
            *(test_options, test_socket_file, test_ram),
            *(test_full_ring, test_target),
            *(test_silent, test_many_boots),
            *(test_killed, test_stopped, test_kept_sockets, test_forgotten),
            *(test_loop_goes_on, test_waits, test_memory),
            *(test_killed_before_commit, test_killed_after_commit),
        ):
            s.holds(function, s)
        s.holds(
            *(test_slow_reader, s, functools.partial(serving, s)),
            *(metrics, packets_of),
        )
        s.holds(test_late, s, serving, captured, answering)
        made = (send, samples_of)
        s.holds(test_push, s, serving, metric, *made)
        s.holds(test_push_of_rows, s, serving, *made)
        s.holds(test_push_refused, s, serving, metrics, *made)
