# SPDX-License-Identifier: Apache-2.0
"""Recording never loses a trace, and writes to no file but its own."""

import contextlib
import http.client
import os
import re
import shutil
import signal

from harness import progress
from harness.suite import background, check, open_pipe, soon

PAGES = ("/flame.html", "/profile.json", "/perf.data", "/profile.folded")


class Folder:
    """A folder with the good trace x.trace."""

    def __init__(self, hostile, name):
        self.hostile, self.parasite = hostile, hostile.parasite
        self.path = hostile.work / name
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir()
        self.trace, self.old = self.path / "x.trace", self.path / "x.trace.old"
        self.record(20000)

    def record(self, samples, trace=None):
        data = self.hostile.good(samples, samples % 200)
        return self.hostile.record(trace or self.trace, data, "-q")

    def samples(self, trace=None):
        return self.hostile.samples(trace or self.trace)


def no_packet_keeps_the_old(hostile):
    folder = Folder(hostile, "kept")
    words = ("record", "-o", folder.trace)
    folder.parasite(*words, "file:/etc/hostname", status=1)
    folder.parasite(*words, "file:/dev/null", status=1)
    check.same(folder.samples(), 20000)
    check.same(os.listdir(folder.path), ["x.trace"])


def old_one_is_renamed(hostile):
    folder = Folder(hostile, "renamed")
    folder.record(300)
    check.same((folder.samples(), folder.samples(folder.old)), (300, 20000))
    folder.record(400)
    check.same((folder.samples(), folder.samples(folder.old)), (400, 300))
    folder.record(500, f"{folder.trace}//")
    check.same((folder.samples(), folder.samples(folder.old)), (500, 400))


def what_is_no_trace_stays(hostile):
    """Neither in the folder, nor in the one that it would be renamed to."""
    folder = Folder(hostile, "mixed")
    (folder.trace / "notes").write_text("mine")
    folder.record(300)
    check.same((folder.old / "notes").read_text(), "mine")
    said = folder.hostile.record(
        folder.trace, folder.hostile.good(400), status=1
    )
    check.contains(said.err, "which holds something else")
    check.same((folder.samples(), folder.samples(folder.old)), (300, 20000))
    other = folder.path / "other"
    other.mkdir()
    (other / "file").write_text("mine")
    folder.hostile.record(other, folder.hostile.good(400), status=1)
    check.same(os.listdir(other), ["file"])


def links_are_not_followed(hostile):
    folder = Folder(hostile, "links")
    victim = folder.path / "victim"
    for name in ("stream", "metadata"):
        victim.write_text("precious")
        (folder.trace / name).unlink()
        (folder.trace / name).symlink_to(victim)
        folder.record(300)
        check.same(victim.read_text(), "precious", name)
        check.same(folder.samples(), 300)
    link = folder.path / "link"
    link.symlink_to(folder.trace)
    said = folder.hostile.record(link, folder.hostile.good(), status=1)
    check.contains(said.err, "symbolic link")
    check.same(folder.samples(), 300)


def each_boot_keeps_its_old(hostile):
    """Also those whose number is not the first."""
    folder = Folder(hostile, "boots")
    second = folder.path / "x.trace-2"
    folder.record(300, second)
    both = hostile.good(400, 1) + hostile.good(500, 2)
    hostile.record(folder.trace, both, "-q")
    check.same((folder.samples(), folder.samples(second)), (400, 500))
    check.same(folder.samples(folder.path / "x.trace-2.old"), 300)


def get(port, path):
    connection = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=progress.WAIT_S
    )
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


@contextlib.contextmanager
def opened(folder):
    """A server of the folder's trace, and its port."""
    with background(
        *(folder.parasite.path, "open", "--no-browser", folder.trace),
        log=folder.path / "log",
    ) as server:
        port = soon(
            lambda: re.search(r"127\.0\.0\.1:(\d+)/", server.text()),
            "its address",
            server.alive,
        )
        yield server, int(port[1])


def served_one_may_be_recorded_anew(hostile):
    """The server goes on with what it opened: a page that it makes after the
    new recording is that of the old trace."""
    folder = Folder(hostile, "served")
    export = ("export", "-q", "-f", "folded", folder.trace)
    expected = folder.parasite(*export).data
    with opened(folder) as (server, port):
        for samples, page in zip((10, 20, 30, 40), PAGES):
            folder.record(samples)
            status, body = get(port, page)
            check.same(status, 200, page)
        check.same(body, expected)
        server.signal(signal.SIGINT)
        server.end(0)


def cut_file_is_one_line(hostile):
    """What somebody else cuts while it is read ends in a message."""
    folder = Folder(hostile, "cut")
    with opened(folder) as (server, port):
        os.truncate(folder.trace / "stream", 0)
        try:
            get(port, "/flame.html")
        except (OSError, http.client.HTTPException):
            pass
        server.end(1)
        check.contains(server.text(), "became shorter while it was read")


def odd_files_are_refused(hostile):
    """No pipe is waited for, and no device read to its end."""
    folder = Folder(hostile, "odd")
    for name, status in (("metadata", 0), ("stream", 1)):
        (folder.trace / name).unlink()
        os.mkfifo(folder.trace / name)
        folder.parasite("report", "-q", folder.trace, status=status)
    folder.parasite("report", "/dev/zero", status=1)


def two_recorders_do_not_mix(hostile):
    """The first one's trace is renamed while it is written, and is whole."""
    folder = Folder(hostile, "two")
    data, fifo = hostile.good(), folder.path / "fifo"
    os.mkfifo(fifo)
    with background(
        *(folder.parasite.path, "record", "-q", "-o", folder.trace, fifo),
        log=folder.path / "log",
    ) as first:
        with open_pipe(fifo, first.alive) as out:
            out.write(data[: len(data) // 2])
            soon(lambda: folder.old.exists(), "its first packet", first.alive)
            folder.record(300)
            out.write(data[len(data) // 2 :])
        first.end(0)
    check.same((folder.samples(), folder.samples(folder.old)), (300, 20000))


def test_files(hostile):
    s = hostile.s
    for what, function in (
        ("without a packet the old trace stays", no_packet_keeps_the_old),
        ("with one it is renamed", old_one_is_renamed),
        ("other files are not lost", what_is_no_trace_stays),
        ("symbolic links are not followed", links_are_not_followed),
        ("each boot's old trace is kept", each_boot_keeps_its_old),
        (
            "a served trace may be recorded anew",
            served_one_may_be_recorded_anew,
        ),
        ("a file that is cut ends in one line", cut_file_is_one_line),
        ("pipes and devices are no traces", odd_files_are_refused),
        ("two recorders do not mix their packets", two_recorders_do_not_mix),
    ):
        s.holds(what, function, hostile)
