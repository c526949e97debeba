# SPDX-License-Identifier: Apache-2.0
"""QEMU's monitor, by its machine protocol (QMP)."""

import json
import socket

from . import progress


class Monitor:
    """Connects to the socket at (path) while alive() is true."""

    def __init__(self, path, alive):
        self.socket = socket.socket(socket.AF_UNIX)

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
        self._answer("QMP")
        self.command("qmp_capabilities")

    def _answer(self, key="return"):
        for line in self.file:
            try:
                words = json.loads(line)
            except ValueError:  # an event, of very many, that was cut
                continue
            if "error" in words:
                raise RuntimeError(words["error"]["desc"])
            if key in words:
                return words[key]
        raise RuntimeError("the monitor is gone")

    def command(self, name, **arguments):
        """QEMU's answer to the command."""
        if not self.file:
            raise RuntimeError("no monitor: QEMU has ended")
        words = {"execute": name}
        if arguments:
            words["arguments"] = arguments
        self.file.write(json.dumps(words) + "\n")
        self.file.flush()
        return self._answer()

    def human(self, line):
        """QEMU's answer to (line), a command of the human monitor."""
        return self.command("human-monitor-command", **{"command-line": line})

    def close(self):
        if self.file:
            self.file.close()
        self.socket.close()
