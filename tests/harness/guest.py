# SPDX-License-Identifier: Apache-2.0
"""A guest under QEMU: boots an image and speaks its console, its stream and
its monitor."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from . import progress, qemu
from .monitor import Monitor
from .proc import Failed, soon


class GuestError(Exception):
    """The guest did not do what the suite waited for; has the end of its
    console."""


class Guest:
    """(image) of (width), booted at once. Use as a context manager, which
    kills it if it has not ended by itself.

    (log)      file for the console; QEMU's own messages go to (log).qemu
    (append)   its command line; (modules) its boot modules
    (loader)   "kernel", or "grub" from an ISO beside the log
    (serial)   "stdio" (the log), None, or QEMU's argument "chardev:NAME"
    (typed)    whether send() is used: the console reads from a pipe
    (channels) {NAME: "tcp" or "unix"}: sockets at which QEMU listens, to be
               wired by (args); address(NAME) is what to connect to
    (forward)  TCP ports of the guest's on a user network; port(N) is where
               each is on 127.0.0.1. (net), (nic): more options of the network
               and its virtio device
    (icount)   shift of the instruction counter; None = real time; (rtc) the
               date that its clock then begins with
    (machine)  QEMU's -M, as "q35" or "microvm,pit=off"; None = its default
    (stream)   file for what it writes to port 0xe9
    (ram)      file that is its memory, shared
    (args)     more arguments for QEMU
    (prefix)   a command to run QEMU with
    (limit)    seconds that its end may be waited for; more only where no test
               is: for measurements that are long
    """

    def __init__(
        self,
        image,
        width,
        log,
        *,
        append="",
        modules=(),
        loader="kernel",
        serial="stdio",
        typed=False,
        channels=None,
        forward=None,
        net="",
        nic="",
        icount=None,
        rtc=None,
        machine=None,
        stream=None,
        ram=None,
        memory=128,
        accel="tcg",
        monitor=False,
        args=(),
        prefix=(),
        cpu_limit=progress.CPU_LIMIT_S,
        limit=progress.WAIT_S,
    ):
        self.log = Path(log)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.errors = Path(f"{log}.qemu")
        self.iso = Path(f"{log}.iso") if loader == "grub" else None
        self.channels, self.interrupted = channels or {}, False
        self.sockets = self.monitor = self.why = self.code = None
        if self.iso:
            qemu.make_iso(width, self.iso, image, append, modules)
        words = list(args)
        if icount is not None:
            words += qemu.icount(icount, rtc)
        words += self._devices(forward, net, nic, stream, ram, memory)
        if monitor or self.channels or forward is not None:
            path = self._socket("monitor")
            words += ["-qmp", f"unix:{path},server=on,wait=off"]
        line = list(prefix) + qemu.command(
            width,
            image,
            append,
            machine=machine,
            iso=self.iso,
            modules=modules,
            memory=memory,
            accel=accel,
            serial=serial,
            network=forward is not None
            or "-netdev" in words
            or "-nic" in words,
            args=words,
        )
        self.process = self._start(line, typed)
        self.pid = self.process.pid
        self.watch = progress.Watch(self.pid, cpu_limit, limit=limit)
        progress.has_begun(self)
        if "-qmp" in words:
            self._connect(path)

    def _connect(self, path):
        self.monitor = Monitor(path, self.alive, self.said)
        if not self.monitor.file and self.end() == qemu.QEMU_FAILED:
            raise GuestError(f"QEMU failed: {self.said()}")

    def _start(self, line, typed):
        with open(self.log, "wb") as out, open(self.errors, "wb") as errors:
            return subprocess.Popen(
                line,
                stdout=out,
                stderr=errors,
                stdin=subprocess.PIPE if typed else subprocess.DEVNULL,
            )

    # ---- the command line

    def _socket(self, name):
        """A path short enough for a socket."""
        if not self.sockets:
            self.sockets = tempfile.mkdtemp(prefix="guest.")
        return f"{self.sockets}/{name}"

    def _devices(self, forward, net, nic, stream, ram, memory):
        words = []
        for name, kind in self.channels.items():
            where = (
                "host=127.0.0.1,port=0"
                if kind == "tcp"
                else f"path={self._socket(name)}"
            )
            words += [
                "-chardev",
                f"socket,id={name},{where},server=on,wait=off",
            ]
        if forward is not None:
            rules = "".join(
                f",hostfwd=tcp:127.0.0.1:0-:{port}" for port in forward
            )
            words += [
                "-netdev",
                f"user,id=n{rules}{net and ',' + net}",
                "-device",
                f"virtio-net-pci,netdev=n{nic and ',' + nic}",
            ]
        if stream:
            words += ["-debugcon", f"file:{stream}"]
        if ram:
            words += [
                "-machine",
                "memory-backend=ram",
                "-object",
                f"memory-backend-file,id=ram,size={memory}M,share=on,"
                f"mem-path={ram}",
            ]
        return words

    # ---- where it can be reached

    def address(self, name):
        """The address of a channel: "tcp:127.0.0.1:PORT" or "unix:PATH"."""
        if self.channels[name] == "unix":
            return f"unix:{self._socket(name)}"
        for device in self.monitor.command("query-chardev"):
            if device["label"] == name:
                found = re.search(r"tcp:(127\.0\.0\.1:\d+)", device["filename"])
                return f"tcp:{found[1]}"
        raise KeyError(name)

    def ports(self, guest_port):
        """The port on 127.0.0.1 that leads to the guest's port, one for each
        time that (forward) contains it."""
        lines = self.monitor.human("info usernet").splitlines()
        rows = [line.split() for line in lines if "HOST_FORWARD" in line]
        return [int(row[3]) for row in rows if row[5] == str(guest_port)]

    def port(self, guest_port):
        return self.ports(guest_port)[0]

    def terminal(self):
        """The pseudo terminal of serial="pty"."""
        found = self._until(
            lambda: re.search(
                r"redirected to (/dev/\S+)", self.text() + self.said()
            )
        )
        return found[1]

    # ---- the console

    def text(self):
        """All of the console so far."""
        return self.log.read_bytes().decode("latin-1").replace("\r", "")

    def said(self):
        """Messages of QEMU itself."""
        return self.errors.read_bytes().decode("latin-1")

    def lines(self):
        return self.text().splitlines()

    def send(self, text):
        """Types (text) and a line feed; needs typed=True."""
        self.process.stdin.write(text.encode("latin-1") + b"\n")
        self.process.stdin.flush()

    def wait_line(self, pattern, count=1):
        """Waits for the (count)th line that matches (pattern); its match."""
        wanted = re.compile(pattern)

        def matches():
            found = [m for m in map(wanted.search, self.lines()) if m]
            return found[count - 1] if len(found) >= count else None

        return self._until(matches, f"line {pattern!r}")

    def _until(self, what, name="it"):
        try:
            found = progress.until(what, self.alive)
        except progress.Overdue as late:
            raise progress.Overdue(f"{name}: {late}\n{self.tail()}") from late
        if not found:
            raise GuestError(f"{name} never came:\n{self.tail()}")
        return found

    def tail(self, count=20):
        """The end of its console and of QEMU's messages."""
        return "\n".join(self.lines()[-count:] + self.said().splitlines())

    # ---- its life

    def alive(self):
        return self.process.poll() is None

    def soon(self, what, text):
        """soon(), as long as it runs."""
        return soon(what, text, self.alive)

    def stop(self):
        """Stops QEMU until cont(), as a host that takes the CPU away. Fails if
        the guest has ended: the host was too busy to stop it in time."""
        if not self.alive():
            raise Failed("the guest ended before it was stopped")
        os.kill(self.pid, signal.SIGSTOP)

    def cont(self):
        if self.alive():
            os.kill(self.pid, signal.SIGCONT)

    def interrupt(self, number=signal.SIGTERM):
        """Ends QEMU with a signal and waits for its end."""
        self.interrupted = True
        if self.alive():
            self.process.send_signal(number)
        return self.end()

    def end(self):
        """Waits for its end; returns the exit code of qemu.exit_code(). (why)
        is the reason if it had to be killed; raises progress.Overdue if that
        is because the wait took too long."""
        progress.has_ended(self)
        if self.code is None:
            if self.process.stdin:
                with suppress(BrokenPipeError):  # what it never read
                    self.process.stdin.close()
            self.why = progress.wait(self.process, self.watch)
            self.code = qemu.STOPPED if self.why else self.exit_code()
            self._clean()
            if self.watch.overdue:
                raise progress.Overdue(f"{self.why}:\n{self.tail()}")
        return self.code

    def exit_code(self):
        """Of the guest, once QEMU has ended."""
        return qemu.exit_code(self.process.returncode, self.said())

    def kill(self):
        """Kills it."""
        if self.alive():
            progress.kill_tree(self.pid)
        self.end()

    def _clean(self):
        if self.monitor:
            self.monitor.close()
        if self.sockets:
            shutil.rmtree(self.sockets, ignore_errors=True)
        if self.iso:
            self.iso.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """A guest that a stranger has ended explains what failed before."""
        lives = self.alive() or self.code is not None
        self.kill()
        if not lives and self.code == qemu.STOPPED and not self.interrupted:
            raise GuestError(
                f"QEMU was ended from outside, with {self.process.returncode}: "
                f"{self.said()}"
            )
