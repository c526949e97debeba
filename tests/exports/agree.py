# SPDX-License-Identifier: Apache-2.0
"""What parasite export writes, read by the tools it is for. Each must come,
for every function, to the numbers of our own report."""

import gzip
import json
import re
import tempfile
import xml.dom.minidom
from pathlib import Path

import catapult
import shares
import totals
from harness.command import Command
from harness.suite import Failed, background, check, run, soon

FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
PROFILER_CLI = "@firefox-devtools/profiler-cli@0.10.0"
SAMPLES = ("--weight", "samples")
PERF_SCRIPT = "-F period,ip,sym,dso --max-stack 2048".split()


class Exports:
    """(trace) is looked at, and of it what the options (choice) leave."""

    def __init__(self, s, trace=None, choice=()):
        self.s, self.parasite, self.trace = s, Command(s), trace
        self.choice, self.file = choice, s.work / "x"

    def of(self, trace, *choice):
        return Exports(self.s, trace, choice)

    def written(self, kind, *words):
        """The file of that format."""
        self.parasite(
            *("export", "-q", "-f", kind, "-o", self.file),
            *(*self.choice, *words, self.trace),
        )
        return self.file

    def ours(self, unit=""):
        rows = self.parasite.rows(self.trace, *self.choice)
        found = totals.report(rows, unit)
        check.true(len(found) > 20, found)
        return found

    def same(self, theirs, unit=""):
        check.same(theirs, self.ours(unit))


def folded_agrees(x):
    for words, unit in ((SAMPLES, ""), ((), "_ns")):
        text = x.written("folded", *words).read_text(encoding="utf-8")
        check.same(totals.folded(text), totals.plain(x.ours(unit)))


def flamegraph_draws(x):
    """All boxes, each with a name and samples."""
    drawn = run("perl", FLAMEGRAPH, "--minwidth", 0, x.written("folded"))
    picture = xml.dom.minidom.parseString(drawn.data)
    check.true(len(picture.getElementsByTagName("title")) > 0)
    check.same(len(picture.getElementsByTagName("img")), 0)


def pprof_agrees(x):
    words = "-top -unit count -nodefraction=0 -nodecount=100000".split()
    said = run(
        *("go", "tool", "pprof", *words, x.written("pprof", *SAMPLES)),
        env={"HOME": x.s.work},
    )
    x.same(totals.pprof(said.out))


def perf_script(x, *words):
    said = run("perf", "script", "-i", x.written("perf", *words), *PERF_SCRIPT)
    return totals.perf_script(said.out)


def perf_script_agrees(x):
    x.same(perf_script(x, *SAMPLES))


def perf_report_agrees(x):
    """With time as the weight, which is the default."""
    x.same(perf_script(x), "_ns")
    words = "--stdio --no-children -g none -t | -F period,sym,dso".split()
    said = run("perf", "report", "-i", x.file, *words)
    selves = {
        name: (own, 0) for name, (own, _) in x.ours("_ns").items() if own > 0
    }
    check.same(totals.perf_report(said.out), selves)


def annotate_agrees(x, symbol, image):
    """The shares of a function's instructions, in perf annotate, and as
    counted by babeltrace2."""
    said = run(
        *("perf", "annotate", "-i", x.written("perf", *SAMPLES)),
        *("--stdio", "-s", symbol),
    ).out
    row = re.compile(r"^ *([0-9]*\.[0-9]*) *: *([0-9a-f]*):", re.M)
    theirs = [
        f"{address} {share}"
        for share, address in row.findall(said)
        if float(share) > 0
    ]
    for line in run("nm", "-S", image).lines():
        words = line.split()
        if words[-1] == symbol:
            start, size = int(words[0], 16), int(words[1], 16)
    events = run("babeltrace2", x.trace).out
    ours = shares.shares(events, start, size)
    check.true(len(ours) > 5, ours)
    check.same(sorted(theirs), ours)


