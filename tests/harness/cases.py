# SPDX-License-Identifier: Apache-2.0
"""Guest cases: the tables tests/guest/*/cases.py, and how one case is run.

Each table is a list CASES of case(...). Its folder holds the sources of the
images that it boots."""

import importlib.util
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import progress, qemu, tap
from .guest import Guest

WIDTHS = ("i386", "x86_64")
LOADERS = ("kernel", "grub")


@dataclass(frozen=True)
class Case:
    name: str
    image: str
    cpus: int
    append: str
    boots: tuple
    modules: tuple
    icount: int
    rtc: str
    args: tuple
    exits: int
    shows: tuple
    hides: tuple

    def machines(self):
        """(width, loader) of each machine that runs it."""
        for width in WIDTHS:
            for boot in self.boots:
                only, _, loader = boot.rpartition(":")
                if only in ("", width):
                    yield width, loader


def case(
    name,
    *,
    image=None,
    cpus=None,
    append="",
    boots="kernel",
    modules=(),
    icount=None,
    rtc=None,
    qemu="",
    exits=None,
    shows=(),
    hides=(),
):
    """One image, booted with one command line.

    (image)   "test/NAME" for tests/guest/*/NAME, "NAME" for a service; by
              default that of the case's own name
    (cpus)    CPUs of the machine, for the image that is built for several;
              by default there is one, and the image is built for that
    (append)  its command line
    (boots)   loaders: "kernel grub" for both, "i386:kernel" for one width
    (modules) boot modules: paths from the top, or pairs (name, text)
    (icount)  shift of QEMU's instruction counter; None = real time
    (rtc)     date that its clock begins with, as 2026-01-02T03:04:05
    (qemu)    more arguments for QEMU
    (exits)   for an image that does not print TAP and end with 0: its exit
              code
    (shows)   regular expressions that a line of its output must match each,
              (hides) such that none may
    """
    return Case(
        name,
        image or f"test/{name}",
        cpus,
        append,
        tuple(boots.split()),
        tuple(modules),
        icount,
        rtc,
        (*(("-smp", str(cpus)) if cpus else ()), *qemu.split()),
        exits,
        tuple(shows),
        tuple(hides),
    )


def quiet(name, more="", **others):
    """The same where only the image itself starts the sampler, and nothing is
    printed from time to time; (more) is the rest of its command line."""
    append = f"prof.start=off prof.every=0 {more}".rstrip()
    return case(name, append=append, **others)


def load(folder="tests/guest"):
    """All cases, {subject: [Case]}."""
    tables = {}
    for path in sorted(Path(folder).glob("*/cases.py")):
        subject = path.parent.name
        spec = importlib.util.spec_from_file_location(f"cases_{subject}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        tables[subject] = module.CASES
    return tables


def _modules(case_, base):
    """Paths of its boot modules; those that are text are written."""
    paths = []
    for module in case_.modules:
        if isinstance(module, tuple):
            path = Path(f"{base}.modules") / module[0]
            path.parent.mkdir(exist_ok=True)
            path.write_text(module[1], encoding="latin-1")
            module = path
        paths.append(module)
    return paths


def _as_expected(case_, code, text):
    """What differs from (exits), (shows) and (hides)."""
    wrong, exits = [], case_.exits or 0
    if code != exits:
        wrong.append(f"exit code {code} instead of {exits}")
    lines = text.splitlines()
    for pattern in case_.shows:
        if not any(re.search(pattern, line) for line in lines):
            wrong.append(f"expected: {pattern}")
    for pattern in case_.hides:
        if any(re.search(pattern, line) for line in lines):
            wrong.append(f"not expected: {pattern}")
    return wrong


def run(case_, width, loader, build, accel="tcg"):
    """Runs it; (tap.Results, path of the log, CPU seconds)."""
    where = loader if accel == "tcg" else f"{loader}-{accel}"
    base = Path(build) / width / "test" / f"{case_.name}.{where}"
    base.parent.mkdir(parents=True, exist_ok=True)
    image = Path(build) / ("smp" if case_.cpus else "") / width / case_.image
    image = image / f"{image.name}.elf"
    log = Path(f"{base}.log")
    with Guest(
        image,
        width,
        log,
        append=case_.append,
        loader=loader,
        modules=_modules(case_, base),
        icount=case_.icount,
        rtc=case_.rtc,
        accel=accel,
        args=case_.args,
    ) as guest:
        with suppress(progress.Overdue):  # guest.why has it
            guest.end()
        code, text = guest.code, guest.text() + guest.said()
    wrong = _as_expected(case_, code, text)
    if case_.exits is None:
        results = tap.parse(text)
    else:
        results = tap.Results(planned=1, passed=int(not wrong))
    if guest.why:
        wrong.append(guest.why)
    if code in (qemu.RESET, qemu.QEMU_FAILED) and wrong:
        wrong.append(
            "the guest was reset or switched off"
            if code == qemu.RESET
            else "QEMU failed"
        )
    for line in wrong:
        results.problem(line)
    return results, log, guest.watch.used
