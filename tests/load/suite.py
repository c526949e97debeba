# SPDX-License-Identifier: Apache-2.0
"""Clients in the image of a service: each kind of load, two runs of which are
equal to the instruction, without and with causal experiments."""

import re

from harness.suite import WIDTHS, by_turns, check

PARTS = WIDTHS
QUIET = "prof.every=0 net.per_address=2048"
LOADS = {
    # name: service, options, sessions, requests
    "irc-closed": ("irc", "net.load_sessions=200", 200, 200),
    "irc-open": (
        "irc",
        "net.load=open net.load_rate=5000 net.load_sessions=8 "
        "net.load_requests=40",
        8,
        None,
    ),
    "irc-partly": (
        "irc",
        "net.load=partly net.load_rate=3000 net.load_sessions=200",
        200,
        200,
    ),
    "irc-talks": (
        "irc",
        "net.load_sessions=40 net.load_requests=20 net.load_clients=5",
        40,
        800,
    ),
    "http-closed": (
        "http",
        "net.load_sessions=20 net.load_requests=30",
        20,
        600,
    ),
    "http-open": (
        "http",
        "net.load=open net.load_rate=20000 net.load_sessions=20 "
        "net.load_requests=30",
        8,
        600,
    ),
    "http-partly": (
        "http",
        "net.load=partly net.load_rate=1000 net.load_sessions=20 "
        "net.load_requests=30",
        20,
        600,
    ),
}


PACE = re.compile(
    r"^one irc::Server::quit takes ([\d.]+) us before experiments, ([\d.]+) at "
    r"normal speed in them, ([\d.]+) after them$",
    re.M,
)


def output(s, name, service, words, code=0):
    """What such a guest has printed; without its wall time."""
    log = f"{name}.{s.part}"
    irc = "irc.every=0 " if service == "irc" else ""
    with s.guest(
        s.part,
        f"load/{service}",
        log=log,
        append=f"{QUIET} {irc}{words}",
        icount=0,
        rtc="2026-01-01T00:00:00",
    ) as guest:
        check.same(guest.end(), code)
        return guest.text()


def load_lines(text):
    return [line for line in text.splitlines() if line.startswith("load: ")]


AGAIN = 4


def again(s, name, service, words, first):
    """Another run is the same. Where the host is so busy that QEMU's main loop
    comes late, the clock of a halted guest may be set forward twice, which is
    another run: so of a few, two are the same."""
    runs = [first]
    while len(runs) < AGAIN:
        text = output(s, f"{name}-again-{len(runs)}", service, words)
        if text in runs:
            return
        runs.append(text)
    check.same(runs[-1], first)


def test_kind(s, name):
    service, words, sessions, requests = LOADS[name]
    with s.test(f"{name}: all is served, and nothing twice"):
        first = output(s, name, service, words)
        s.note("\n".join(load_lines(first)))
        check.has(first, rf"^load: {service}, .*: {sessions} sessions, 0 fail")
        check.has(first, r"^load: .* bytes \([0-9a-f]{8}\), 0 not in order$")
        if requests:
            check.has(first, rf"^load: {requests} requests in \d+ us; ")
        if service == "irc":
            check.has(
                first,
                rf"^irc: {sessions} connections, {sessions} left, "
                rf"{sessions} of them by QUIT, 0 refused, ",
            )
            check.has(first, "^irc: now 0 clients, 0 memberships, 0 channels$")
    if s.part not in by_turns(list(LOADS).index(name)):
        return
    with s.test(f"{name}: again to the instruction"):
        again(s, name, service, words, first)
    with s.test(f"{name}: another seed is another run"):
        other = output(s, f"{name}-seed", service, f"{words} net.load_seed=2")
        check.true(
            load_lines(other)[-1] != load_lines(first)[-1],
            "as many instructions with another seed",
        )


def test_loop(s):
    """How long the service's handlers hold the loop repeats, too."""
    words = "net.load_sessions=600 prof.loop=20"
    with s.test("the loop's statistics have each handler, and no time twice"):
        first = output(s, "loop", "irc", words)
        row = r"^ +[\d.]+ % +[\d.]+ % +{} .* {} \("
        check.has(first, row.format(600, "irc accept"))
        check.has(first, row.format(1800, "irc receive"))
        check.has(first, r"^loop: [\d.]+ ms = tasks .*; missing 0 cycles$")
    with s.test("the loop's statistics again to the instruction"):
        again(s, "loop", "irc", words, first)


def test_after_experiments(s):
    """The loop halts again, by a clock that lags now."""
    with s.test("after experiments clients are served as before"):
        text = output(
            s,
            "after",
            "irc",
            "net.load_sessions=1000000 prof.start=off prof.causal=on "
            "prof.target=tcp_input prof.progress=irc::Server::quit "
            "prof.causal_for=1s",
        )
        found = PACE.search(text)
        check.true(found, text)
        before, _, after = map(float, found.groups())
        check.between(after, before / 1.5, before * 1.5)