class Firefox:
    """profiler-cli with a profile that is loaded."""

    def __init__(self, s, folder):
        modules = s.npm(PROFILER_CLI)
        self.program = modules / PROFILER_CLI.rpartition("@")[0]
        self.program /= "dist/profiler-cli.js"
        self.folder = Path(folder)
        self.env = {"PROFILER_CLI_SESSION_DIR": folder}

    def ask(self, *words):
        return run(
            "node", self.program, *words, "--session", "x", env=self.env
        ).out

    def functions(self, thread):
        return json.loads(
            self.ask(
                *("thread", "functions", "--thread", f"t-{thread}"),
                *("--include-idle", "--limit", 0, "--json"),
            )
        )

    def is_ready(self):
        """Who asks before it answers, as while it loads, takes it for dead and
        removes its files for good."""
        log = self.folder / "x.log"
        return log.exists() and "Profile loaded" in log.read_text("utf-8")

    def load(self, file, log):
        return background(
            *("node", self.program, "--daemon", file, "--session", "x"),
            log=log,
            env=self.env,
        )


def firefox_agrees(x):
    file = x.s.work / "x.json.gz"
    x.parasite("export", "-q", "-o", file, *SAMPLES, *x.choice, x.trace)
    with gzip.open(file) as profile:
        threads = range(len(json.load(profile)["threads"]))
    # a socket is made there, whose path may have 108 characters
    with tempfile.TemporaryDirectory(prefix="firefox.") as folder:
        firefox = Firefox(x.s, folder)
        with firefox.load(file, x.s.work / "daemon.log") as daemon:
            soon(firefox.is_ready, "a profile is loaded", daemon.alive)
            found = [firefox.functions(thread) for thread in threads]
            firefox.ask("stop")
    x.same(totals.firefox(found))


def chrome_agrees(x):
    text = x.written("chrome").read_text(encoding="utf-8")
    x.same(totals.chrome(text))
    x.same(totals.chrome(text, "ns"), "_ns")


def catapult_agrees(x):
    trace = x.written("chrome").read_bytes()
    x.same(catapult.totals_ns(trace, x.s.work / "chromium.log"), "_ns")


def protoc(x):
    """Perfetto's packets as protoc prints them."""
    words = ("--decode=Trace", "-Itests/exports", "perfetto.proto")
    return run("protoc", *words, data=x.written("perfetto").read_bytes()).out


def perfetto_agrees(x):
    """Fields that perfetto.proto does not know have a number for a name."""
    said = protoc(x)
    check.lacks(said, "^ *[0-9]+[:{ ]")
    x.same(totals.perfetto(said))


def callgrind_annotate(x, *words):
    """What it says; it warns of nothing."""
    done = run("callgrind_annotate", *words, x.file)
    if done.err.strip():
        raise Failed(done.err)
    return done.out


def callgrind_agrees(x):
    x.written("callgrind")
    own, inclusive = (
        callgrind_annotate(
            *(x, "--threshold=100", "--show=samples", "--auto=no"),
            f"--inclusive={word}",
        )
        for word in ("no", "yes")
    )
    x.same(totals.callgrind(own, inclusive))


READERS = (
    ("folded stacks", folded_agrees),
    ("flamegraph.pl draws them", flamegraph_draws),
    ("go tool pprof", pprof_agrees),
    ("perf script", perf_script_agrees),
    ("perf report, by time", perf_report_agrees),
    ("profiler-cli of the Firefox Profiler", firefox_agrees),
    ("slices of Chrome's format, samples and time", chrome_agrees),
    ("Chrome's trace viewer, by time", catapult_agrees),
    ("protoc reads Perfetto's packets", perfetto_agrees),
    ("callgrind_annotate", callgrind_agrees),
)


def all_agree(what, x):
    for reader, agrees in READERS:
        x.s.holds(f"{what}: {reader}", agrees, x)
