# SPDX-License-Identifier: Apache-2.0
"""Guests that run already, and to which `parasite record` and `parasite tell`
send commands: over the console, the second UART, a virtio console, a virtio
socket, and shared RAM with the console beside it."""

import socket
import threading

from harness import progress
from harness.command import Command, build_id
from harness.suite import (
    WIDTHS,
    background,
    by_turns,
    check,
    ends,
    given_time,
    listening,
    soon,
)
from harness.vsock import VsockDevice

PARTS = (
    *(
        f"{width}-{transport}"
        for width in WIDTHS
        for transport in (
            "console",
            "uart2",
            "virtio",
            "vsock",
            "shm",
            "terminal",
        )
    ),
    "hosts",
)


LONG_S = 3600  # of what ends by itself before that


class Live:
    """A guest that never ends by itself, and the command."""

    def __init__(self, s, width):
        self.s, self.width, self.parasite = s, width, Command(s)
        self.image = s.image(width, "split")
        self.trace = s.work / "x.trace"

    def boot(self, append, **options):
        return self.s.guest(
            *(self.width, "split"), append=f"prof.every=0 {append}", **options
        )

    def fact(self, name):
        return self.parasite.info(self.trace)[name]

    def record(self, *words, **options):
        return self.parasite.record(self.trace, *words, **options)


def refused(what, command, *words):
    """It ends with 1 and one line, in which (what) stands."""
    said = command(*words, status=1).text.splitlines()
    check.same(len(said), 1, said)
    check.contains(said[0], what)


def is_refused(live, *words):
    """Not yet, where the guest has no time to answer."""
    refused('error: "fly": not a command', live.record, *words)
    return True


# ---- the whole conversation

COMMANDS = (
    *("rate", "99", "depth 3", "stop", "start", "stacks", "off"),
    *("stacks", "on", "reset", "report"),
)
ANSWERS = [
    "ok rate 99 at 99.002 Hz",
    "ok depth 3",
    "ok stop",
    "ok start at 99.002 Hz",
    "ok stacks off",
    "ok stacks on",
    "ok reset",
    "ok report",
]


def answers(live, control):
    """Each command in turn is answered."""
    said = live.parasite("tell", control, *COMMANDS).lines()
    check.same([line for line in said if line.startswith("ok")], ANSWERS)
    return True


def records(live, target, words, seconds):
    """At 400 Hz and 5 callers, and that is what comes."""
    live.record("-F", 400, "--depth", 5, "-d", seconds, *words, target)
    check.near(live.fact("hz"), 400)
    check.same(live.fact("depth"), 5)
    check.true(live.fact("samples") > 100, live.fact("samples"))
    live.record("-q", "-g", "-d", seconds, *words, target)
    check.same(live.fact("depth"), 64)


def commands(live, transport, control, target, *words):
    by = f"{live.width} by {transport}:"
    with live.s.test(f"{by} each command is answered"):
        soon(lambda: answers(live, control), "each command answered")
    with live.s.test(f"{by} rate and depth are set before recording"):
        given_time(lambda seconds: records(live, target, words, seconds))
    with live.s.test(f"{by} a command that the guest refuses ends with 1"):
        line = ("-q", "--send", "fly", "-d", LONG_S, *words, target)
        soon(lambda: is_refused(live, *line), "the guest's refusal")
    with live.s.test(f"{by} tell ends with 1 where one is refused"):
        refused("1 to 20000", live.parasite, "tell", control, "rate", 0)


# ---- each transport


def test_console(live):
    """A UART gives up bytes that are not taken at once, and a local socket is
    full after some 300 of them: on a busy machine TCP, which joins them,
    loses none."""
    with live.boot(
        "prof.out=serial", serial="chardev:console", channels={"console": "tcp"}
    ) as guest:
        console = guest.address("console")
        commands(live, "console", console, console)
        with live.s.test("a report is shown"):
            said = live.parasite("tell", console, "report").out
            check.contains(said, "leaf_a")
            check.has(said, "^ok report$")


