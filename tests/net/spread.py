# SPDX-License-Identifier: Apache-2.0
"""services/http on four CPUs: who prepares what is asked for, and where a
profile sees that."""

import re
import socket
import struct

import talk
from harness.command import Command
from harness.site import SECRET, TOKEN, Site
from harness.suite import background, check, given_time, soon
from web import answered, test_files

CPUS = 4
OTHERS = range(1, CPUS)  # CPU 0 has the network
COUNT = 300


def given(site):
    """How many responses each of the others was given to prepare."""
    text = site.get(f"/metrics?{TOKEN}").decode()
    found = re.findall(
        r'^parasite_http_dispatched_total\{cpu="(\d+)"\} (\d+)$', text, re.M
    )
    check.same([int(cpu) for cpu, _ in found], list(OTHERS))
    return [int(count) for _, count in found]


def each_is_given(site):
    """Each request is given to one of the others, and none has all. Of a
    connection whose client has gone away requests may still come."""
    before = given(site)
    talk.pipelined(site.address, COUNT)
    done = [now - then for now, then in zip(given(site), before)]
    check.true(sum(done) >= COUNT and all(done), f"{done}")


def half_closed(site):
    """Who has closed its side gets an answer that was not there yet."""
    for _ in range(50):
        answered(site, 200, b"GET / HTTP/1.0\r\n\r\n")


def gone(site):
    """Nobody waits any more for what is prepared."""
    for _ in range(200):
        with talk.connect(site.address) as peer:
            talk.send(peer, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
            peer.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
    site.status(200, "/index.html")
    each_is_given(site)


def where_it_went(site, seconds):
    """The others prepare, and CPU 0 does not; it has the network."""
    s, parasite = site.s, Command(site.s)
    packets, trace = s.work / "spread.bin", s.work / "spread.trace"
    path = f"/profile?seconds={seconds}&hz=500&format=trace&{TOKEN}"
    load = ("wrk", "-t", 1, "-c", 16, "-d", 100000, "--timeout", "600s")
    with background(*load, f"{site.url}/", log=s.work / "wrk"):
        packets.write_bytes(site.get(path))
    image = s.image(s.width, "http", CPUS)
    parasite.record(trace, "-q", "-k", image, f"file:{packets}")
    stacks = [parasite.folded(trace, "-C", cpu) for cpu in range(CPUS)]
    found = [{name for names, _ in of for name in names} for of in stacks]
    check.same(
        [cpu for cpu in range(CPUS) if "prepare_list" in found[cpu]],
        list(OTHERS),
    )
    check.same([cpu for cpu in range(CPUS) if "tcp_input" in found[cpu]], [0])


def table(site):
    """The table has a row of each."""

    def attempt():
        text = site.get(f"/tell?command=report&{TOKEN}", "-X", "POST").decode(
            "latin-1"
        )
        rows = re.findall(r"^ +(\d+) +(\d+) +[0-9.]+ % +[0-9.]+ %", text, re.M)
        check.same([int(cpu) for cpu, _ in rows], list(range(CPUS)), text)
        return all(int(samples) > 0 for _, samples in rows)

    soon(attempt, "samples of each CPU")


def test_spread(s):
    site = Site(s)
    with site.guest(
        "spread",
        f"http.token={SECRET} prof.tick=nmi",
        modules=[site.archive],
        cpus=CPUS,
    ) as guest:
        site.reach(guest)
        test_files(site)
        what = "each CPU but the first is given responses to prepare"
        s.holds(what, each_is_given, site)
        what = "a response follows although its reader has closed its side"
        s.holds(what, half_closed, site)
        s.holds("peers go away while theirs is prepared", gone, site)
        what = "the profile of each CPU shows what it does"
        s.holds(
            what,
            given_time,
            lambda seconds: where_it_went(site, seconds),
            (2, 8, 32, 128),
        )
        s.holds("the table has a row for each CPU", table, site)
