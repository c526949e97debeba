# SPDX-License-Identifier: Apache-2.0
"""The services irc and http with functions that really are faster
(services/slow.h), beside those that are so on the virtual clock only: with
clients in the image, in guests that count instructions."""

import re
import tarfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from statistics import median

from harness.guest import Guest, GuestError

FUNCTIONS = ("parse", "lookup", "checksum", "flush")
GAIN_MAX = 1.0  # percentage points
P99_MAX = 3.0  # per cent
SLOWER_MAX = 2.0  # per cent: experiments at normal speed
# A service has several rhythms, and a run may change to another one: then a
# row misses a goal (docs/causal.md). Half of the rows of a service do not: they
# meet the goals times this, since all have one run at normal speed in common.
WIDER_MEDIAN = 2
# And none is off by more than another rhythm makes: 5 points were measured, and
# 5 % slower.
GAIN_EVER, SLOWER_EVER = 8.0, 7.0
WORDS = (
    "prof.start=off prof.every=0 prof.drain=10000 net.per_address=2048 "
    "net.load_sessions=1000000000"
)
# what a service needs, and how many times as many requests
SERVICES = {
    "irc": ("irc.every=0 net.load_requests=1", 4.5),
    "http": ("net.load_path=/index.html", 1),
}
RESULT = re.compile(
    r"^truth: \w+, \d+ %: clients (\d+), virtual (\d+), p99 (\d+), "
    r"answers (\d+), own (\d+), calls (\d+)$",
    re.M,
)
CHECKED = re.compile(
    r"^truth: 0 refused, 0 not noted, 0 too short, 0 of \d+ answers earlier "
    r"than assumed$",
    re.M,
)


def make_archive(path):
    """The files that the web server has."""
    body = b"<p>found</p>\n" * 20
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        info = tarfile.TarInfo("index.html")
        info.size = len(body)
        archive.addfile(info, BytesIO(body))
    return path


class Services:
    """Runs of a service of (build) at (width), with (visits) requests each.
    Further arguments are the guest's."""

    def __init__(self, build, width, service, visits, **limits):
        self.build, self.width, self.service = build, width, service
        self.words, times = SERVICES[service]
        self.visits, self.limits = int(visits * times), limits
        self.folder = build / width / "test"

    def run(self, how, function, percent):
        """The time for a unit of work, and the 99th percentile of latencies.
        Without experiments there is none of the latter."""
        name = f"causal_{self.service}"
        log = f"{name}-{how}-{function}-{percent}"
        modules = ()
        if self.service == "http":
            modules = [make_archive(self.folder / f"{log}.tar")]
        with Guest(
            self.folder / name / f"{name}.elf",
            self.width,
            self.folder / f"{log}.log",
            append=f"{WORDS} {self.words} net.load_truth_how={how} "
            f"net.load_truth_what={function} net.load_truth_faster={percent} "
            f"net.load_truth_visits={self.visits}",
            modules=modules,
            icount=0,
            **self.limits,
        ) as guest:
            guest.end()
            text = guest.text()
        found = RESULT.search(text)
        if not found or not CHECKED.search(text):
            raise GuestError(f"{log}: no result, or a wrong one:\n{text}")
        clients, virtual, p99, answers, _, calls = map(int, found.groups())
        if how == "plain" and calls == 0:
            raise GuestError(f"{log}: {function} was never called")
        if how != "plain" and answers == 0:
            raise GuestError(f"{log}: no answer was noted")
        return (clients if how == "plain" else virtual) / self.visits, p99


def gain(normal, faster):
    """In per cent."""
    return 100 * (1 - faster / normal)


class Row:
    """What is predicted of a function, and what is true."""

    def __init__(self, services, function, percent, runs):
        plain, normal = runs["plain", 0], runs["virtually", 0]
        self.name = f"{services.service}, {function}, {percent} %"
        self.truth = gain(plain[0], runs["plain", percent][0])
        self.predicted = gain(normal[0], runs["virtually", percent][0])
        self.p99 = runs["really", percent][1] / 1000
        self.p99_error = (
            100 * runs["virtually", percent][1] / runs["really", percent][1]
            - 100
        )
        self.slower = -gain(plain[0], normal[0])

    def good(self, wider=1):
        """Within the bounds, (wider) times for fewer requests."""
        return (
            abs(self.predicted - self.truth) <= wider * GAIN_MAX
            and abs(self.p99_error) <= wider * P99_MAX
            and abs(self.slower) <= wider * SLOWER_MAX
        )

    def __str__(self):
        return (
            f"{self.name:<24} {self.truth:6.2f} {self.predicted:9.2f} "
            f"{self.predicted - self.truth:6.2f} {self.p99:8.1f} "
            f"{self.p99_error:8.2f} {self.slower:8.2f}"
        )


def faults(found):
    """What is out of bounds in the rows of a service, in words."""
    texts = []
    for what, most, ever, figures in (
        (
            "gains are off by",
            GAIN_MAX,
            GAIN_EVER,
            [row.predicted - row.truth for row in found],
        ),
        ("p99 is off by", P99_MAX, None, [row.p99_error for row in found]),
        ("slower by", SLOWER_MAX, SLOWER_EVER, [row.slower for row in found]),
    ):
        sizes = [abs(each) for each in figures]
        if not median(sizes) <= WIDER_MEDIAN * most:
            texts.append(f"half of {what} {median(sizes):.2f} or more")
        if ever is not None and not max(sizes) <= ever:
            texts.append(f"{what} {max(sizes):.2f}")
    return texts


HEADING = (
    f"{'':<24} {'truth':>6} {'predicted':>9} {'error':>6} {'p99, us':>8} "
    f"{'error %':>8} {'slower %':>8}"
)


def rows(services, functions=FUNCTIONS, percents=(50, 25, 75), lanes=1):
    """A row for each function and speed-up."""
    keys = [
        (how, percent)
        for percent in percents
        for how in ("plain", "really", "virtually")
    ]
    keys = [("plain", 0), ("virtually", 0), *keys]
    with ThreadPoolExecutor(lanes) as pool:
        runs = {
            (function, *key): pool.submit(
                services.run, key[0], function, key[1]
            )
            for function in functions
            for key in keys
            if key != ("plain", 0) or function == functions[0]
        }
        runs = {key: run.result() for key, run in runs.items()}
    for function in functions:  # all are at normal speed
        runs[function, "plain", 0] = runs[functions[0], "plain", 0]
    return [
        Row(
            services,
            function,
            percent,
            {key: runs[(function, *key)] for key in keys},
        )
        for function in functions
        for percent in percents
    ]