def are_connected(*addresses):
    """A client is connected to each of these, tcp:HOST:PORT. QEMU does not
    say so: where the guest does not read, it never notices that the last
    client has gone."""
    established = "01"
    with open("/proc/net/tcp", encoding="ascii") as file:
        words = [line.split() for line in file]
    ports = {
        int(w[2].rpartition(":")[2], 16)
        for w in words[1:]
        if w[3] == established
    }
    return all(int(a.rpartition(":")[2]) in ports for a in addresses)


def end_is_printed(live, guest, console, stream):
    """A guest that ends before it has answered."""
    with background(
        *(live.parasite.path, "record", "-q", "--control", console),
        *("-F", 1000, "-d", LONG_S, "-o", live.trace, stream),
        log=live.s.work / "unanswered",
    ) as recorder:
        recorder.soon(
            lambda: are_connected(console, stream), "both connections"
        )
        guest.interrupt()
        recorder.end(1)
    said = recorder.text().splitlines()
    check.same(len(said), 1, said)
    check.has(said[0], "'rate 1000' (was answered|could not be sent)")


def test_uart2(live):
    with live.boot(
        "prof.out=uart2",
        serial="chardev:console",
        args=["-serial", "chardev:stream"],
        channels={"console": "tcp", "stream": "tcp"},
    ) as guest:
        console, stream = map(guest.address, ("console", "stream"))
        commands(live, "uart2", stream, stream)
        with live.s.test("that no one listens to a line is reported"):
            refused(
                *("was not answered within 1 s", live.parasite),
                *("tell", "-w", 1, console, "stop"),
            )
        with live.s.test("that a guest ends unanswered is reported"):
            end_is_printed(live, guest, console, stream)


