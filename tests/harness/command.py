# SPDX-License-Identifier: Apache-2.0
"""The command parasite for suites: makes traces and reads its output."""

import collections
import json
import re
import shutil
import signal

from . import check, qemu
from .proc import background, run

ANSWER_S = 120
_EVENT = re.compile(r"\[[^]]*\] \([^)]*\) ([a-z_]*):")
_FORM = re.compile(r"(_wide|_late)*$")


class Command:
    """parasite = Command(s); parasite("report", "-q", trace) runs it, with
    run()'s options. tell waits for an answer as long as a busy host may take,
    unless a test has its own -w."""

    def __init__(self, suite):
        self.suite, self.path = suite, suite.parasite

    def __call__(self, *words, **options):
        if words[:1] == ("tell",):
            words = ("tell", "-w", ANSWER_S, *words[1:])  # the last -w counts
        return run(self.path, *words, **options)

    # ---- its output for a trace

    def info(self, trace):
        """{name: value} of info --json; None for unknown names."""
        found = json.loads(self("info", "--json", trace).out)
        return collections.defaultdict(lambda: None, found)

    def rows(self, trace, *words):
        """The rows of report --json."""
        return self.report(trace, *words)["rows"]

    def report(self, trace, *words):
        """Of all samples, those of the profiler itself included."""
        words = ("--profiler", *words, "-i", trace)
        return json.loads(self("report", "-q", "--json", *words).out)

    def selves(self, trace, *words):
        """{function: (self, total)}"""
        return {
            row["symbol"]: (row["self"], row["total"])
            for row in self.rows(trace, *words)
        }

    def folded(self, trace, *words):
        """[(functions from the outermost on, samples)] of export -f folded;
        time where (words) ask for it."""
        words = ("--weight", "samples", *words)
        lines = self("export", "-q", "-f", "folded", *words, trace).lines()
        stacks = [line.rsplit(" ", 1) for line in lines]
        return [(names.split(";"), int(weight)) for names, weight in stacks]

    # ---- traces

    def make_stream(self, *words, **env):
        """The bytes of a stream made by build/host/make_stream."""
        maker = self.suite.build / "host" / "make_stream"
        return run(maker, *words, env=env).data

    def record(self, trace, *words, **options):
        """Records to (trace), which is deleted first."""
        shutil.rmtree(trace, ignore_errors=True)
        return self("record", "-o", trace, *words, **options)

    def attach(self, trace, enough, *words, log):
        """Samples from outside to (trace), which is deleted first, until
        enough(), however long that takes; what it said, in the file (log)."""
        shutil.rmtree(trace, ignore_errors=True)
        words = (self.path, "attach", "-o", trace, *words)
        with background(*words, log=log) as sampling:
            sampling.soon(if_grown(trace, enough), "enough samples")
            sampling.signal(signal.SIGINT)
            sampling.end()
        return sampling.text()

    def machine(
        self,
        width,
        service,
        append,
        *args,
        modules=(),
        icount=None,
        cpus=None,
    ):
        """Arguments of record or top: "--" and a QEMU with the service, in the
        image for several CPUs where there are (cpus)."""
        if cpus is not None:
            args += ("-smp", str(cpus))
        if icount is not None:
            args += tuple(qemu.icount(icount))
        image = self.suite.image(width, service, cpus)
        return (
            "--",
            *qemu.command(
                width, image, append, modules=modules, serial=None, args=args
            ),
        )


def if_grown(trace, enough):
    """enough(), but false until (trace) has grown by a tenth since: its size is
    cheaper to look at than what it says."""
    seen = [0]

    def looks():
        try:
            size = sum(file.stat().st_size for file in trace.glob("*"))
        except FileNotFoundError:  # one has just got another name
            return False
        if size <= 1.1 * seen[0]:
            return False
        seen[0] = size
        return enough()

    return looks


def boot_and_record(s, width, image, name, append, code=0, **options):
    """Boots an image until it ends, with that exit code, and records what it
    writes to port 0xe9: the trace NAME.trace, and its console."""
    packets, trace = s.work / f"{name}.bin", s.work / f"{name}.trace"
    with s.guest(
        *(width, image, name),
        append=f"prof.out=e9 {append}",
        stream=packets,
        **{"icount": 0, **options},
    ) as guest:
        check.same(guest.end(), code)
        text = guest.text()
    Command(s).record(
        *(trace, "-q", f"file:{packets}"),
        *("-k", s.image(width, image, options.get("cpus"))),
    )
    return trace, text


def packets_of(data):
    """The packets of a stream that nothing else is in."""
    found = []
    while data:
        size = int.from_bytes(data[48:52], "little") // 8
        check.true(size > 0, "a packet's length")
        found.append(data[:size])
        data = data[size:]
    return found


def event_counts(trace):
    """{kind: count} of the events that babeltrace2 reads in (trace); all forms
    of a kind count as one."""
    done = run("babeltrace2", trace)
    found = collections.Counter()
    for line in done.lines():
        found[_FORM.sub("", _EVENT.match(line)[1])] += 1
    return found


def build_id(image):
    """The build-id of an ELF file, hexadecimal."""
    return re.search(r"Build ID: (\S+)", run("readelf", "-n", image).out)[1]


def text_addresses(image, names=None):
    """Addresses of its functions as nm prints them, one per line; with names
    only of the functions that are among these."""
    found = [line.split() for line in run("nm", image).lines()]
    return "".join(
        f"{words[0]}\n"
        for words in found
        if len(words) == 3 and words[1] in "Tt" and "." not in words[2]
        if names is None or words[2] in names
    )


def event_lines(trace):
    """The output of babeltrace2 for the trace, as event_text()."""
    found = run("babeltrace2", "--no-delta", trace)
    return [event_text(line) for line in found.err.splitlines() + found.lines()]


def event_text(line):
    """A line of babeltrace2 in the form of harness/made_events.py: the name
    of the event, then NAME=NUMBER for each field."""
    name, fields = re.match(
        r"\S+ (\w+): \{.*?\}(?:, \{ (.*)\})?$", line
    ).groups("")
    fields = re.sub(r"\( \"(\w+)\" : container = \d+ \)", r"\1", fields)
    fields = re.sub(
        r"\[ (.*?) \]",
        lambda array: re.sub(r"\[\d+\] = |\s", "", array[1]).replace(",", ";"),
        fields,
    )
    parts = [part.replace(" = ", "=") for part in fields.strip().split(", ")]
    return " ".join([name, *parts]).strip().replace(";", ",")
