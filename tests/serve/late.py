# SPDX-License-Identifier: Apache-2.0
"""Captures of several hosts, one of which answers late and another never."""

import re
import shutil
import socket
import tempfile
import threading
from contextlib import ExitStack

from harness.suite import check, listening

LEADS = (2, 4, 8, 16)


def pour(source, sink):
    """Passes bytes on until an end."""
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Late:
    """What stands before a serve: it passes nothing on of the first
    connection, and all of those that follow. Without a serve, never. Keeps
    the first lines."""

    def __init__(self, serve=None):
        self.serve, self.lines = serve, []
        self.folder = tempfile.mkdtemp(prefix="late.")
        self.socket, self.address = listening(self.folder)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(
                target=self._pass_on, args=(client,), daemon=True
            ).start()

    def _pass_on(self, client):
        with ExitStack() as stack:
            stack.enter_context(client)
            line = b""
            while not line.endswith(b"\n"):
                if not (byte := client.recv(1)):
                    return
                line += byte
            self.lines.append(line.decode())
            if self.serve is None or len(self.lines) == 1:
                client.recv(1)  # nothing follows but the end
                return
            server = stack.enter_context(self.serve.connect())
            server.sendall(line)
            there = threading.Thread(target=pour, args=(client, server))
            there.start()
            pour(server, client)
            there.join()

    def begins(self):
        """When it was asked to begin, Unix seconds."""
        found = [re.search(r" begin=(\d+) ", line) for line in self.lines]
        return [int(match[1]) for match in found if match]


def begun(folder):
    """When the last of a serve's captures has begun."""
    return max(
        (int(path.name.split("-")[1]) for path in folder.glob("capture-*-*")),
        default=0,
    )


def test_late(s, serving, captured, answering):
    """All hosts begin at the same second, even if one of them does not answer
    in time; who never answers is given up after some seconds."""
    folders = [s.work / f"late{i}" for i in (1, 2)]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    with ExitStack() as stack:
        one, two = (
            stack.enter_context(
                serving(s, "--captures", folder, name=folder.name)
            )
            for folder in folders
        )
        late, never = (
            stack.enter_context(Late(serve)) for serve in (two, None)
        )
        guests = [answering(one, 50), answering(two, 51)]
        froms = (one.address, late.address, never.address)
        words = [word for address in froms for word in ("--from", address)]
        process = stack.enter_context(
            captured(s, *words, "--rate", 500, name="late")
        )
        process.soon(
            lambda: f"{never.address}: no answer\n" in process.text(),
            "the end of its patience",
        )
        for folder in folders:
            process.soon(
                lambda folder=folder: begun(folder) == late.begins()[-1],
                f"the last capture in {folder.name}",
            )
        for guest in guests:
            guest.send_rest()
        process.end(status=1)
        text = process.text()
        for lead in LEADS[1:]:
            check.contains(text, f"asked again, to begin in {lead} s\n")
        check.same(text.count("asked again"), len(LEADS) - 1)
        begins = never.begins()
        check.same((len(begins), begins), (len(LEADS), late.begins()))
        check.true(begins == sorted(set(begins)), begins)
        check.same(len(list((s.work / "late").glob("*.trace"))), 2)
        one.stop()
        two.stop()
