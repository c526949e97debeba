# SPDX-License-Identifier: Apache-2.0
"""Real clients: irssi in a terminal of tmux, and ii, join a channel of the
booted server, talk to each other, and quit."""

import os
import re
import shutil

from harness.suite import background, check, run, soon
from sessions import PASSWORD, PATIENCE_S, loadgen, until_served


class Terminal:
    """irssi in tmux."""

    def __init__(self, s, home, port):
        self.tmux = ("tmux", "-L", f"parasite.{os.getpid()}")
        (home / "irssi").mkdir()
        # -f /dev/null: no settings of the user's
        run(
            *(*self.tmux, "-f", "/dev/null", "new-session", "-d"),
            *("-x", 100, "-y", 40),
            f"TERM=screen HOME={home} irssi --home={home}/irssi "
            f"-c 127.0.0.1 -p {port} -n anna",
        )

    def screen(self):
        return run(*self.tmux, "capture-pane", "-p", "-S", -200).out

    def wait(self, pattern):
        soon(lambda: re.search(pattern, self.screen()), pattern)

    def type(self, line):
        run(*self.tmux, "send-keys", "-l", line)
        run(*self.tmux, "send-keys", "Enter")

    def end(self):
        run(*self.tmux, "kill-server", status=None)


def is_pipe(path):
    soon(path.is_fifo, f"{path}")
    return path


def file_has(path, words):
    soon(
        lambda: path.exists()
        and words in path.read_text(encoding="latin-1", errors="replace"),
        words,
    )


def converse(irssi, server):
    """(server) is ii's folder."""
    pipe, room = is_pipe(server / "in"), server / "#room"
    file_has(server / "out", "You are being profiled")
    pipe.write_text("/j #room\n", encoding="ascii")
    is_pipe(room / "in").write_text("hello from ii\n", encoding="ascii")
    irssi.wait("berta> hello from ii")
    irssi.type("hello from irssi")
    file_has(room / "out", "<anna> hello from irssi")
    irssi.type("/topic all about ticks")
    file_has(room / "out", "all about ticks")
    irssi.type("/names #room")
    irssi.wait("Total of 2 nicks")
    irssi.type("/whois berta")
    irssi.type("/window 1")
    irssi.wait("End of WHOIS")
    irssi.type("/window 2")
    (room / "in").write_text("/l gone\n", encoding="ascii")
    irssi.wait("berta .* has left #room")
    irssi.type("/quit good night")


def conversation(s, guest):
    home, port = s.work / "home", guest.port(6667)
    shutil.rmtree(home, ignore_errors=True)
    (home / "ii").mkdir(parents=True)
    address = f"127.0.0.1:{port}"
    until_served(s, guest, address)
    loadgen(s, "-n", 1, "--first", 1, "--timeout", PATIENCE_S, address)
    irssi = Terminal(s, home, port)
    try:
        irssi.wait("End of MOTD")
        irssi.type("/join #room")
        irssi.wait("Irssi: #room: Total of 1 nicks")
        with background(
            *("ii", "-i", home / "ii", "-s", "127.0.0.1"),
            *("-p", port, "-n", "berta"),
            log=s.work / "ii.log",
        ):
            converse(irssi, home / "ii" / "127.0.0.1")
    except AssertionError:
        s.note(irssi.screen().replace("\n", "\n# "))
        raise
    finally:
        irssi.end()


def test_clients(s, width):
    with s.guest(
        *(width, "irc", "clients"),
        append=f"irc.every=0 irc.oper={PASSWORD} prof.every=0",
        forward=[6667],
    ) as guest:
        s.holds(conversation, s, guest)
        with s.test("an operator ends the server"):
            address = f"127.0.0.1:{guest.port(6667)}"
            wrong = loadgen(
                s, "-n", 1, "--first", 2, "--end", "?", address, status=3
            )
            check.contains(wrong.text, "the server did not end")
            check.true(guest.alive())
            loadgen(
                *(s, "-n", 1, "--first", 4, "--timeout", PATIENCE_S),
                *("--end", PASSWORD, address),
            )
            check.same(guest.end(), 0)
