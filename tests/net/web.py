# SPDX-License-Identifier: Apache-2.0
"""services/http: files, refusals, metrics and profiles."""

import fcntl
import os
import re
import shutil

import talk
from harness.command import Command
from harness.suite import background, check, given_time, run, soon

# with the names of what else a query may have
SECRET = "01-hz-seconds-format-ef"
TOKEN = f"token={SECRET}"
PACKAGE = "prometheus"


def promtool(s, name="promtool"):
    """The checker of metrics, or another program, out of Debian's package,
    fetched once for all suites. It is not installed: that would start a server,
    and bring along what its pages need."""
    folder = s.build / PACKAGE
    tool = folder / "usr/bin" / name
    folder.mkdir(exist_ok=True)
    with open(folder / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not tool.exists():
            soon(lambda: fetch(folder), f"Debian's package {PACKAGE}")
    return tool


def fetch(folder):
    """The package's programs, all or none of them. Fails where the mirror is
    out of reach for a moment."""
    for old in folder.glob("*.deb"):
        old.unlink()
    run("apt-get", "-qq", "download", PACKAGE, cwd=folder)
    (package,) = folder.glob("*.deb")
    files = run("dpkg-deb", "--fsys-tarfile", package).data
    new = folder / "new"
    new.mkdir(exist_ok=True)
    run("tar", "-x", "-C", new, "./usr/bin", data=files)
    shutil.rmtree(folder / "usr", ignore_errors=True)
    os.replace(new / "usr", folder / "usr")
    package.unlink()
    return True


class Site:
    """A web server in a guest, its files, and curl."""

    def __init__(self, s):
        self.s, self.folder = s, s.work / "site"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "index.html").write_text(
            "<!doctype html><title>site</title>\n", encoding="ascii"
        )
        (self.folder / "big").write_bytes(os.urandom(1000000))
        self.archive = s.work / "site.tar"
        run("tar", "-C", self.folder, "-cf", self.archive, ".")
        self.address, self.url = None, None

    def guest(self, name, append, **options):
        return self.s.guest(
            *(self.s.width, "http", name),
            append=f"prof.every=0 {append}",
            forward=[80],
            **options,
        )

    def reach(self, guest):
        """Waits until (guest) serves."""
        self.address = ("127.0.0.1", guest.port(80))
        self.url = f"http://127.0.0.1:{self.address[1]}"

        def attempt():
            done = run("curl", "-s", "-o", os.devnull, self.url, status=None)
            return done.status == 0

        soon(attempt, "an answer of the server", guest.alive)

    def get(self, path, *options):
        """The body, as bytes."""
        return run("curl", "-s", *options, self.url + path).data

    def status(self, wanted, path, *options):
        done = run(
            *("curl", "-s", "-o", self.s.work / "body"),
            *("-w", "%{http_code}", *options, self.url + path),
        )
        check.same(done.out, str(wanted))

    def answered(self, wanted, data):
        """Raw bytes are answered with that status."""
        first = talk.raw(self.address, data).partition(b"\r\n")[0].decode()
        check.has(first, f"^HTTP/1.1 {wanted} ")


def same_file(site, *options):
    check.true(
        site.get("/big", *options) == (site.folder / "big").read_bytes(),
        "the file is another",
    )


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
    """The samples of that many seconds at 500 Hz; a busy machine may miss
    some of them, and is then given more time."""
    path = f"/profile?seconds={seconds}&hz=500&{TOKEN}"
    lines = site.get(path).decode("latin-1").splitlines()
    total = 0
    for line in lines:
        check.true(re.match(r"[^ ].* [0-9]+$", line), line)
        total += int(line.rpartition(" ")[2])
    check.between(total, 300, 550 * seconds)


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
            soon(lambda: status(409), "the refusal", first.alive)
            return first.alive()

    soon(refused, "the refusal of a second profile")
    soon(lambda: status(200), "a profile after the first")


def test_files(site):
    s, width = site.s, site.s.width

    def holds(what, function, *words):
        s.holds(f"{width}: {what}", function, *words)

    holds("curl gets a file", site.status, 200, "/index.html")
    with s.test(f"{width}: it is the file that was served"):
        check.true(
            (s.work / "body").read_bytes()
            == (site.folder / "index.html").read_bytes(),
            "another file",
        )
    holds("a large file arrives whole", same_file, site)
    holds("a reader may be slow", same_file, site, "--limit-rate", "200k")
    holds("two requests share a connection", one_connection, site)
    holds("a missing file is not found", site.status, 404, "/none")
    holds("HEAD has no body", site.status, 200, "/big", "-I")
    holds("POST is not allowed", site.status, 405, "/", "-d", "x")
    long = f"/{'a' * 10000}"
    holds("a long request line is refused", site.status, 414, long)
    nul = b"GET /\x00 HTTP/1.1\r\n\r\n"
    holds("a NUL is refused", site.answered, 400, nul)
    bare = b"GET / HTTP/1.1\r\n\r\n"
    holds("a request without Host is refused", site.answered, 400, bare)
    old = b"GET / HTTP/1.0\r\n\r\n"
    holds("HTTP/1.0 is answered", site.answered, 200, old)
    holds(
        "a thousand requests at once are answered",
        *(talk.pipelined, site.address, 1000),
    )
    holds("wrk reports no errors", wrk, site)


def test_profiles(site):
    s, width = site.s, site.s.width

    def holds(what, function, *words):
        s.holds(f"{width}: {what}", function, *words)

    wrong = f"/metrics?{TOKEN}-"
    bearer = ("-H", "Authorization: Bearer 0")
    none = f"/profile?hz=0&{TOKEN}"
    holds("metrics need the token", site.status, 401, "/metrics")
    holds("a wrong token is refused", site.status, 403, wrong)
    holds("also for a profile", site.status, 403, "/profile", *bearer)
    holds("Prometheus accepts the metrics", metrics, site)
    holds("a folded profile is taken", with_time, folded, site)
    holds("a trace is taken", with_time, traced, site)
    holds("a rate out of bounds is refused", site.status, 400, none)
    holds("one profile is taken at a time", one_at_a_time, site)


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
        what = f"{s.width}: without a token set,"
        s.holds(f"{what} there is a list", site.status, 200, "/")
        s.holds(f"{what} no metrics", site.status, 404, "/metrics?token=")
        s.holds(f"{what} no profile", site.status, 404, "/profile?token=")
