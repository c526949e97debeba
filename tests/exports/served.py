# SPDX-License-Identifier: Apache-2.0
"""What `parasite open` serves and what it refuses."""

import base64
import gzip
import http.client
import json
import re
import signal
import socket
from contextlib import contextmanager

from harness import progress
from harness.process import free_port
from harness.suite import background, check, run, soon

FORMATS = {
    "/profile.json": "firefox",
    "/profile.pb.gz": "pprof",
    "/profile.trace.json": "chrome",
    "/perf.data": "perf",
    "/profile.perfetto-trace": "perfetto",
    "/profile.folded": "folded",
    "/callgrind.out": "callgrind",
}
VIEWER = "https://profiler.firefox.com"


class Open:
    """The command and the trace that it serves."""

    def __init__(self, s, parasite, trace):
        self.work, self.parasite, self.trace = s.work, parasite, trace

    @contextmanager
    def server(self, *words, browser="false", number=signal.SIGINT):
        """Gives its port; it ends well when it is asked to."""
        with background(
            *(self.parasite.path, "open", *words, self.trace),
            log=self.work / "server.log",
            env={"BROWSER": browser},
        ) as server:
            port = soon(
                lambda: re.search(
                    r"^http://127\.0\.0\.1:(\d+)/?\n", server.text(), re.M
                ),
                "its address",
                server.alive,
            )
            yield int(port[1])
            server.signal(number)
            server.end(0)

    def exported(self, kind):
        words = ("export", "-q", "-f", kind, "-o", "/dev/stdout")
        return self.parasite(*words, self.trace).data


def ask(port, path, method="GET", **headers):
    connection = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=progress.WAIT_S
    )
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def pages_are_exports(opened, port):
    for path, kind in FORMATS.items():
        status, headers, body = ask(port, path)
        check.same(status, 200, path)
        check.true(body == opened.exported(kind), path)
        check.same(headers["X-Content-Type-Options"], "nosniff", path)
        # once more, from what is kept
        check.true(ask(port, path)[2] == body, path)
        status, headers, nothing = ask(port, path, "HEAD")
        check.same((status, nothing), (200, b""), path)
        check.same(int(headers["Content-Length"]), len(body), path)


def split(page):
    """A page's template, and the JSON and the columns of its payload."""
    before, packed, after = re.fullmatch(
        rb"(.*octet-stream\">)([^<]+)(<.*)", page, re.S
    ).groups()
    payload = gzip.decompress(base64.b64decode(packed))
    end = 4 + int.from_bytes(payload[:4], "little")
    return before + after, json.loads(payload[4:end]), payload[end:]


def flame_graph_is_served(opened, port):
    """As parasite flame makes it, but that it knows the other pages."""
    words = ("flame", "-q", "-o", "-", opened.trace)
    template, head, columns = split(opened.parasite(*words).data)
    status, headers, body = ask(port, "/flame.html")
    check.same(status, 200)
    check.contains(headers["Content-Type"], "text/html")
    served, served_head, served_columns = split(body)
    check.true(served == template and b"</html>" in served)
    check.true(served_columns == columns)
    check.same(served_head, {**head, "served": True})


def overview_is_safe(port):
    """No name of a function is in its markup."""
    status, headers, body = ask(port, "/")
    check.same(status, 200)
    check.contains(headers["Content-Type"], "text/html")
    template, head, _ = split(body)
    check.contains(template.decode(), "default-src 'none'")
    check.lacks(template.decode(), "operator<<")
    names = [one["name"] for one in head["functions"]]
    check.true(any("operator<< <char" in name for name in names), names)
    for path in FORMATS:
        check.contains(template.decode(), f"'{path[1:]}'")


def others_are_refused(port):
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port}.evil.example",
        f"0.0.0.0:{port}",
        "",
    ):
        check.same(ask(port, "/profile.json", Host=host)[0], 403, host)
    check.same(ask(port, "/", Host=f"localhost:{port}")[0], 200)
    check.same(ask(port, "/", "POST")[0], 405)
    check.same(ask(port, "/", "PUT")[0], 405)
    for path in ("/nothing", "//", "/../profile.json", "/profile.json/"):
        check.same(ask(port, path)[0], 404, path)


def only_viewers_may_read(port):
    allow = "Access-Control-Allow-Origin"

    def allowed(method, origin):
        headers = ask(port, "/profile.json", method, Origin=origin)[1]
        return headers.get(allow)

    for method in ("GET", "OPTIONS"):
        check.same(allowed(method, VIEWER), VIEWER, method)
        for origin in (
            "https://evil.example",
            "null",
            VIEWER + ".evil.example",
            f"http://127.0.0.1:{port}",
        ):
            check.same(allowed(method, origin), None, origin)


def only_here(port):
    """127.0.0.2 is this machine as well, but no address of the server's."""
    for family, address in (
        (socket.AF_INET, "127.0.0.2"),
        (socket.AF_INET6, "::1"),
    ):
        with socket.socket(family) as there:
            check.true(there.connect_ex((address, port)) != 0, address)


def browser_is_started(opened):
    asked, script = opened.work / "asked", opened.work / "browser"
    script.write_text(
        f'#!/bin/sh\necho "$@" >"{asked}.new"\nmv "{asked}.new" "{asked}"\n'
    )
    script.chmod(0o755)
    asked.unlink(missing_ok=True)
    with opened.server(
        "--no-browser", browser=script, number=signal.SIGTERM
    ) as port:
        ask(port, "/")
    check.true(not asked.exists(), "a browser in spite of --no-browser")
    with opened.server(browser=f"{script} --new-window") as port:
        soon(asked.exists, "the browser")
        wanted = f"--new-window http://127.0.0.1:{port}/\n"
        check.same(asked.read_text(), wanted)


def port_is_asked_for(opened):
    port, words = free_port(), ("open", "--no-browser", "--port")
    with opened.server(*words[1:], port) as given:
        check.same(given, port)
        second = opened.parasite(*words, port, opened.trace, status=1)
        check.contains(second.err, "cannot listen")
    for bad in ("65536", "-1", "x", ""):
        run(
            *(opened.parasite.path, "open", "--port", bad, opened.trace),
            status=2,
        )


def all_is_served(opened):
    """What it should, to whom it should."""
    with opened.server("--no-browser") as port:
        pages_are_exports(opened, port)
        overview_is_safe(port)
        flame_graph_is_served(opened, port)
        others_are_refused(port)
        only_viewers_may_read(port)
        only_here(port)
    browser_is_started(opened)
    port_is_asked_for(opened)
