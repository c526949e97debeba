# SPDX-License-Identifier: Apache-2.0
"""All tests there are, as jobs: guest cases, unit tests, suites."""

import fnmatch
import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import cases, host, progress, tap

SUITE_CPU_LIMIT_S = 1800


@dataclass
class Job:
    """(name) identifies it in the plan and the output; a pattern may match one
    of (words). run() returns (tap.Results, log, CPU seconds). (after) names the
    jobs that must have ended before; they are selected with it."""

    name: str
    words: tuple
    run: Any
    after: tuple = ()

    def fits(self, patterns):
        return any(
            fnmatch.fnmatchcase(word, pattern)
            for word in self.words
            for pattern in patterns
        )


def words_of(name):
    """The forms of a name that a pattern may match: "guest/i386/kernel/heap",
    "unit32/crc_test", "suite/net/i386"."""
    parts = name.split("/")
    return (parts[3] if parts[0] == "guest" else parts[1], name)


def command(
    words, log, cpu_limit, env=None, beats=None, limit=progress.BACKSTOP_S
):
    """Runs a program that prints TAP; returns what Job.run does. It may take
    (limit) seconds; or if (beats) is the file in which it notes each of its
    waits, so many from one wait or test to the next."""
    env, outputs = dict(env or {}), []
    if beats:
        beats.write_bytes(b"")
        env[progress.BEATS] = str(beats.absolute())
        outputs = [log, beats]
    with open(log, "wb") as out:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **env},
                start_new_session=True,
            )
        except OSError as error:
            if not host.lacks_32_bit(error):
                raise
            return tap.Results(skipped=[host.NO_32_BIT]), log, 0.0
        watch = progress.Watch(process.pid, cpu_limit, outputs, limit)
        try:
            why = progress.wait(process, watch)
        except BaseException:
            progress.kill_tree(process.pid)
            raise
    results = tap.parse(Path(log).read_text(encoding="latin-1"))
    if why:
        results.problem(why)
    elif process.returncode and not results.failed:
        results.problem(f"ended with status {process.returncode}")
    return results, log, watch.used


def guests(build):
    for subject, table in cases.load().items():
        for case in table:
            for width, loader in case.machines():
                name = f"guest/{width}/{loader}/{case.name}"
                yield Job(
                    name,
                    (*words_of(name), f"{subject}/{case.name}"),
                    lambda c=case, w=width, l=loader: cases.run(c, w, l, build),
                )


def units(build):
    """Unit tests at both widths; those of one_width.txt at 64 bits."""
    listed = Path("tests/unit/one_width.txt").read_text(encoding="ascii")
    wide = {name for name in listed.splitlines() if name[:1] != "#"}
    for bits in (32, 64):
        for source in sorted(Path("tests/unit").rglob("*_test.c")):
            if bits == 32 and source.stem in wide:
                continue
            path = Path(build, f"host{bits}", source.stem)
            env = {
                "CMOCKA_MESSAGE_OUTPUT": "TAP",
                "EMBED": f"{build}/host/embed",
            }
            name = f"unit{bits}/{path.name}"
            yield Job(
                name,
                words_of(name),
                lambda p=path, e=env: command(
                    [p], f"{p}.log", progress.CPU_LIMIT_S, e
                ),
            )


def parts(path):
    """{part: parts before it} that the suite at (path) declares."""
    spec = importlib.util.spec_from_file_location(
        f"suite_{path.parent.name}", path
    )
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
        # its own modules: another suite may have modules of the same names
        for name, other in list(sys.modules.items()):
            file = getattr(other, "__file__", None)
            if file and Path(file).parent == path.parent.resolve():
                del sys.modules[name]
    after = getattr(module, "AFTER", {})
    return {p: after.get(p, ()) for p in getattr(module, "PARTS", ("",))}


def suites(build):
    """Suites: each part of one is a job."""
    env = {"PYTHONPATH": "tests", "PYTHONDONTWRITEBYTECODE": "1"}
    for path in sorted(Path("tests").glob("*/suite.py")):
        folder = path.parent.name
        if folder == "harness":
            continue
        for part, after in parts(path).items():
            work = Path(build, folder, part)
            words = [sys.executable, "-m", "harness.suite", folder, work]
            name = f"suite/{folder}/{part}".rstrip("/")
            yield Job(
                name,
                words_of(name),
                lambda w=words + [part], d=work: (
                    d.mkdir(parents=True, exist_ok=True),
                    command(
                        *(w, f"{d}/log", SUITE_CPU_LIMIT_S, env, d / "beats")
                    ),
                )[1],
                tuple(f"suite/{folder}/{other}" for other in after),
            )


def everything(build):
    return [*guests(build), *units(build), *suites(build)]


def select(everything_, patterns):
    """Those that match, and all jobs that must run before them."""
    wanted = {job.name for job in everything_ if job.fits(patterns)}
    wanted.update(
        name for job in everything_ if job.name in wanted for name in job.after
    )
    return [job for job in everything_ if job.name in wanted]
