# SPDX-License-Identifier: Apache-2.0
"""The IRC server and the web server under load: who holds the loop is named,
the recording says what the guest's own table says, and both add up. And
docs/loop.md shows such tables."""

import json
import re
import sys
from pathlib import Path

from harness.command import Command
from harness.site import SECRET, Site, promtool
from harness.suite import background, check, run

sys.path.append(str(Path(__file__).parent.parent / "irc"))
import sessions  # noqa: E402  pylint: disable=wrong-import-position

PAGE = Path("docs/loop.md")
SESSIONS = 600
CLIENTS = 16
UNIT_NS = {"us": 1e3, "ms": 1e6, "s": 1e9}
HEAD = "--- event loop: "
ROW = re.compile(
    r"^ *([\d.]+) % +([\d.]+) % +(\d+) +([\d.]+ \w+) +([\d.]+ \w+) +"
    r"[\d.]+ \w+ +\d+ +\d+ +[\d.]+ \w+ +(\S.*?) \((\S+):\d+\)$",
    re.M,
)
SHOWN = re.compile(r"^ +[\d.]+% +[\d.]+%.* \d\.\d{3}  (\S.*) \((\S+):\d+\)$")


def nanoseconds(text):
    """The least and the most of a time that was cut to tenths."""
    number, unit = text.split()
    return [(float(number) + more) * UNIT_NS[unit] for more in (0, 0.1001)]


class Table:
    """The last one in the text of a console."""

    def __init__(self, console):
        text = console[console.rindex(HEAD) :]
        account = check.has(text, r"^loop: +([\d.]+ \w+) *= tasks .*$")
        self.wall_ns, self.account = nanoseconds(account[1]), account[0]
        self.rows = {row[6]: row for row in ROW.finditer(text)}

    def runs(self, site):
        return int(self.rows[site][3])


class Service:
    """One that was under load, or is: its console, and what it streams."""

    def __init__(self, s, width, name):
        self.s, self.width, self.name = s, width, name
        self.packets = s.work / f"{name}.bin"
        self.trace = s.work / f"{name}.trace"
        self.packets.unlink(missing_ok=True)
        self.console = ""

    def table(self):
        return Table(self.console)

    def loop(self, *words):
        """`parasite loop` of what it has streamed so far."""
        parasite = Command(self.s)
        image = self.s.image(self.width, self.name)
        parasite.record(
            *(self.trace, "-q", f"file:{self.packets}", "-k", image)
        )
        return parasite("loop", *words, self.trace).out

    def sites(self):
        found = json.loads(self.loop("-q", "--json"))["sites"]
        return {site["site"]: site for site in found}


def agrees(service, names):
    """The recording has the same runs of (names) as the guest's table, to
    the digits that this has."""
    table, sites = service.table(), service.sites()
    for name in names:
        row, site = table.rows[name], sites[name]
        check.same(site["run"]["count"], int(row[3]), name)
        check.same(site["file"], row[7], name)
        check.between(site["longest_ns"], *nanoseconds(row[5]), name)
        least, most = (100 * site["self_ns"] / ns for ns in table.wall_ns[::-1])
        check.between(float(row[1]), least - 0.01, most + 0.01, name)


def adds_up(service):
    """The rows, the tree and the account, or the exit status is 1."""
    check.has(service.table().account, "; missing 0 cycles$")
    check.has(
        service.loop(), r"^# the parts are [\d,]+ cycles: the whole, to the cyc"
    )


# ---- IRC

IRC_SITES = ("irc accept", "irc receive", "end_doomed", "network")


def serve_irc(service):
    s = service.s
    with s.guest(
        *(service.width, "irc", "irc"),
        append="irc.every=0 prof.every=0 prof.out=e9 prof.loop=20 "
        f"prof.loop_calls=256 prof.loop_freeze=0 "
        f"irc.oper={sessions.PASSWORD}",
        forward=[6667] * CLIENTS,
        stream=service.packets,
        cpu_limit=sessions.CPU_LIMIT_S,
    ) as guest:
        servers = [f"127.0.0.1:{port}" for port in guest.ports(6667)]
        sessions.until_served(s, guest, servers[0])
        sessions.loadgen(
            *(s, "--first", 1, "-n", SESSIONS, "-c", CLIENTS),
            *("--timeout", sessions.PATIENCE_S),
            *("--end", sessions.PASSWORD, *servers),
        )
        check.same(guest.end(), 0)
        service.console = guest.text()


