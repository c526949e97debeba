# SPDX-License-Identifier: Apache-2.0
"""One guest under the plugin, sampled while its time passes by instructions,
so that the run repeats to the instruction and profile and truth are of the
same run."""

import fcntl
import os
import re
import sys
import zlib
from pathlib import Path

from harness.command import Command
from harness.suite import run

HERE = Path(__file__).resolve().parent
PIT_HZ = 1193182
# another number makes other runs of the same programs
SEED = os.environ.get("TRUTH_SEED", "0")
_FLAGS = (
    *("-std=gnu11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra"),
    *("-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"),
)


def python(script, *words):
    """Runs one of this folder's scripts; a Done."""
    return run(sys.executable, HERE / script, *words)


def plugin(folder):
    """Path of QEMU's plugin in (folder), compiled where it is out of date."""
    library = folder / "truth.so"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "truth.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        newest = max(path.stat().st_mtime for path in HERE.glob("*.[ch]"))
        if not library.exists() or library.stat().st_mtime <= newest:
            new = folder / "truth.so.new"
            run("gcc", *_FLAGS, "-o", new, *sorted(HERE.glob("*.c")))
            os.replace(new, library)
    return library


def addresses(image):
    """{symbol: its address, hexadecimal}"""
    rows = [line.split() for line in run("nm", image).lines()]
    return {row[2]: row[0] for row in rows if len(row) == 3}


class Sampled:
    """A run: the results are (files).trace, the profile, .console, and .json
    and .ticks of the plugin."""

    def __init__(self, s, name, width, service, rate):
        self.s, self.name, self.width, self.rate = s, name, width, rate
        self.service, self.image = service, s.image(width, service)
        self.parasite = Command(s)
        self.library = plugin(s.work.parent)
        # Two runs with one seed would be sampled at the same times, and err
        # together.
        self.seed = zlib.crc32(f"{name} {SEED}".encode())

    def file(self, kind):
        return self.s.work / f"{self.name}.{kind}"

    def clear(self):
        """Removes the results of a run before."""
        for kind in "json ticks compared timers console packets".split():
            self.file(kind).unlink(missing_ok=True)

    def plugin_words(self, period, traps=False):
        """The plugin's argument; (period) nanoseconds between two ticks, or
        instructions where one takes longer. (traps): the addresses of the
        interrupts' entries, which a replay does not show otherwise."""
        python("symbols.py", self.image, self.file("map"))
        found = addresses(self.image)
        words = [
            str(self.library),
            f"map={self.file('map')}",
            f"out={self.file('json')}",
            f"ticks={self.file('ticks')}",
            f"enter={found['prof_parasite']}",
            f"stop={found['prof_stop']}",
            f"period={period}",
        ]
        if "accounts_mark" in found:
            words.append(f"mark={found['accounts_mark']}")
        if "thief_begin" in found:  # generated/thief.c
            words.append(f"thief={found['trap_irq_5']}")
        if traps:
            entries = [
                address
                for name, address in found.items()
                if re.fullmatch(r"trap_irq_\d+", name)
            ]
            words.append(f"traps={'+'.join(entries)}")
        return ",".join(words)

    def watch(self, append, modules=(), status=0, shift=0):
        """The run, with the command line (append), where an instruction takes
        2**(shift) ns; the guest ends with (status)."""
        self.clear()
        # of a PIT with a whole divisor
        period = int(int(PIT_HZ / self.rate + 0.5) * 1e9 / PIT_HZ) >> shift
        done = self.parasite.record(
            self.file("trace"),
            *("-q", "-F", self.rate),
            *self.parasite.machine(
                self.width,
                self.service,
                append,
                *("-plugin", self.plugin_words(period)),
                modules=modules,
                icount=shift,
            ),
            status=status,
        )
        self.file("console").write_bytes(done.data)

    def compare(self):
        """Holds the profile against the truth, in .compared."""
        done = python(
            "compare.py",
            self.image,
            self.file("json"),
            self.file("ticks"),
            self.parasite.path,
            self.file("trace"),
        )
        self.file("compared").write_bytes(done.data)

    def judge(self, append="", modules=()):
        """The run, and its .compared."""
        self.watch(
            f"prof.reports=1 prof.seed={self.seed} {append}".rstrip(), modules
        )
        self.compare()


def accounts(s, width, rate):
    """Each report's closing rows, and the trace, against the ticks."""
    one = Sampled(s, f"{width}-ticks", width, "test/ticks_are_accounted", rate)
    one.watch("prof.start=off prof.every=0")
    python(
        "accounts.py",
        one.image,
        *(one.file(kind) for kind in ("console", "json", "ticks")),
        one.parasite.path,
        one.file("trace"),
    )
