# SPDX-License-Identifier: Apache-2.0
"""What suites, tests/NAME/suite.py, import.

    from harness.suite import check, run

    PARTS = ("i386", "x86_64")   # optional: each is a separate job

    def suite(s):                # called once per part
        with s.test(f"{s.part}: two and two is four"):
            check.same(run("expr", 2, "+", 2).out.strip(), "4")

Run by: make test TESTS=NAME
"""

import ctypes
import fcntl
import importlib
import os
import signal
import sys
import tempfile
import time
import traceback
from contextlib import contextmanager
from pathlib import Path

from . import check, host, progress, tap
from .guest import Guest, GuestError
from .process import Process
from .proc import (
    Background,
    Done,
    Failed,
    background,
    ends,
    given_time,
    listening,
    open_pipe,
    run,
    soon,
)

__all__ = [
    "Background",
    "Done",
    "FULL",
    "Failed",
    "Guest",
    "GuestError",
    "PROCESSES",
    "Skip",
    "Suite",
    "WIDTHS",
    "background",
    "by_turns",
    "check",
    "ends",
    "given_time",
    "listening",
    "open_pipe",
    "run",
    "soon",
]

BROWSER_MODULES = ("playwright-core@1.60.0", "pngjs@7.0.0")
WIDTHS = ("i386", "x86_64")
# the long form of a suite, see tests/README.md
FULL = os.environ.get("FULL") == "1"
# parts of suites that run services as processes, and their builds
PROCESSES = {
    "i386-process": "i386",
    "x86_64-process": "x86_64",
    "x86_64-sanitized": "x86_64-address-undefined",
}
# what a failure of the suite itself is called, or a skip of all of it
THE_END = "the suite comes to its end"
_SUBREAPER = 36  # prctl: orphaned descendants become our children


def by_turns(turn):
    """The widths that have what is the same for both, and is tested at one of
    them: (turn), which is a width, or a number that counts through what is
    tested at one after the other. With FULL=1 both."""
    if FULL:
        return WIDTHS
    return (WIDTHS[WIDTHS.index(turn) if turn in WIDTHS else turn % 2],)


class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


