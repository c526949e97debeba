# SPDX-License-Identifier: Apache-2.0
"""Limits that hold on any host: how long a single wait may last, and CPU time.

Progress is what a test waits for: a line, a byte, an answer, an end. Neither
CPU time nor a guest's time is: a guest that idles takes both, for ever. So

- a wait that does not get what it waits for ends after WAIT_S seconds of the
  host. That is the last resort, for what hangs: far longer than anything that
  is healthy takes, be the host ever so busy. It raises Overdue, which ends the
  suite, since each of its other waits could last as long.
- it ends before that when nobody is left who could bring it: the process that
  the caller named has ended, or all guests of the suite have.
- a process and its descendants may use so many seconds of CPU time, however
  long they take for them.

A suite reports each of its waits to the runner (BEATS), which ends a suite that
has neither begun a wait nor reported a test for BACKSTOP_S: it waits for
something without this module.
"""

import os
import signal
import time
from contextlib import suppress
from typing import NamedTuple

CPU_LIMIT_S = 300  # for one guest or one unit test
BACKSTOP_S = 600  # of the host, for any wait
WAIT_S = 570  # less: the suite itself should say what it waited for
AFTERMATH_S = 60  # for what follows from the end of all guests
POLL_S = 0.5
LOOK_S = 2  # between two looks at its processes, which take CPU time as well
BEATS = "PARASITE_TEST_BEATS"  # environment: the file that waits are noted in

_TICK = os.sysconf("SC_CLK_TCK")


class _Stat(NamedTuple):
    own: float  # CPU seconds
    reaped: float  # of children that ended
    ended: bool  # a zombie


def _stat(pid):
    """Of process (pid); None if it does not exist."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    times = [int(field) / _TICK for field in fields[11:15]]
    return _Stat(sum(times[:2]), sum(times[2:]), fields[0] == "Z")


def _children(pid):
    """Those of all threads of process (pid). Unlike a look at all processes
    that there are, it takes no longer on a host that has many."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found = []
    for task in tasks:
        path = f"/proc/{pid}/task/{task}/children"
        with suppress(OSError), open(path, encoding="ascii") as file:
            found += map(int, file.read().split())
    return found


def tree(root):
    """Process (root) and its living descendants: {pid: CPU seconds}. Those
    of this process itself, which waits, do not count."""
    found, todo = {}, [root]
    while todo:
        pid = todo.pop()
        stat = _stat(pid)
        if stat and (pid == root or not stat.ended):
            own = stat.own if pid != os.getpid() else 0
            found[pid] = stat.reaped + own
            todo += _children(pid)
    return found


def cpu_seconds(root):
    return sum(tree(root).values())


def kill_tree(root):
    """Kills (root) and its descendants, parents first."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in tree(root):
            try:
                os.kill(pid, number)
            except OSError:
                pass


class Overdue(AssertionError):
    """A wait has lasted longer than any may."""


_beaten = [0.0]


def beat():
    """Reports to the runner that this suite goes on: by a byte, at most one in
    a second."""
    path, now = os.environ.get(BEATS), time.monotonic()
    if path and now - _beaten[0] >= 1:
        _beaten[0] = now
        with open(path, "ab") as file:
            file.write(b".")


_guests = []  # those whose end nobody has asked for yet
_bereft = [None]  # since when none of them runs


def has_begun(guest):
    """Waits depend on this guest, until has_ended()."""
    _guests.append(guest)


def has_ended(guest):
    """Its end was asked for, or noticed: waits no longer depend on it."""
    if guest in _guests:
        _guests.remove(guest)


def _guests_are_gone():
    """Whether there are guests, and all have ended some time ago."""
    if not _guests or any(guest.alive() for guest in _guests):
        _bereft[0] = None
        return False
    if _bereft[0] is None:
        _bereft[0] = time.monotonic()
    return time.monotonic() - _bereft[0] > AFTERMATH_S


class Wait:
    """One wait, which begins now. It is pointless once alive() is false."""

    def __init__(self, limit=WAIT_S, alive=lambda: True, what="a wait"):
        self.limit, self.alive, self.what = limit, alive, what
        self.begun = time.monotonic()
        beat()

    def lasts(self):
        """Seconds since it began."""
        return time.monotonic() - self.begun

    def is_pointless(self):
        """Whether nobody is left who could bring it. Raises Overdue where it
        has lasted too long."""
        if not self.alive() or _guests_are_gone():
            return True
        if self.lasts() > self.limit:
            raise Overdue(f"{self.what}: nothing came for {self.limit} s")
        return False


class Watch:
    """Watches process (root), whose end is waited for: no longer than (limit)
    seconds, which begin anew whenever (outputs), files that it writes to, have
    grown: where each line is what a test waits for."""

    def __init__(self, root, cpu_limit=CPU_LIMIT_S, outputs=(), limit=WAIT_S):
        self.root, self.cpu_limit, self.limit = root, cpu_limit, limit
        self.outputs = outputs
        self.used = 0.0
        self.overdue = False  # whether it was the wait that took too long
        self.mark = (0.0, 0)
        self.begin()

    def begin(self):
        """The wait begins now."""
        self.mark = (time.monotonic(), self._written())
        beat()

    def _written(self):
        return sum(
            os.path.getsize(o) for o in self.outputs if os.path.exists(o)
        )

    def verdict(self):
        """Why it must be killed now, or None."""
        self.used = max(self.used, cpu_seconds(self.root))
        if self.used > self.cpu_limit:
            return f"no end after {self.cpu_limit} s of CPU time"
        now, written = time.monotonic(), self._written()
        since, size = self.mark
        if written != size:
            self.begin()
        elif now - since > self.limit:
            self.overdue = True
            done = "no output" if self.outputs else "no end"
            return f"stalled: {done} for {self.limit} s"
        return None


def wait(process, watch):
    """Waits for the Popen (process); why it had to be killed, or None."""
    watch.begin()
    pause, why, checked = 0.005, None, time.monotonic()
    while process.returncode is None and not os.waitid(
        os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG
    ):
        time.sleep(pause)
        pause = min(pause * 1.2, 0.1)
        if time.monotonic() - checked > LOOK_S:
            checked = time.monotonic()
            why = watch.verdict()
            if why:
                kill_tree(process.pid)
                break
    watch.verdict()  # its total CPU time, while that can be read
    process.wait()
    beat()
    return why


def until(what, alive=lambda: True, limit=WAIT_S, text="what was waited for"):
    """Waits until what() is true; returns its value, or None once nobody is
    left who could make it true. Raises Overdue after (limit) seconds."""
    this, pause = Wait(limit, alive, text), 0.02
    while True:
        pointless = this.is_pointless()
        value = what()
        if value:
            beat()
            return value
        if pointless:
            return None
        time.sleep(pause)
        pause = min(pause * 1.2, 0.25)
