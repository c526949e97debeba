# SPDX-License-Identifier: Apache-2.0
"""The booted server under a load of thousands of sessions; and under a smaller
one on several CPUs, of which it uses the first."""

import re

from harness.command import Command
from harness.suite import FULL, check, run
from repeated import repeated

SESSIONS = 10000 if FULL else 4000
FEWER = 2000
CPUS = 4
PORTS = 16  # QEMU's network listens with a backlog of one: a port for each
PATIENCE_S = 86400  # of loadgen, for one session: the harness's ends first
CPU_LIMIT_S = 900
PASSWORD = "good-night"  # of the operator who ends the server
TRANSMIT = re.compile(r"VirtioNet::transmit")


def loadgen(s, *words, status=0):
    return run(
        *(s.build / "host" / "loadgen", "-q", *words),
        status=status,
        cpu_limit=CPU_LIMIT_S,
    )


def until_served(s, guest, address):
    """One session shows that the server is up."""
    guest.wait_line("^irc: port ")
    loadgen(s, "-n", 1, "--timeout", PATIENCE_S, address)


def run_load(s, width, kick, clock):
    """Boots the server and puts the load on it; (loadgen's output, console)"""
    modern = "off" if kick == "batch" else "on"
    with s.guest(
        *(width, "irc", kick),
        append=f"net.kick={kick} clock={clock} irc.every=0 irc.warm=1 "
        f"irc.oper={PASSWORD} prof.every=0 prof.out=e9",
        forward=[6667] * PORTS,
        nic=f"disable-modern={modern}",
        stream=s.work / "packets",
        args=["-object", f"filter-dump,id=f,netdev=n,file={s.work / 'pcap'}"],
        cpu_limit=CPU_LIMIT_S,
    ) as guest:
        servers = [f"127.0.0.1:{port}" for port in guest.ports(6667)]
        until_served(s, guest, servers[0])
        said = loadgen(
            *(s, "--first", 1, "-n", SESSIONS, "-c", PORTS),
            *("--timeout", PATIENCE_S, "--end", PASSWORD, *servers),
            status=None,
        ).text
        guest.end()
        return said, guest.text()


def mostly_hypervisor(s, width, console):
    """Ringing for each frame is seen as the hypervisor's time: by the guest's
    own table, and by the host from the same samples. The port that is rung at
    makes QEMU's device a legacy one, since a store to memory looks like any
    other."""
    rows = [
        line.split() for line in console.splitlines() if TRANSMIT.search(line)
    ]
    rows = [row for row in rows if row[1] == "%"]
    check.true(rows, "the table has no VirtioNet::transmit")
    own, hypervisor = float(rows[-1][0]), float(rows[-1][4])
    check.true(0 < hypervisor and own < 2 * hypervisor, rows[-1])
    parasite, trace = Command(s), s.work / "packets.trace"
    parasite.record(trace, "-q", f"file:{s.work / 'packets'}")
    rows = parasite.rows(trace, "--exits", "-k", s.image(width, "irc"))
    rows = [row for row in rows if TRANSMIT.search(row["symbol"])]
    check.true(rows, "the report has no VirtioNet::transmit")
    for row in rows:
        s.note(f"{row['symbol']}: {row['self']} and {row['hypervisor']}")
    last = rows[-1]
    check.true(0 < last["hypervisor"] and last["self"] < 2 * last["hypervisor"])


def rows_by_cpu(console):
    """[(CPU, samples)] of the last table."""
    table = console.rpartition("--- profile: ")[2]
    rows = re.findall(r"^ +(\d+) +(\d+) +[0-9.]+ % +[0-9.]+ %", table, re.M)
    return [(int(cpu), int(samples)) for cpu, samples in rows]


def test_cpus(s, width):
    with s.guest(
        *(width, "irc", "cpus"),
        append=f"irc.every=0 irc.warm=1 irc.oper={PASSWORD} prof.every=0",
        forward=[6667] * PORTS,
        cpus=CPUS,
        cpu_limit=CPU_LIMIT_S,
    ) as guest:
        servers = [f"127.0.0.1:{port}" for port in guest.ports(6667)]
        until_served(s, guest, servers[0])
        with s.test(f"{width}: on {CPUS} CPUs, sessions come and go"):
            said = loadgen(
                *(s, "--first", 1, "-n", FEWER, "-c", PORTS),
                *("--timeout", PATIENCE_S, "--end", PASSWORD, *servers),
            ).text
            check.has(said, f"^{FEWER} sessions in .* 0 failed")
        guest.end()
    with s.test(f"{width}: nothing of them is left there"):
        check.has(
            guest.text(), "^irc: now 0 clients, 0 memberships, 0 channels"
        )
    with s.test(f"{width}: each CPU was sampled"):
        rows = rows_by_cpu(guest.text())
        check.same([cpu for cpu, _ in rows], list(range(CPUS)))
        check.true(all(samples > 0 for _, samples in rows), f"{rows}")


def test_sessions(s, width, kick, clock):
    what = f"{width}, {kick}, {clock}"
    said, console = "", ""
    with s.test(f"{what}: thousands of sessions come and go"):
        said, console = run_load(s, width, kick, clock)
        check.has(said, f"^{SESSIONS} sessions in .* 0 failed")
    with s.test(f"{what}: nothing of them is left"):
        check.has(console, "^irc: now 0 clients, 0 memberships, 0 channels")
        check.has(
            console, r"^net: now 0 connections, \d+ closing, .* 0 buffers"
        )
    with s.test(f"{what}: no frame is sent twice"):
        frames, same = repeated(s.work / "pcap", 6667)
        s.note(f"{frames} frames")
        check.true(frames > 0)
        check.same(same, [])
    (s.work / "pcap").unlink(missing_ok=True)
    with s.test(f"{what}: the table has C++ names"):
        check.has(
            console,
            r"VirtioNet::transmit\(net_part const\*, unsigned int\)"
            r"|VirtioNet::flush\(\)",
        )
    if kick == "each":
        s.holds(mostly_hypervisor, s, width, console)