class Suite:
    """(part) is one of PARTS, "" without; (work) a folder to write to,
    (build) the folder of the build, both absolute."""

    def __init__(self, part, work, build, writer):
        self.part, self.tap = part, writer
        self.work, self.build = Path(work), Path(build)
        self.parasite = self.build / "host" / "parasite"
        self.processes = None

    @contextmanager
    def test(self, what):
        """One test: it fails if the block raises an exception, and is skipped
        if that is Skip. A wait that took too long ends the suite as well. Its
        CPU time is in the log."""
        before = _cpu_seconds()
        try:
            yield
        except Skip as skip:
            self.tap.skip(what, str(skip))
        except progress.Overdue as late:
            self.tap.result(False, what, str(late))
            raise
        except (Failed, GuestError, AssertionError) as failed:
            self.tap.result(False, what, str(failed) or _where())
        except Exception as error:
            if host.lacks_32_bit(error):
                self.tap.skip(what, host.NO_32_BIT)
            else:
                self.tap.result(False, what, traceback.format_exc())
        else:
            self.tap.result(True, what)
        used = _cpu_seconds() - before
        self.tap.note(f"{used:.1f} s of CPU")

    def holds(self, *words, **options):
        """A test that FUNCTION(...) neither raises nor returns False. The words
        are [what it is called], FUNCTION, and its arguments; by default it is
        called as the function, with spaces."""
        what, function, *args = (None, *words) if callable(words[0]) else words
        with self.test(what or function.__name__.replace("_", " ")):
            if function(*args, **options) is False:
                raise Failed(f"{function.__name__}{args} is false")

    def skip(self, what, reason):
        """A skipped test."""
        self.tap.skip(what, reason)

    def tap_of(self, prefix, text):
        """Adopts the tests in the TAP output of a program."""
        results = tap.parse(text)
        lines = text.splitlines()
        for number, line in enumerate(lines):
            found = tap.test_of(line)
            if not found:
                continue
            good, what, reason = found
            if reason is None:
                self.tap.result(
                    good, f"{prefix}{what}", tap.said_of(lines, number)
                )
            else:
                self.tap.skip(f"{prefix}{what}", reason)
        for problem in results.problems:
            self.tap.result(
                False, f"{prefix}its plan is kept", f"{text}\n{problem}"
            )

    def note(self, text):
        """A remark in the log."""
        self.tap.note(text)

    def measured(self, text):
        """A figure that the runner shows, too."""
        self.tap.note(f"measured: {text}")

    # ---- made once for all suites

    def npm(self, *packages, folder=None):
        """The node_modules with the npm packages NAME@VERSION, fetched once for
        all suites into (folder) of the build, by default of the first name."""
        names = [package.rpartition("@")[0] for package in packages]
        prefix = self.build / (folder or names[0].rpartition("/")[2])
        modules = prefix / "node_modules"
        prefix.mkdir(exist_ok=True)
        with open(prefix / ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not all((modules / name).is_dir() for name in names):
                run(
                    *("npm", "install", "--prefix", prefix, "--silent"),
                    *("--no-audit", "--no-fund", "--no-save"),
                    *("--ignore-scripts", *packages),
                )
        return modules

    def browser_modules(self):
        """The node_modules of what drives Chromium and reads its pictures."""
        return self.npm(*BROWSER_MODULES, folder="playwright")

    def debian(self, package, path):
        """The folder (path) of Debian's package, fetched once for all suites,
        as a whole or not at all. It is not installed: that may start a server,
        and bring along what its pages need."""
        folder = self.build / package
        folder.mkdir(exist_ok=True)

        def fetched():
            with tempfile.TemporaryDirectory(dir=folder) as new:
                run("apt-get", "-qq", "download", package, cwd=new)
                (file,) = Path(new).glob("*.deb")
                files = run("dpkg-deb", "--fsys-tarfile", file).data
                run("tar", "-x", "-C", new, f"./{path}", data=files)
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                os.replace(Path(new, path), folder / path)
            return True

        with open(folder / ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / path).is_dir():  # the mirror may be out of reach
                soon(fetched, f"Debian's package {package}")
        return folder / path

    # ---- guests

    def use_processes(self, build):
        """From now on guest() starts services as Linux processes, those of
        (build), such as "x86_64-address-undefined". Skips what follows where
        the kernel cannot run them."""
        if build.startswith("i386") and not host.runs_32_bit():
            raise Skip(host.NO_32_BIT)
        self.processes = self.build / "hosted" / build

    def image(self, width, name, cpus=None):
        """Path of an image: "split" of a service, "test/heap" of a test. With
        (cpus) that for several CPUs."""
        if self.processes:
            return self.processes / name
        return (
            self.build
            / ("smp" if cpus else "")
            / width
            / name
            / f"{Path(name).name}.elf"
        )

    def guest(self, width, name, log="guest", cpus=None, **options):
        """A Guest of that image; (log) is a name in the work folder."""
        image = self.image(width, name, cpus)
        path = self.work / f"{log}.{width}.log"
        if self.processes:
            return Process(image, path, **options)
        if cpus:
            options["args"] = ["-smp", str(cpus), *options.get("args", ())]
        return Guest(image, width, path, **options)


def _cpu_seconds():
    return time.process_time() + progress.cpu_seconds(os.getpid())


def _where():
    return "".join(traceback.format_exc().splitlines(True)[-3:])


def main(name, work, part=""):
    os.makedirs(work, exist_ok=True)
    work = os.path.abspath(work)
    build = (
        os.path.dirname(work)
        if not part
        else os.path.dirname(os.path.dirname(work))
    )
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    # what is started here can be ended by any of them, also where a shell or
    # nohup has the runner ignore one
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, os.path.join("tests", name))
    writer = tap.Writer()
    try:
        importlib.import_module("suite").suite(Suite(part, work, build, writer))
    except Skip as skip:
        writer.skip(THE_END, str(skip))
    except Exception as error:
        if host.lacks_32_bit(error):
            writer.skip(THE_END, host.NO_32_BIT)
        else:
            writer.result(False, THE_END, traceback.format_exc())
    finally:
        for pid in progress.tree(os.getpid()):
            if pid != os.getpid():
                progress.kill_tree(pid)
    return writer.end()


if __name__ == "__main__":
    # the module that suites import, whose Skip is theirs, and not __main__
    sys.exit(importlib.import_module("harness.suite").main(*sys.argv[1:]))
