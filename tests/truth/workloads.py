# SPDX-License-Identifier: Apache-2.0
"""The runs that are judged: few of them in `make test`, all with FULL=1."""

import fnmatch
import itertools
import os
import re
from dataclasses import dataclass
from pathlib import Path

from guests import HERE, Sampled, python
from harness.suite import FULL, WIDTHS, by_turns
from load import SERVERS

# shell patterns of names of runs, to try some of them
SOME = os.environ.get("TRUTH_RUNS", "*").split()
RATES = (997, 1511) if FULL else (997,)
SUBJECTS = ("sampled", "generated", "served")
# the width at which each server runs in `make test`
_SERVED = {"http": "i386", "irc": "x86_64"}


@dataclass
class Run:
    """(what) is what its test shows; make(s) makes it, with NAME.compared."""

    width: str
    workload: str
    rate: int
    what: str
    make: callable

    @property
    def name(self):
        return f"{self.width}-{self.workload}-{self.rate}"

    @property
    def steady(self):
        """Nobody rests in it, and an instruction takes a nanosecond."""
        return self.workload not in SERVERS


def _split(width, rate):
    def make(s, name):
        Sampled(s, name, width, "split", rate).judge()

    return Run(
        width, "split", rate, f"{width}: split at {rate} Hz is counted", make
    )


def _lua(width, rate, script):
    def make(s, name):
        Sampled(s, name, width, "lua", rate).judge(modules=[script])

    return Run(
        width,
        f"lua-{script.stem}",
        rate,
        f"{width}: {script.name} at {rate} Hz is counted",
        make,
    )


def sampled(width):
    scripts = Path("services/lua/scripts")
    for rate in RATES:
        yield _split(width, rate)
        for script in sorted(scripts.glob("*.lua")):
            if FULL or script.stem == "parser":
                yield _lua(width, rate, script)


def _generated(width, program, rate, words):
    """A generated program; besides, the plugin must have counted what the
    generator claims."""

    thief = re.search(r"thief\.percent=(\d+)", words)
    workload = program + (f"-stolen{thief[1]}" if thief else "")

    def make(s, name):
        one = Sampled(s, name, width, f"generated/{program}", rate)
        one.judge(f"prof.every=0 {words}".rstrip())

        def check(what, *more):
            python(
                "generated/check.py", what, one.image, one.file("json"), *more
            )

        trace = (one.parasite.path, one.file("trace"))
        if thief:
            check("stolen", *trace, one.file("console"), rate, thief[1])
        check("claim", s.build / "generated" / program / "claim.json")
        if not program.startswith("masked-"):
            check("small", *trace)
            return
        # Shares are not where the instructions were: a judgement of its own.
        for test in ("ticks", "time", "chains"):
            python("judge.py", test, one.file("compared"))
        check("masked", *trace, one.file("console"))

    what = f"{width}: {workload} at {rate} Hz is as it claims"
    return Run(width, workload, rate, what, make)


def generated(width):
    """Those of generated/programs that are short, or of this width, or all."""
    text = (HERE / "generated" / "programs").read_text(encoding="ascii")
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        program, rate, length, *words = line.split()
        if FULL or length in ("short", width):
            yield _generated(width, program, int(rate), " ".join(words))


def served(width):
    for server, make in SERVERS.items():
        if width in by_turns(_SERVED[server]):
            what = (
                f"{width}-{server} under load: recorded, played back, "
                "the same to the last byte"
            )
            yield Run(
                width,
                server,
                997,
                what,
                lambda s, name, m=make: m(s, name, width, 997),
            )


def _is_chosen(name):
    return any(fnmatch.fnmatchcase(name, some) for some in SOME)


def runs(width, subject):
    """Those of one part of the suite."""
    found = globals()[subject](width)
    return [one for one in found if _is_chosen(one.name)]


@dataclass
class TimerRun:
    """The guest test timer_share_is_true with the options (words): does the
    (work), long or short, and is sampled by (tick). What it wrote is
    NAME.timers."""

    width: str
    work: str
    tick: str
    words: str

    @property
    def name(self):
        return f"{self.width}-{self.work}-{self.tick}"


def timer_runs(width):
    """Each work by each timer, or each once."""
    found = [
        TimerRun(width, work, tick, f"work={work} prof.tick={tick}")
        for work, tick in itertools.product(("long", "short"), ("pit", "lapic"))
        if FULL or (work == "long") == (tick == "lapic")
    ]
    return [one for one in found if _is_chosen(one.name)]


def timed(folder):
    """Paths of what all of them wrote."""
    return [
        folder / f"{width}-timers" / f"{one.name}.timers"
        for width in WIDTHS
        for one in timer_runs(width)
    ]


def judged(folder):
    """{path of .compared: Run} of all that are judged together, by name; the
    parts of the suite have their folders in (folder). A program that masks
    interrupts is judged by itself."""
    found = {
        folder / f"{width}-{subject}" / f"{one.name}.compared": one
        for width in WIDTHS
        for subject in SUBJECTS
        for one in runs(width, subject)
        if not one.workload.startswith("masked-")
    }
    return dict(sorted(found.items(), key=lambda item: item[0].name))
