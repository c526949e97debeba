# SPDX-License-Identifier: Apache-2.0
"""The profiler's port, prof.port=: of the IRC server under load, of services
that do not use the network themselves, of two guests that are connected by a
network without a host; and of processes: at 64 bits with sanitizers, and with
FULL=1 also without, and at 32 bits."""


from harness.suite import FULL, PROCESSES, WIDTHS
from peers import test_peers
from services import test_services
from under_load import test_under_load

PARTS = (
    *(f"{width}-load" for width in WIDTHS),
    *(f"{width}-services" for width in WIDTHS),
    *(f"{width}-peers" for width in WIDTHS),
    *(part for part in PROCESSES if FULL or part == "x86_64-sanitized"),
)


def suite(s):
    width, subject = s.part.split("-")
    if s.part in PROCESSES:
        s.use_processes(PROCESSES[s.part])
        test_under_load(s, width)
    elif subject == "load":
        test_under_load(s, width)
    elif subject == "services":
        test_services(s, width)
    else:
        test_peers(s, width)
