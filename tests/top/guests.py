# SPDX-License-Identifier: Apache-2.0
"""The guest that top looks at, a third of its time asleep, and top."""

from contextlib import contextmanager

from harness.command import Command
from harness.screen import Screen
from harness.suite import check


class Top:
    def __init__(self, s, width):
        self.s, self.width, self.parasite = s, width, Command(s)
        self.image = s.image(width, "split")
        self.screen = Screen(s.work)
        self.guest = None
        # one path for a guest and those that come after it
        self.socket = f"{self.screen.sockets.name}/guest"

    @contextmanager
    def running(self):
        """A guest at the socket, and whichever was booted after it."""
        try:
            self.boot()
            yield
        finally:
            self.screen.close()
            self.guest.kill()

    def boot(self):
        self.boot_with(
            "prof.out=virtio",
            args=[
                "-chardev",
                f"socket,id=s,path={self.socket},server=on,wait=off",
                *("-device", "virtio-serial-pci"),
                *("-device", "virtconsole,chardev=s"),
            ],
        )

    def boot_with(self, append, **options):
        """Returns when QEMU's monitor answers: its socket and its memory are
        there then."""
        self.guest = self.s.guest(
            *(self.width, "split"),
            append=f"prof.every=0 split.idle=33 {append}",
            serial="null",
            monitor=True,
            **options,
        )

    @property
    def target(self):
        return f"unix:{self.socket}"

    def opens(self, columns, *settings):
        """In a terminal, until it shows something."""
        words = (self.parasite.path, "top", "--delay", 0.5, "-k", self.image)
        self.screen.opens(columns, 20, (*words, self.target), settings)
        self.screen.shows(r"^ *[0-9.]*%.* leaf_a( |$)")

    def tables(self, seconds, *words, **options):
        """As text, one each so many seconds."""
        return self.parasite(
            *("top", "--delay", seconds, "-k", self.image),
            *words,
            self.target,
            **options,
        )


def soon_has(background, pattern):
    """A line of what it printed, soon."""

    def attempt():
        return check.has(background.text(), pattern)

    background.soon(attempt, f"a line {pattern!r}")
