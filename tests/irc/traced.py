# SPDX-License-Identifier: Apache-2.0
"""The recorder of tasks at its default settings, under load: none is lost."""

from harness.command import Command
from harness.suite import check
from sessions import CPU_LIMIT_S, PASSWORD, PATIENCE_S, PORTS
from sessions import loadgen, until_served

SESSIONS = 3000


def record(s, width):
    """The trace of a server that has served them all, and what record said."""
    with s.guest(
        *(width, "irc", "traced"),
        append=f"irc.every=0 irc.oper={PASSWORD} prof.every=0 prof.out=e9 "
        "prof.trace=stream",
        forward=[6667] * PORTS,
        stream=s.work / "traced",
        cpu_limit=CPU_LIMIT_S,
    ) as guest:
        servers = [f"127.0.0.1:{port}" for port in guest.ports(6667)]
        until_served(s, guest, servers[0])
        loadgen(
            *(s, "--first", 1, "-n", SESSIONS, "-c", PORTS),
            *("--timeout", PATIENCE_S, "--end", PASSWORD, *servers),
        )
        guest.end()
    trace = s.work / "traced.trace"
    return trace, Command(s).record(trace, f"file:{s.work / 'traced'}")


def test_traced(s, width):
    with s.test("no event of a server under load is lost"):
        trace, said = record(s, width)
        info = Command(s).info(trace)
        s.note(f"{info['events']} events")
        check.true(info["events"] > 10 * SESSIONS)
        check.same(info["lost_events"], 0)
        check.lacks(said.err, "events of tasks lost")
