# SPDX-License-Identifier: Apache-2.0
"""Programs that a suite runs, each with the exit status that it must have and
limits that hold on any host (progress.py)."""

import os
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import progress

CPU_LIMIT_S = 300


class Failed(AssertionError):
    """A check failed; the text says what was found."""


@dataclass
class Done:
    """A program that has ended; stdout and stderr as text (latin-1 keeps
    every byte), data is stdout as bytes."""

    status: int
    data: bytes
    err: str

    @property
    def out(self):
        return self.data.decode("utf-8", "replace")

    @property
    def text(self):
        """Both, one after the other."""
        return self.out + self.err

    def lines(self):
        return self.out.splitlines()


def run(
    *words,
    status=0,
    data=None,
    cwd=None,
    env=None,
    stdin=None,
    cpu_limit=CPU_LIMIT_S,
    by_lines=False,
    limit=progress.WAIT_S,
):
    """Runs the program (words) to its end; returns a Done.

    (status) is the exit code it must have, a tuple of such, or None for any;
    (data) goes to its stdin, as text or bytes; (env) is added to ours.
    (by_lines): it reports what it has done, and may take longer than a wait:
    only from one output to the next. (limit): as for Guest.
    """
    words = [str(word) for word in words]
    new = tempfile.TemporaryFile
    with new() as out, new() as err, new() as given:
        if data is not None:
            given.write(data.encode() if isinstance(data, str) else data)
            given.seek(0)
            stdin = given
        process = subprocess.Popen(
            words,
            stdin=stdin or subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=cwd,
            env=_env(env),
        )
        outputs = [out.fileno(), err.fileno()] if by_lines else ()
        watch = progress.Watch(process.pid, cpu_limit, outputs, limit)
        why = progress.wait(process, watch)
        out.seek(0)
        err.seek(0)
        done = Done(
            process.returncode,
            out.read(),
            err.read().decode("utf-8", "replace"),
        )
    if why:
        kind = progress.Overdue if watch.overdue else Failed
        raise kind(f"{' '.join(words)}: {why}\n{done.text[-4000:]}")
    wanted = status if isinstance(status, (tuple, type(None))) else (status,)
    if wanted is not None and done.status not in wanted:
        raise Failed(
            f"ended with {done.status}, should with {status}: "
            f"{' '.join(words)}\n{done.text[-4000:]}"
        )
    return done


def _env(env):
    """That of this process and (env). Nothing is found in the user's cache of
    images, nor by chance in that of another test."""
    base = {**os.environ, "PARASITE_CACHE": "off"}
    return {**base, **{k: str(v) for k, v in (env or {}).items()}}


class Background:
    """A program that runs in the background, in a process group of its own;
    (log) gets stdout and stderr."""

    def __init__(
        self, words, log, cwd=None, env=None, typed=False, cpu_limit=CPU_LIMIT_S
    ):
        self.log = Path(log)
        self.words = [str(word) for word in words]
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(
                self.words,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                stdin=subprocess.PIPE if typed else subprocess.DEVNULL,
                env=_env(env),
                start_new_session=True,
            )
        self.pid = self.process.pid
        self.watch = progress.Watch(self.pid, cpu_limit)

    def alive(self):
        return self.process.poll() is None

    def text(self):
        return self.log.read_bytes().decode("utf-8", "replace")

    def soon(self, what, text):
        """soon(), as long as it runs."""
        return soon(what, text, self.alive)

    def signal(self, number):
        self.process.send_signal(number)

    def signal_group(self, number):
        """Sends it to the whole process group, as Ctrl-C does."""
        os.killpg(self.pid, number)

    def end(self, status=0):
        """Waits for its end and returns its status; (status) as for run()."""
        if self.process.stdin:
            self.process.stdin.close()
        why = progress.wait(self.process, self.watch)
        code = self.process.returncode
        if self.watch.overdue:
            raise progress.Overdue(f"{' '.join(self.words)}: {why}")
        wanted = (
            status if isinstance(status, (tuple, type(None))) else (status,)
        )
        if why or (wanted is not None and code not in wanted):
            raise Failed(
                f"{why or f'ended with {code}'}, should with "
                f"{status}: {' '.join(self.words)}\n"
                f"{self.text()[-4000:]}"
            )
        return code

    def kill(self):
        if self.alive():
            progress.kill_tree(self.pid)
        self.process.wait()


@contextmanager
def background(*words, log, **options):
    """A Background that is killed at the end of the block."""
    process = Background(words, log, **options)
    try:
        yield process
    finally:
        process.kill()


def soon(what, text="what was waited for", alive=lambda: True):
    """Waits until what() is true and returns its value; fails once that cannot
    happen any more: alive() is false, or all guests have ended. Independent of
    the host's speed, see progress.until(). If what() raises Failed, that means
    "not yet"."""
    last = []

    def attempt():
        try:
            return what()
        except Failed as failed:
            last[:] = [str(failed)]
            return None

    try:
        value = progress.until(attempt, alive, text=text)
    except progress.Overdue as late:
        raise progress.Overdue("\n".join([str(late), *last])) from late
    if not value:
        raise Failed(f"{text} did not happen\n" + "".join(last))
    return value


def open_pipe(path, alive):
    """The named pipe (path), to write to, once somebody reads it."""

    def attempt():
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return None

    made = soon(attempt, f"a reader of {path}", alive)
    os.set_blocking(made, True)
    return open(made, "wb", buffering=0)


def listening(folder, family="unix", backlog=4):
    """A server's socket, in (folder) or of "tcp", and how the command names
    it."""
    if family == "tcp":
        server = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        return server, f"tcp:127.0.0.1:{server.getsockname()[1]}"
    path = Path(folder, "line")
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen(backlog)
    return server, f"unix:{path}"


def ends(thread, text="a thread's end"):
    """Waits for the end of a thread."""
    soon(lambda: not thread.is_alive(), text)


def given_time(function, seconds=(1, 4, 16, 64, 192)):
    """Calls function(SECONDS) with increasing numbers until it does not fail;
    returns its value. For observations over a time in which a slow host gets
    little done."""
    for longer in seconds[:-1]:
        try:
            return function(longer)
        except Failed:
            pass
    return function(seconds[-1])
