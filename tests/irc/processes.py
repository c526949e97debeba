# SPDX-License-Identifier: Apache-2.0
"""The server as a Linux process: what it does in a guest, also under
sanitizers."""

from clients import test_clients
from harness.suite import check
from probes import load_after_probes
from sessions import (
    CPU_LIMIT_S,
    PASSWORD,
    PATIENCE_S,
    SESSIONS,
    loadgen,
    until_served,
)


def run_load(s, width):
    with s.guest(
        *(width, "irc", "load"),
        # system calls may have most of the samples: all rows, not the first
        append=f"irc.every=0 irc.warm=1 irc.oper={PASSWORD} prof.every=0 "
        "prof.top=500",
        forward=[6667],
        cpu_limit=CPU_LIMIT_S,
    ) as server:
        address = f"127.0.0.1:{server.port(6667)}"
        until_served(s, server, address)
        said = loadgen(
            *(s, "--first", 1, "-n", SESSIONS, "-c", 16),
            *("--timeout", PATIENCE_S, "--end", PASSWORD, address),
        ).text
        check.same(server.end(), 0)
        check.same(server.said(), "")
        return said, server.text()


def test_processes(s, width):
    said, console = "", ""
    with s.test("thousands of sessions come and go"):
        said, console = run_load(s, width)
        check.has(said, f"^{SESSIONS} sessions in .* 0 failed")
    with s.test("nothing of them is left"):
        check.has(console, "^irc: now 0 clients, 0 memberships, 0 channels")
        check.has(console, r"^net: now 0 connections, \d+ closing")
    with s.test("the profile has the server's C++ names"):
        check.has(console, r"^ .* irc::\w+::")
    s.holds(
        "probes that give up do not count as sessions",
        *(load_after_probes, s, width, "irc.connections=301"),
    )
    test_clients(s, width)