def late_knows_all(live, target, seconds):
    """Who comes late learns which image it is and knows the stacks: without
    asking for them they would come again some minutes later."""
    live.record("-d", seconds, "-k", live.image, target)
    check.same(live.fact("build_id"), build_id(live.image))
    rows = live.parasite.selves(live.trace)
    unknown = rows.get("[stack unknown]", (0, 0))[0]
    check.true(unknown < live.fact("samples") * 6 // 10, unknown)
    late = live.parasite.selves(live.trace, "--time", f"{seconds * 2 // 3},")
    check.true("leaf_a" in late, late)
    check.true("[stack unknown]" not in late, late)


def virtio(live):
    return live.boot(
        "prof.out=virtio",
        serial="null",
        channels={"block": "unix"},
        args=[
            *("-device", "virtio-serial-pci"),
            *("-device", "virtconsole,chardev=block"),
        ],
    )


def test_virtio(live):
    with virtio(live) as guest:
        block = guest.address("block")
        commands(live, "virtio", block, block)
    if live.width not in by_turns("i386"):
        return  # whoever listens late does so by the other transport
    with virtio(live) as guest:
        with live.s.test("who listens late learns all"):
            guest.soon(
                lambda: progress.cpu_seconds(guest.pid) > 2,
                "some of the guest's work",
            )
            block = guest.address("block")
            given_time(lambda seconds: late_knows_all(live, block, seconds))


def vsock(live, device):
    return live.boot("prof.out=vsock", args=device.args())


def test_vsock(live):
    with VsockDevice() as device, vsock(live, device) as guest:
        guest.wait_line("^prof: vsock: ")
        commands(live, "vsock", device.target(), device.target())
    if live.width not in by_turns("x86_64"):
        return
    with VsockDevice() as device, vsock(live, device) as guest:
        with live.s.test("who listens late learns all"):
            guest.soon(
                lambda: progress.cpu_seconds(guest.pid) > 2,
                "some of the guest's work",
            )
            target = device.target()
            given_time(lambda seconds: late_knows_all(live, target, seconds))


def test_shm(live):
    ram = live.s.work / "ram"
    ram.unlink(missing_ok=True)
    with live.boot(
        "prof.out=shm",
        serial="chardev:console",
        channels={"console": "tcp"},
        ram=ram,
    ) as guest:
        console, image = guest.address("console"), ("-k", live.image)
        commands(
            *(live, "shm", console, f"shm:{ram}"),
            *(*image, "--control", console),
        )
        with live.s.test(
            "shared RAM alone takes no commands, which is " "reported"
        ):
            live.record("-F", 99, *image, f"shm:{ram}", status=2)
    ram.unlink(missing_ok=True)


def test_terminal(live):
    with live.boot("prof.out=serial", serial="pty") as guest:
        terminal = guest.terminal()
        commands(live, "terminal", terminal, terminal)


# ---- without a guest


def answered(s, parasite, answer, *words):
    """`parasite tell` of these words, to a guest that gives answer(LINE) to
    each line; and the lines."""
    server, name = listening(s.work)
    said = []

    def serve():
        guest, _ = server.accept()
        with guest, guest.makefile("rb") as lines:
            for line in filter(None, map(bytes.strip, lines)):
                said.append(line.decode())
                guest.sendall(answer(line))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with server:
        done = parasite("tell", name, *words)
        ends(thread)
    return done, said


def bytes_are_distinguished(s, parasite):
    """Who begins to listen in the middle of a packet sees bytes that are no
    text; a line of the console's that is stays one, be it not ASCII."""
    text = "a \u00e9 b\n".encode()
    for before, shown in ((b"gB\x9az \xe1\n\xff\xff\n", b""), (text, text)):
        answer = before + b"\n#prof! ok report\n"
        done, _ = answered(s, parasite, lambda _, a=answer: a, "report")
        check.same(done.data, shown + b"ok report\n")


def held_is_reported(s, parasite, family):
    """The server has its one client. What came second sends no command that
    would be executed once the first has gone."""
    server, name = listening(s.work, family)
    server.settimeout(progress.WAIT_S)
    with server, socket.socket(server.family) as first:
        first.connect(server.getsockname())
        server.accept()
        tried = []

        def tell(seconds):
            """It says so after one second, before it gives up."""
            tried.append(seconds)
            done = parasite("tell", "-w", seconds, name, "stop", status=1)
            check.contains(done.err, "another client is connected to the line")
            check.contains(done.err, "'stop' was not sent")

        given_time(tell, (2, 8, 32))
        done = parasite(
            *("record", "-d", 1, "-o", s.work / "held.trace", name), status=1
        )
        check.contains(done.err, f"another client is connected to '{name}'")
        for _ in (*tried, "record"):
            second, _ = server.accept()
            with second:
                check.same(second.recv(100).strip(), b"")


def words_are_joined(s, parasite):
    """A word that takes an argument has the next one; all else is a command of
    its own."""
    words = "causal start rate 99 start loop reset causal report stop".split()
    words += "causal target f::g causal start".split()
    ok = b"\n#prof! ok "
    done, said = answered(s, parasite, lambda line: ok + line + b"\n", *words)
    wanted = ["causal start", "rate 99", "start", "loop reset"]
    wanted += ["causal report", "stop", "causal target f::g", "causal start"]
    check.same(said, wanted)
    check.same(done.out.splitlines(), [f"ok {line}" for line in wanted])


def capped_rate_is_reported(s, parasite):
    answer = b"\n#prof! ok rate 50000 at 19886.364 Hz\n"
    done, _ = answered(s, parasite, lambda _: answer, "rate", 50000)
    check.same(done.out, "ok rate 50000 at 19886.364 Hz\n")
    check.contains(done.err, "capped the rate at 19886.4 Hz; 50000 Hz was")


def test_hosts(s):
    parasite = Command(s)
    s.holds(bytes_are_distinguished, s, parasite)
    for family in ("unix", "tcp"):
        what = f"a {family} line that another client holds is reported"
        s.holds(what, held_is_reported, s, parasite, family)
    s.holds(words_are_joined, s, parasite)
    s.holds(capped_rate_is_reported, s, parasite)
    file = s.work / "file"
    file.write_text("no guest\n")
    for what, status, words in (
        ("a file takes no commands", 2, (file, "stop")),
        ("no command is bad usage", 2, ("unix:nowhere",)),
        ("no one there is bad data", 1, (f"unix:{s.work}/none.sock", "stop")),
    ):
        s.holds(what, parasite, "tell", *words, status=status)


def suite(s):
    if s.part == "hosts":
        test_hosts(s)
        return
    width, transport = s.part.split("-")
    globals()[f"test_{transport}"](Live(s, width))
