# SPDX-License-Identifier: Apache-2.0
"""The IRC server, while it is under load: whoever looks at it does not hold it
up, whether they read or not."""

import contextlib
import itertools
import json
import re
import socket

from harness.process import PROFILER
from harness.suite import background, check, given_time
from port import APPEND, ENVIRONMENT, TOKEN, Port

CPU_LIMIT_S = 900
PATIENCE_S = 86400  # of loadgen, for one session: the harness's ends first
PASSWORD = "good-night"
SESSIONS_KEPT = 400
ENDLESS, LONG_S = 10**9, 10**6  # sessions, 10,000 of which end in a second
COMMANDS = ("depth", "3", "stop", "start", "stacks on", "reset")
ANSWERS = [
    "^ok depth 3$",
    "^ok stop$",
    r"^ok start at [\d.]+ Hz$",
    "^ok stacks on$",
    "^ok reset$",
]
# what only the port calls
OWN = re.compile(r"^(prof_transport_work|net_profiler_work|profile_\w+|http_)")


class Load:
    """loadgen, from now on until it is stopped."""

    def __init__(self, s, guest):
        self.s, self.guest = s, guest
        self.address = f"127.0.0.1:{guest.port(6667)}"
        self.words = (s.build / "host" / "loadgen", "-q")
        self.first = 1

    def sessions(self, count):
        """That many, of which none fails."""
        done = background(
            *(*self.words, "--first", self.first, "-n", count, "-c", 4),
            *("--timeout", PATIENCE_S, self.address),
            log=self.s.work / "sessions",
        )
        self.first += count
        with done as load:
            load.end(0)
            check.has(load.text(), f"^{count} sessions in .* 0 failed")

    def forever(self):
        return background(
            *(*self.words, "--first", self.first + ENDLESS // 2),
            *("-n", ENDLESS, "-c", 4, "-d", LONG_S),
            *("--timeout", PATIENCE_S, self.address),
            log=self.s.work / "load",
        )


# ---- who may


def is_refused(port, what, *words, env=None):
    """With one line, and 1."""
    said = port.command(*words, status=1, env=env).text.splitlines()
    check.same(len(said), 1, said)
    check.contains(said[0], what)


def test_token(s, port):
    wrong, tell = f"{TOKEN}-", f"/tell?token={TOKEN}"
    for path in ("/profile", "/stream", "/commands", "/tell"):
        method = ("-X", "POST") if path == "/tell" else ()
        with s.test(f"{path} needs the token"):
            port.answers(401, path, *method)
            port.answers(401, f"{path}?token=", *method)
            port.answers(403, f"{path}?token={wrong}", *method)
            bearer = ("-H", "Authorization: Bearer x")
            port.answers(403, path, *bearer, *method)
    with s.test("the command says that a token is wanted"):
        is_refused(port, "PARASITE_TOKEN", "tell", port.url, "stop")
        url = f"{port.url}/?token={wrong}"
        is_refused(port, "another token", "tell", url, "stop")
        trace = s.work / "refused.trace"
        is_refused(port, "wants its token", "record", "-o", trace, port.url)
    with s.test("the token may be in the address"):
        url = f"{port.url}/?token={TOKEN}"
        check.has(port.command("tell", url, "start").out, "^ok start")
    with s.test("what is not offered is refused"):
        port.answers(404, "/metrics")
        port.answers(405, f"{tell}&command=stop")
        port.answers(405, f"/profile?token={TOKEN}", "-X", "POST")
        port.answers(413, f"{tell}&command=stop", "-d", "x")
        port.answers(426, f"/stream?token={TOKEN}")
        port.answers(400, f"/profile?seconds=0&token={TOKEN}")
    with s.test("what is not HTTP is refused"):
        with socket.create_connection(port.address, timeout=600) as one:
            one.sendall(b"rate 99\n")
            check.contains(one.recv(100).decode(), " 400 ")


# ---- commands


def are_answered(port):
    said = [line for line in port.tell(*COMMANDS).lines() if line[:2] == "ok"]
    if port.rate:
        rate = port.tell("rate", 99).out
        check.has(rate, r"^ok rate 99 at [\d.]+ Hz$")
        port.tell("rate", 500)
    check.same(len(said), len(ANSWERS), said)
    for line, wanted in zip(said, ANSWERS):
        check.has(line, wanted)


def test_commands(s, port):
    s.holds("commands are answered", are_answered, port)
    with s.test("the table is sent"):
        said = port.tell("report").out
        check.has(said, r"^--- profile: \d+ samples")
        check.has(said, "all ticks since the start$")
        check.has(said, "^ok report$")
    with s.test("curl sends a command, too"):
        path = f"/tell?token={TOKEN}&command="
        said = port.get(f"{path}depth+64", "-X", "POST")
        check.has(said, "^#prof! ok depth 64$")
        port.answers(400, f"{path}fly", "-X", "POST")
        check.has((s.work / "body").read_text(), "not a command; commands are")
        port.answers(400, f"{path}", "-X", "POST")
    with s.test("one that is refused ends with 1"):
        said = port.tell("fly", status=1).text
        check.contains(said, 'error: "fly": not a command')
    with s.test("a line without end is refused, and the next one answered"):
        with port.connection("/commands") as one:
            one.sendall(b"x" * 5000 + b"\nstart\n")
            said = b""
            while b"ok start" not in said:
                piece = one.recv(4096)
                check.true(piece, said)
                said += piece
            check.contains(said.decode(), "too long for a command")


# ---- the stream


def is_recorded(s, port, seconds):
    """With stacks of the server's and the network's functions, and all of
    it. The port's own work is little: at a high rate it is seen soon."""
    often = port.rate and ("-F", 2000)
    trace = port.record(
        *("irc", "-q", *often, "-g", "-d", seconds),
        *("-k", s.image(s.width, "irc")),
    )
    info = port.command.info(trace)
    check.true(info["samples"] > 300, info["samples"])
    check.same(info["lost"], 0)
    check.same(info["missing_packets"], 0)
    check.same(info["garbage_bytes"], 0)
    check.same(info["depth"], 64)
    names = {name for stack, _ in port.command.folded(trace) for name in stack}
    check.true(any("irc::" in name for name in names), names)
    check.true("prof_transport_work" in names, names)
    return trace


def is_own(port, trace):
    """What the port does is the profiler's, and in no share; but it was seen,
    where that is asked for."""
    words = ("report", "-q", "--json", "-i", trace)
    rows = json.loads(port.command(*words).out)["rows"]
    check.same([r["symbol"] for r in rows if OWN.match(r["symbol"])], [])
    rows = {row["symbol"]: row for row in port.command.rows(trace)}
    check.true(rows["prof_transport_work"]["total"] > 0, rows)


def is_watched(port, seconds):
    done = port.parasite(
        *("top", "--stdio", "-n", 2, "--delay", seconds, *port.rate, port.url)
    )
    check.has(done.out, "^# .* samples/s, .* % idle, .* 0 lost")
    check.has(done.out, "Symbol", count=2)


def second_is_refused(port):
    with port.connection() as one:
        check.true(one.recv(1))
        trace = port.s.work / "second.trace"
        said = port.parasite("record", "-o", trace, port.url, status=1).text
        check.contains(said, "refused (409): another client is reading")
        port.answers(409, f"/profile?seconds=1&format=trace&token={TOKEN}")
        port.tell("start")


# Each is answered and sends a packet: a hundred are what a connection has room
# for at once, and some thousands more than the sockets on the way hold.
HELLOS = b"hello\n" * 100


def fill(port, one):
    """Makes the guest send (one) more than what it reads, a little at a
    time: others are answered in between."""
    for _ in range(50):
        with contextlib.suppress(ConnectionError):
            one.sendall(HELLOS)
        with socket.create_connection(port.address, timeout=600) as other:
            other.sendall(
                b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            )
            check.contains(rest_of(other).decode(), " 200 ")


def left(port):
    """What the guest said of readers that left: samples discarded."""
    return [
        int(samples)
        for samples in re.findall(
            r"reader has left: .*, (\d+) samples discarded", port.guest.text()
        )
    ]


def silent_is_left_behind(port, load):
    """A reader that reads nothing: the sessions go on, until it is left behind
    with what it could not be sent. One of before may leave only now. To fill
    it is most of the work, and once it is full only time must pass."""
    before, looks = len(left(port)), itertools.count()
    with port.connection(room=4096) as one:
        one.sendall(b"start\n")

        def is_over():
            if next(looks) % 16 < 2:
                fill(port, one)
            load.sessions(20)
            return any(lost > 0 for lost in left(port)[before:])

        port.guest.soon(is_over, "the end of a reader that does not read")


def losses_are_shown(s, port, load):
    """More at once than a connection has room for: what is lost is reported."""
    packets, trace = s.work / "losses.bin", s.work / "losses.trace"
    with port.connection(room=4096) as one, open(packets, "wb") as out:
        one.sendall(b"start\n")

        def has_lost():
            one.settimeout(600)
            one.sendall(50 * HELLOS)
            load.sessions(5)
            one.settimeout(1)
            with contextlib.suppress(TimeoutError):
                while piece := one.recv(65536):
                    out.write(piece)
            out.flush()
            port.command.record(trace, "-q", f"file:{packets}")
            info = port.command.info(trace)
            check.same(info["missing_packets"], 0)
            return info["lost"] > 0

        port.guest.soon(has_lost, "lost samples")


def gone_is_noticed(port):
    """A reader that went away without a word makes room for the next."""
    with port.connection() as one:
        one.recv(1)
    port.guest.soon(
        lambda: "101"
        in port.get(
            "/stream",
            "-m",
            "1",
            "-i",
            "-N",
            "-H",
            "Connection: upgrade",
            "-H",
            "Upgrade: parasite",
            "-H",
            f"Authorization: Bearer {TOKEN}",
            status=None,
        ),
        "the next reader",
    )


def crowd_is_limited(port):
    """Eight clients at a time, and a ninth is refused."""
    crowd = []
    try:
        for _ in range(8):
            crowd.append(socket.create_connection(port.address, timeout=600))
            crowd[-1].sendall(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
            check.contains(crowd[-1].recv(100).decode(), " 200 ")
        with socket.create_connection(port.address, timeout=600) as one:
            check.contains(one.recv(200).decode(), " 503 ")
    finally:
        for one in crowd:
            one.close()
    port.guest.soon(lambda: port.get("/", status=None), "room for another")


def is_profiled(port, seconds):
    path = f"/profile?seconds={seconds}&hz=400&token={TOKEN}"
    check.has(port.get(path), r"^\S.*;loop_run;.* \d+$")


def test_stream(s, port, load):
    trace = None
    with load.forever() as sessions:
        with s.test("a server under load is recorded"):
            trace = given_time(
                lambda seconds: is_recorded(s, port, seconds), (2, 8, 32, 128)
            )
        s.holds("what the port does is in no share", is_own, port, trace)
        with s.test("it is watched by top"):
            given_time(lambda seconds: is_watched(port, seconds), (1, 4, 16))
        with s.test("a profile is taken of it"):
            given_time(lambda seconds: is_profiled(port, seconds), (2, 8, 32))
        s.holds("a second reader is refused", second_is_refused, port)
        check.true(sessions.alive(), "the load has ended")
    what = "a reader that does not read is left behind"
    s.holds(what, silent_is_left_behind, port, load)
    s.holds("a reader is shown what it lost", losses_are_shown, s, port, load)
    s.holds("a reader that has gone is noticed", gone_is_noticed, port)
    s.holds("a crowd is limited", crowd_is_limited, port)


# ---- the end


def ends_with_the_image(s, port, load):
    """The stream has the end of the image, which its reader sees."""
    trace = s.work / "end.trace"
    with background(
        *(s.parasite, "record", "-q", "--depth", 9, "-o", trace, port.url),
        log=s.work / "end",
        env=ENVIRONMENT,
    ) as recorder:
        recorder.soon(
            lambda: "#prof! ok depth 9" in port.guest.text(), "the depth"
        )
        load.words = (*load.words, "--end", PASSWORD)
        load.sessions(5)
        check.same(port.guest.end(), 0)
        recorder.end(0)
    info = port.command.info(trace)
    check.same((info["ended"], info["exit_code"]), (1, 0))


def rest_of(one):
    """All that the guest still sends on a connection."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while got := one.recv(1 << 16):
            data += got
    return data


def slow_has_the_end(s, port, load):
    """A reader that reads only once the image has begun to end gets all events
    that the recorder still has, and the end."""
    with port.connection(room=4096) as one:
        load.sessions(SESSIONS_KEPT)
        load.words = (*load.words, "--end", PASSWORD)
        load.sessions(1)
        trace = s.work / "slow.trace"
        trace.write_bytes(rest_of(one))
    check.same(port.guest.end(), 0)
    info = port.command.info(trace)
    check.same((info["ended"], info["exit_code"]), (1, 0))
    check.same((info["lost_events"], info["missing_packets"]), (0, 0))


@contextlib.contextmanager
def server(s, width, options=""):
    with s.guest(
        *(width, "irc"),
        append=f"{APPEND} irc.every=0 irc.oper={PASSWORD} prof.hz=400 "
        + options,
        forward=[6667, PROFILER],
        cpu_limit=CPU_LIMIT_S,
    ) as guest:
        guest.wait_line("^irc: port ")
        port, load = Port(s, guest), Load(s, guest)
        load.sessions(1)
        yield guest, port, load


def test_under_load(s, width):
    s.width = width
    with server(s, width) as (guest, port, load):
        test_token(s, port)
        test_commands(s, port)
        test_stream(s, port, load)
        s.holds(
            "the stream has the image's end", ends_with_the_image, s, port, load
        )
    with s.test("nothing of clients is left"):
        check.has(guest.text(), "^irc: now 0 clients")
    kept = "prof.trace=stream prof.trace_kb=8192"
    with server(s, width, kept) as (guest, port, load):
        s.holds("a slow reader has it, too", slow_has_the_end, s, port, load)
