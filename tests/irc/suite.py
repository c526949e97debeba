# SPDX-License-Identifier: Apache-2.0
"""The IRC server and its clients: its answers on the host, whatever clients
may send; loadgen; and the server booted, under load and with real clients; also
as a process."""

from clients import test_clients
from harness.suite import PROCESSES, WIDTHS
from hosted import test_fuzz, test_host, test_loadgen, test_story
from probes import test_probes
from processes import test_processes
from sessions import test_cpus, test_sessions
from traced import test_traced

HOST = {
    "host": test_host,
    "fuzz": test_fuzz,
    "loadgen": test_loadgen,
    "story": test_story,
}
CLOCKS = {"each": "cmos", "batch": "tsc"}
PARTS = (
    *HOST,
    *(f"{width}-{subject}" for width in WIDTHS for subject in CLOCKS),
    *(f"{width}-clients" for width in WIDTHS),
    *(f"{width}-cpus" for width in WIDTHS),
    *(f"{width}-probes" for width in WIDTHS),
    *(f"{width}-traced" for width in WIDTHS),
    *PROCESSES,
)


def suite(s):
    if s.part in HOST:
        HOST[s.part](s)
        return
    width, subject = s.part.split("-")
    if s.part in PROCESSES:
        s.use_processes(PROCESSES[s.part])
        test_processes(s, width)
    elif subject == "clients":
        test_clients(s, width)
    elif subject == "cpus":
        test_cpus(s, width)
    elif subject == "probes":
        test_probes(s, width)
    elif subject == "traced":
        test_traced(s, width)
    else:
        test_sessions(s, width, subject, CLOCKS[subject])
