# SPDX-License-Identifier: Apache-2.0
"""A program in a terminal of tmux: its keys and its screen."""

import re
import tempfile
from pathlib import Path

from .suite import check, run, soon


class Screen:
    """One terminal after another, each with a server of its own: one that is
    being ended may take its socket away later."""

    def __init__(self, folder):
        self.folder, self.count = Path(folder), 0
        self.sockets = tempfile.TemporaryDirectory(prefix="screen.")
        self.left, self.said = self.folder / "left", self.folder / "said.top"
        self.lines = []

    def tmux(self, *words, **options):
        socket = f"{self.sockets.name}/{self.count}"
        command = ("tmux", "-S", socket, "-f", "/dev/null")
        return run("env", "-u", "TMUX", *command, *words, **options)

    def opens(self, columns, rows, words, settings=()):
        """(words) in a new terminal of that size, in an environment with
        (settings) as well. Its exit code will be in the file (left)."""
        self.close()
        self.count += 1
        self.left.unlink(missing_ok=True)
        script = (
            f'trap : INT; "$0" "$@" 2>\'{self.said}\'; '
            f"echo \"$?\" >'{self.left}.new'; mv '{self.left}.new' "
            f"'{self.left}'"
        )
        self.tmux(
            *("new-session", "-d", "-x", columns, "-y", rows),
            *("env", "LANG=C.UTF-8", "TERM=screen-256color", *settings),
            *("sh", "-c", script, *words),
        )

    def close(self):
        self.tmux("kill-server", status=None)

    def code(self):
        """The program's exit code, once it has ended."""
        return int(
            soon(
                lambda: self.left.exists() and self.left.read_text(),
                "the program's end",
            )
        )

    def pid(self):
        """Of the program, which the terminal's shell has started."""
        shell = self.tmux("display", "-p", "#{pane_pid}").out.strip()
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text()
        return int(children.split()[0])

    def turns(self):
        """How often the program has gone to sleep so far."""
        status = Path(f"/proc/{self.pid()}/status").read_text()
        return int(re.search(r"^voluntary_ctxt\w*:\s*(\d+)", status, re.M)[1])

    # ---- what is typed and seen

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def clear(self, count=20):
        """That many backspaces."""
        self.tmux("send-keys", "-N", count, "BSpace")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def look(self):
        """The lines of the screen."""
        self.lines = self.tmux("capture-pane", "-p").lines()
        return self.lines

    def painted(self):
        """The lines with their colours."""
        return self.tmux("capture-pane", "-ep").lines()

    def text(self):
        return "\n".join(self.lines)

    def shows(self, pattern):
        """Soon a line of the screen fits it."""
        soon(
            lambda: check.has("\n".join(self.look()), pattern) and True,
            f"{pattern!r} on the screen",
        )

    def lacks(self, pattern):
        """Soon none does."""

        def gone():
            check.lacks("\n".join(self.look()), pattern)
            return True

        soon(gone, f"no {pattern!r} on the screen")