def mean_us(text):
    return int(re.search(r"^load: us per request: mean (\d+),", text, re.M)[1])


def test_many_clients(s):
    """The service knows where the clients are before the first connects, or
    TCP would repeat what it has dropped meanwhile, seconds later. And looking
    for the next of 1,024 is no time of the service."""
    with s.test("clients that come at once are answered at once"):
        text = output(
            s,
            "at-once",
            "irc",
            "net.load_trip=1 net.load_clients=64 net.load_sessions=64",
        )
        check.has(text, "^load: irc, .*: 64 sessions, 0 failed, at most 64 at")
        took = re.search(r"^load: 64 requests in (\d+) us; ", text, re.M)
        check.between(int(took[1]), 1, 500_000)
    with s.test("clients that do nothing take no time"):
        few, many = (
            output(
                s,
                f"idle-{clients}",
                "http",
                "net.load=open net.load_rate=2000 net.load_sessions=8 "
                f"net.load_requests=30 net.load_clients={clients}",
            )
            for clients in (8, 1024)
        )
        check.has(many, "^load: http, open, 1024 clients: 8 sessions, 0 failed")
        check.near(mean_us(many), mean_us(few), 5)


def test_refused(s):
    with s.test("what is not served has failed"):
        text = output(
            s,
            "refused",
            "http",
            "net.load_sessions=30 net.load_path=/no_such",
        )
        check.has(text, "^load: http, closed, 8 clients: 0 sessions, 30 fail")
    with s.test("a service that is not there resets"):
        text = output(s, "absent", "http", "http.port=81 net.load_sessions=30")
        check.has(text, "^load: http, closed, 8 clients: 0 sessions, 30 fail")
    impatient = "net.load_timeout=1 net.load_sessions=300 net.load_requests=5"
    with s.test("a client gives up after a while"):
        text = output(s, "late", "http", f"{impatient} net.load_clients=64")
        check.has(text, r"^load: http, .*: \d+ sessions, [1-9]\d* failed, ")
        check.has(text, r"^load: [1-9]\d* sessions were given up, .* 1 ms$")
    with s.test("where no session goes well, the load ends"):
        text = output(
            s,
            "dead",
            "http",
            "net.load_timeout=1 net.load_clients=256 net.load_sessions=30000",
        )
        check.has(text, "given up, without an answer for 1 ms$")
        check.has(
            text,
            r"^load: no more sessions were begun after \d+ of these without "
            "one that went well$",
        )
        check.has(text, r"^load: http, .*: \d{1,4} sessions, \d{3,4} failed, ")
    with s.test("a load that ends by itself was not cut short"):
        text = output(
            s,
            "slow",
            "http",
            "net.load_timeout=1 net.load_clients=256 net.load_sessions=512",
        )
        check.has(text, r"^load: [1-9]\d* sessions were given up, .* 1 ms$")
        check.lacks(text, "no more sessions|does not answer")
    with s.test("what means nothing is ignored"):
        bad = (
            "net.load=often net.load_clients=0 net.load_clients=1025 "
            "net.load_sessions=x net.load_path=no net.load_no=1 "
        )
        text = output(s, "bad", "http", f"{bad} net.load_sessions=9")
        for word in bad.split():
            check.has(text, rf'^options: "{re.escape(word)}" ignored: ')
        check.has(text, "^load: http, closed, 8 clients: 9 sessions, 0 fail")
    with s.test("an image without clients has none of these options"):
        with s.guest(
            s.part, "http", append="net.load_clients=4", icount=0
        ) as guest:
            check.same(guest.end(), 1)  # it has no network, either
            check.has(guest.text(), '^options: "net.load_clients=4" ignored: ')


def test_causal(s, name, progress, words):
    causal = f"{words} prof.hz=4000 prof.causal=auto prof.progress={progress}"
    with s.test(f"{name}: experiments with it"):
        first = output(s, f"causal-{name}", name, causal)
        s.note(first)
        check.has(first, r"^load: .* bytes \([0-9a-f]{8}\), 0 not in order$")
        check.has(first, r"^--- causal profile: \d+ experiments$")
        check.has(
            first, r"^model check: (none|[0-9]+) of \d+ answers came earlier"
        )
        check.lacks(first, "(?:load_work|frame_build) is a target")
    if s.part in by_turns(("http", "irc").index(name)):
        with s.test(f"{name}: experiments again to the instruction"):
            again(s, f"causal-{name}", name, causal, first)


def suite(s):
    for name in LOADS:
        test_kind(s, name)
    test_loop(s)
    test_after_experiments(s)
    test_many_clients(s)
    test_refused(s)
    test_causal(
        s,
        "irc",
        "irc::Server::privmsg",
        "net.load_sessions=4000 net.load_clients=32",
    )
    test_causal(s, "http", "http_answer", "net.load_sessions=100")
