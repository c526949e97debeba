# SPDX-License-Identifier: Apache-2.0
"""services/http: files, refusals, metrics and profiles."""

import os
import re

import talk
from harness.command import Command
from harness.site import SECRET, TOKEN, Site, promtool
from harness.suite import background, check, given_time, run, soon


def answered(site, wanted, data):
    """Raw bytes are answered with that status."""
    first = talk.raw(site.address, data).partition(b"\r\n")[0].decode()
    check.has(first, f"^HTTP/1.1 {wanted} ")


def one_connection(site):
    done = run(
        *("curl", "-s", "-o", os.devnull, "-o", os.devnull),
        *("-w", "%{num_connects}\n"),
        *(f"{site.url}/index.html", f"{site.url}/index.html"),
    )
    check.same(done.lines(), ["1", "0"])


def wrk(site):
    # longer than the harness lets anything stand still; the memory that wrk
    # takes is in proportion to it
    done = run(
        *("wrk", "-t", 2, "-c", 50, "-d", 3, "--timeout", "600s"),
        f"{site.url}/index.html",
    )
    check.has(done.text, "requests in")
    check.lacks(done.text, "Socket errors|Non-2xx")


def metrics(site):
    text = site.get("/metrics", "-H", f"Authorization: Bearer {SECRET}")
    lines = text.decode()
    check.has(lines, "^parasite_samples_total [1-9]")
    check.has(lines, '^parasite_function_seconds_total{function="')
    run(promtool(site.s), "check", "metrics", data=text)


def folded(site, seconds=2):
    """The samples of that many seconds at 500 Hz, or of a process, whose timer
    has one rate, at 1,000; a busy machine may miss some of them, and is then
    given more time."""
    path = f"/profile?seconds={seconds}&hz=500&{TOKEN}"
    lines = site.get(path).decode("latin-1").splitlines()
    total = 0
    for line in lines:
        check.true(re.match(r"[^ ].* [0-9]+$", line), line)
        total += int(line.rpartition(" ")[2])
    hz = 1000 if site.s.processes else 500
    check.between(total, 300, 1.1 * hz * seconds)


def traced(site, seconds=2):
    parasite, s = Command(site.s), site.s
    packets, trace = s.work / "profile.bin", s.work / "http.trace"
    packets.write_bytes(
        site.get(f"/profile?seconds={seconds}&hz=500&format=trace&{TOKEN}")
    )
    image = s.image(s.width, "http")
    parasite.record(trace, "-q", "-k", image, f"file:{packets}")
    check.true(parasite.info(trace)["samples"] > 300)


def with_time(function, site):
    """With two seconds, or where a busy host could not do it in these, more."""
    return given_time(lambda seconds: function(site, seconds), (2, 8, 32, 128))


def one_at_a_time(site):
    """A second profile is refused; once its reader has gone away, another is
    taken."""
    path = f"/profile?seconds=1&{TOKEN}"
    long = f"{site.url}/profile?seconds=600&{TOKEN}"

    def status(wanted):
        site.status(wanted, path)
        return True

    def refused():
        # where the second one comes first, the first one is refused instead
        with background("curl", "-s", long, log=site.s.work / "long") as first:
            first.soon(lambda: status(409), "the refusal")
            return first.alive()

    soon(refused, "the refusal of a second profile")
    soon(lambda: status(200), "a profile after the first")


def test_files(site):
    s = site.s
    s.holds("curl gets a file", site.status, 200, "/index.html")
    with s.test("it is the file that was served"):
        check.true(
            (s.work / "body").read_bytes()
            == (site.folder / "index.html").read_bytes(),
            "another file",
        )
    s.holds("a large file arrives whole", site.serves_big)
    slowly = ("--limit-rate", "200k")
    s.holds("a reader may be slow", site.serves_big, *slowly)
    s.holds("two requests share a connection", one_connection, site)
    s.holds("a missing file is not found", site.status, 404, "/none")
    s.holds("HEAD has no body", site.status, 200, "/big", "-I")
    s.holds("POST is not allowed", site.status, 405, "/", "-d", "x")
    long = f"/{'a' * 10000}"
    s.holds("a long request line is refused", site.status, 414, long)
    nul = b"GET /\x00 HTTP/1.1\r\n\r\n"
    s.holds("a NUL is refused", answered, site, 400, nul)
    bare = b"GET / HTTP/1.1\r\n\r\n"
    s.holds("a request without Host is refused", answered, site, 400, bare)
    old = b"GET / HTTP/1.0\r\n\r\n"
    s.holds("HTTP/1.0 is answered", answered, site, 200, old)
    what = "a thousand requests at once are answered"
    s.holds(what, talk.pipelined, site.address, 1000)
    s.holds("wrk reports no errors", wrk, site)


def test_profiles(site):
    s = site.s

    wrong = f"/metrics?{TOKEN}-"
    bearer = ("-H", "Authorization: Bearer 0")
    none = f"/profile?hz=0&{TOKEN}"
    s.holds("metrics need the token", site.status, 401, "/metrics")
    s.holds("a wrong token is refused", site.status, 403, wrong)
    s.holds("also for a profile", site.status, 403, "/profile", *bearer)
    s.holds("Prometheus accepts the metrics", metrics, site)
    s.holds("a folded profile is taken", with_time, folded, site)
    s.holds("a trace is taken", with_time, traced, site)
    s.holds("a rate out of bounds is refused", site.status, 400, none)
    s.holds("one profile is taken at a time", one_at_a_time, site)


def test_http(s):
    site = Site(s)
    with site.guest(
        "http",
        f"http.token={SECRET}",
        modules=[site.archive],
        nic="disable-legacy=on",
    ) as guest:
        site.reach(guest)
        test_files(site)
        test_profiles(site)
    with site.guest("open", "") as guest:
        site.reach(guest)
        what = "without a token set,"
        s.holds(f"{what} there is a list", site.status, 200, "/")
        s.holds(f"{what} no metrics", site.status, 404, "/metrics?token=")
        s.holds(f"{what} no profile", site.status, 404, "/profile?token=")
