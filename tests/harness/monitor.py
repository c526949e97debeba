# SPDX-License-Identifier: Apache-2.0
"""QEMU's monitor, by its machine protocol (QMP)."""

import json
import socket
from contextlib import suppress

from . import progress


class MonitorGone(Exception):
    """QEMU has ended; has its own messages."""


class Monitor:
    """Connects to the socket at (path) while alive() is true. said() gives the
    messages of QEMU. Where QEMU has ended, (file) is None."""

    def __init__(self, path, alive, said):
        self.said = said
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(progress.WAIT_S)

        def connected():
            try:
                self.socket.connect(path)
            except OSError:
                return False
            return True

        if not progress.until(connected, alive=alive):
            self.socket.close()
            self.file = None
            return
        self.file = self.socket.makefile("rw", encoding="utf-8")
        try:
            self._answer("QMP")
            self.command("qmp_capabilities")
        except MonitorGone:
            self.close()

    def _lines(self):
        """What QEMU sends. It may end at any time, and then what it has not
        read makes an error of the end of file."""
        try:
            for line in self.file:  # `yield from` would close it
                yield line
        except ConnectionError:
            pass
        except TimeoutError as late:
            raise progress.Overdue("no answer of QEMU's monitor") from late

    def _answer(self, key="return"):
        for line in self._lines():
            try:
                words = json.loads(line)
            except ValueError:  # an event, of very many, that was cut
                continue
            if "error" in words:
                raise RuntimeError(words["error"]["desc"])
            if key in words:
                return words[key]
        raise self._gone()

    def _gone(self):
        return MonitorGone(f"no monitor: QEMU has ended: {self.said()}")

    def command(self, name, **arguments):
        """QEMU's answer to the command."""
        if not self.file:
            raise self._gone()
        words = {"execute": name}
        if arguments:
            words["arguments"] = arguments
        with suppress(ConnectionError):  # then there is no answer
            self.file.write(json.dumps(words) + "\n")
            self.file.flush()
        return self._answer()

    def human(self, line):
        """QEMU's answer to (line), a command of the human monitor."""
        return self.command("human-monitor-command", **{"command-line": line})

    def close(self):
        if self.file:
            with suppress(ConnectionError):  # what was not sent yet
                self.file.close()
        self.file = None
        self.socket.close()
