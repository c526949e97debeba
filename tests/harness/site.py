# SPDX-License-Identifier: Apache-2.0
"""The web server of services/http in a guest, its files, and who asks it."""

import os

from .suite import check, run

# with the names of what else a query may have
SECRET = "01-hz-seconds-format-ef"
TOKEN = f"token={SECRET}"


def promtool(s, name="promtool"):
    """The checker of metrics, or another program of Debian's Prometheus."""
    return s.debian("prometheus", "usr/bin") / name


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

        guest.soon(attempt, "an answer of the server")

    def get(self, path, *options):
        """The body, as bytes."""
        return run("curl", "-s", *options, self.url + path).data

    def status(self, wanted, path, *options):
        done = run(
            *("curl", "-s", "-o", self.s.work / "body"),
            *("-w", "%{http_code}", *options, self.url + path),
        )
        check.same(done.out, str(wanted))

    def serves_big(self, *options):
        """The large file arrives as it is."""
        got, wanted = self.get("/big", *options), self.folder / "big"
        check.true(got == wanted.read_bytes(), "the file is another")
