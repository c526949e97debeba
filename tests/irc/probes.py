# SPDX-License-Identifier: Apache-2.0
"""Whoever tries whether the server is up may give up at any moment: no session
that comes later may suffer for it, nor may the server end early."""

import socket
import struct
from contextlib import ExitStack

from harness.suite import check, run
from sessions import CPU_LIMIT_S, PASSWORD, PATIENCE_S, loadgen, until_served

SESSIONS = 300
HASTY_PROBES = 20
ROUNDS = 5

# what a probe has said before it gives up; it waits for no answer
USER = b"NICK %s\r\nUSER p 0 * :P\r\n"
SAID = (b"", b"NICK", b"NICK %s\r\n", USER, USER + b"JOIN #c1\r\n")

# In loadgen's place: the first probes fail, and have a millisecond more each,
# so that they are given up wherever they happen to be.
HASTY = """#!/bin/sh
echo >>{count}
calls=$(wc -l <{count})
if [ "$calls" -le {probes} ]; then
    {loadgen} "$@" --timeout "$(printf '0.%03d' "$calls")"
    exit 1
fi
exec {loadgen} "$@" --timeout {patience}
"""


def give_up(address, said, reset):
    with socket.create_connection(address) as probe:
        probe.sendall(said)
        if reset:
            probe.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )


def all_probes(ports):
    """Each kind of probe, at all ports; some stay until all have come."""
    with ExitStack() as stay:
        for number in range(ROUNDS * len(SAID)):
            said = SAID[number % len(SAID)].replace(b"%s", b"p%d" % number)
            address = ("127.0.0.1", ports[number % len(ports)])
            give_up(address, said, number % 2)
            late = stay.enter_context(socket.create_connection(address))
            late.sendall(said.replace(b"p%d" % number, b"q%d" % number))


def load_after_probes(s, width, append, *end):
    """The server ends by itself, after the last session and not before."""
    with s.guest(
        *(width, "irc", "probes"),
        append=f"irc.every=0 prof.start=off {append}",
        forward=[6667] * 4,
        cpu_limit=CPU_LIMIT_S,
    ) as guest:
        ports = guest.ports(6667)
        until_served(s, guest, f"127.0.0.1:{ports[0]}")
        all_probes(ports)
        said = loadgen(
            *(s, "--first", 1, "-n", SESSIONS, "-c", 4, *end),
            *("--timeout", PATIENCE_S),
            *(f"127.0.0.1:{port}" for port in ports),
        ).text
        check.has(said, f"^{SESSIONS} sessions in .* 0 failed")
        check.same(guest.end(), 0)


def hasty_probes(s, width):
    """What `make run` does."""
    count, hasty = s.work / "calls", s.work / "hasty"
    count.unlink(missing_ok=True)
    hasty.write_text(
        HASTY.format(
            count=count,
            loadgen=s.build / "host" / "loadgen",
            probes=HASTY_PROBES,
            patience=PATIENCE_S,
        ),
        encoding="ascii",
    )
    hasty.chmod(0o755)
    done = run(
        *("tools/loadgen/under.sh", hasty, "tools/build/run.py"),
        s.image(width, "irc"),
        env={
            "ARCH": width,
            "SESSIONS": SESSIONS,
            "CLIENTS": 4,
            "APPEND": "irc.every=0 prof.every=0 prof.start=off",
            "QUIET": 1,
        },
        cpu_limit=CPU_LIMIT_S,
    )
    check.has(done.text, f"^{SESSIONS} sessions in .* 0 failed")
    calls = len(count.read_text(encoding="ascii"))
    check.true(calls > HASTY_PROBES, "there were no probes")


def test_probes(s, width):
    s.holds(
        "probes that give up do not count as sessions",
        *(load_after_probes, s, width, f"irc.connections={SESSIONS + 1}"),
    )
    s.holds(
        "an operator ends the server after the last session",
        *(load_after_probes, s, width, f"irc.oper={PASSWORD}"),
        *("--end", PASSWORD),
    )
    s.holds(hasty_probes, s, width)