def irc_is_named(service):
    """Each connection was accepted once; where a turn has ended some, it was
    at least one; and most of the handlers' time is that of what was received.
    """
    table = service.table()
    said = check.has(service.console, r"^irc: (\d+) connections, .* (\d+) comm")
    check.same(table.runs("irc accept"), int(said[1]))
    check.between(table.runs("irc receive"), SESSIONS, int(said[2]) + SESSIONS)
    most = min(int(said[1]), table.runs("network"))
    check.between(table.runs("end_doomed"), 1, most, "turns with an end")
    own = {name: float(row[1]) for name, row in table.rows.items()}
    check.true(own["irc receive"] > own["irc accept"], own)
    check.lacks(service.console, r"^loop: no room for \d+ calls:")


def test_irc(s, width):
    service = Service(s, width, "irc")
    with s.test("the IRC server says which handlers hold the loop"):
        serve_irc(service)
        irc_is_named(service)
    s.holds("its account is the whole", adds_up, service)
    s.holds(agrees, service, IRC_SITES)
    return service


# ---- HTTP

HTTP_SITES = ("http accept", "http receive", "http room")


def accepted_by_promtool(site):
    data = site.get("/metrics", "-H", f"Authorization: Bearer {SECRET}")
    run(promtool(site.s), "check", "metrics", data=data)
    return data.decode()


def load_http(site):
    """Returns how many requests wrk had answers to."""
    with background(
        *("wrk", "-t", 1, "-c", CLIENTS, "-d", 3, "--timeout", "600s"),
        f"{site.url}/index.html",
        log=site.s.work / "wrk",
    ) as wrk:
        text = accepted_by_promtool(site)
        wrk.end(0)
    for what in ("accept", "receive"):
        check.has(text, rf'^parasite_loop_site_self.*site="http {what}".* \d')
    site.serves_big()
    return int(check.has(wrk.text(), r"^ *(\d+) requests in")[1])


def http_is_named(service, requests):
    """A piece that is received has a request at most."""
    table = service.table()
    check.true(table.runs("http receive") >= requests, f"{requests} requests")
    check.true(table.runs("http accept") >= CLIENTS)
    check.true(table.runs("http room") > 10, "of a large file")
    check.true(table.runs("network") > table.runs("http accept"))


def comes_to_rest(service, guest, requests):
    """Tables are printed and rows sent from time to time: waits until those
    of the handlers are what they are when all is over."""

    def attempt():
        service.console = guest.text()
        if HEAD not in service.console:
            return False
        try:
            http_is_named(service, requests)
            agrees(service, HTTP_SITES)
        except (AssertionError, KeyError):
            return False
        return True

    guest.soon(attempt, "a table and a round with all requests")


def test_http(s, width):
    service, site = Service(s, width, "http"), Site(s)
    s.width = width
    with site.guest(
        "http",
        f"http.token={SECRET} prof.loop=20 prof.loop_freeze=0 prof.out=e9 "
        "prof.every=1000",
        modules=[site.archive],
        stream=service.packets,
    ) as guest:
        site.reach(guest)
        with s.test("the web server's metrics name its handlers"):
            requests = load_http(site)
        with s.test("so do its table and its recording, alike"):
            comes_to_rest(service, guest, requests)
        s.holds("the web server's account", adds_up, service)
    return service


# ---- docs/loop.md


def page_is_true(services):
    """Each row that it shows of a service is one of that service's here: all
    but figures and line numbers."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    shown = [SHOWN.match(line) for line in page]
    shown = {row.groups() for row in shown if row}
    check.true(len(shown) > 8, shown)
    found = set()
    for service in services:
        for name, site in service.sites().items():
            found.add((name, site.get("file")))
    check.same(shown - found, set())


def test(s, width):
    services = [test_irc(s, width), test_http(s, width)]
    s.holds(page_is_true, services)
