# SPDX-License-Identifier: Apache-2.0
"""Time limits that hold on any host: CPU time used, and stalls.

A limit of elapsed time would end a healthy process on a busy or throttled host.
Instead, a process and all its descendants may use CPU_LIMIT_S of CPU time,
however long that takes; and they count as stalled if they use almost no CPU
time and write nothing for STALL_S seconds.
"""

import os
import signal
import time

CPU_LIMIT_S = 300  # for one guest or one unit test
STALL_S = 180  # of the host
STALL_CPU_S = 0.5  # less CPU time than that in STALL_S is a stall
POLL_S = 0.5
LOOK_S = 2  # between two looks at all processes, which take CPU time as well

_TICK = os.sysconf("SC_CLK_TCK")


def _stat(pid):
    """(parent, own CPU seconds, those of reaped children, whether it is a
    zombie); None if it does not exist."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    times = [int(field) / _TICK for field in fields[11:15]]
    return int(fields[1]), sum(times[:2]), sum(times[2:]), fields[0] == "Z"


def tree(root):
    """Process (root) and its living descendants: {pid: CPU seconds}. Those
    of this process itself, which waits, do not count."""
    stats = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _stat(name)
            if stat:
                stats[int(name)] = stat
    children = {}
    for pid, (parent, _, _, ended) in stats.items():
        if not ended:
            children.setdefault(parent, []).append(pid)
    found, todo = {}, [root]
    while todo:
        pid = todo.pop()
        if pid in stats:
            _, own, reaped, _ = stats[pid]
            found[pid] = reaped + (own if pid != os.getpid() else 0)
            todo += children.get(pid, ())
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


class Watch:
    """Watches process (root). (outputs) are files that it may write to."""

    def __init__(self, root, cpu_limit=CPU_LIMIT_S, outputs=(), stall=STALL_S):
        self.root, self.cpu_limit, self.stall = root, cpu_limit, stall
        self.outputs = outputs
        self.base = cpu_seconds(root) if root == os.getpid() else 0.0
        self.used = 0.0
        self.mark = (time.monotonic(), 0.0, self._written())

    def _written(self):
        return sum(
            os.path.getsize(o) for o in self.outputs if os.path.exists(o)
        )

    def verdict(self):
        """Why it must be killed now, or None."""
        self.used = max(self.used, cpu_seconds(self.root) - self.base)
        if self.used > self.cpu_limit:
            return f"no end after {self.cpu_limit} s of CPU time"
        now, written = time.monotonic(), self._written()
        since, used, size = self.mark
        if self.used - used >= STALL_CPU_S or written != size:
            self.mark = (now, self.used, written)
        elif now - since > self.stall:
            return f"stalled: nothing done for {self.stall} s"
        return None


def wait(process, watch):
    """Waits for the Popen (process); why it had to be killed, or None."""
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
    return why


def until(what, cpu_limit=60, stall=STALL_S, alive=lambda: True):
    """Waits until what() is true; returns its value, or None after giving up.

    Gives up after (cpu_limit) CPU seconds of this process and its children,
    when they stall, or when alive() is false and what() still is.
    """
    watch, pause, checked = Watch(os.getpid(), cpu_limit, (), stall), 0.02, 0.0
    while True:
        living = alive()
        value = what()
        if value:
            return value
        if not living:
            return None
        time.sleep(pause)
        pause = min(pause * 1.2, 0.25)
        if time.monotonic() - checked > LOOK_S:
            checked = time.monotonic()
            if watch.verdict():
                return None
