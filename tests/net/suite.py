# SPDX-License-Identifier: Apache-2.0
"""Guests on QEMU's user network, which this machine talks to over forwarded
ports of the loopback; then over a bad wire, and through floods. The web server
also as a process, and on several CPUs."""

from harness.suite import PROCESSES, WIDTHS
from limits import test_limits
from peers import test_causal, test_checksums, test_connections
from spread import test_spread
from streams import test_streams
from web import test_http
from wires import test_wire

SUBJECTS = {
    "http": test_http,
    "spread": test_spread,
    "connections": test_connections,
    "causal": test_causal,
    "checksums": test_checksums,
    "streams": test_streams,
    "wire": test_wire,
    "limits": test_limits,
}
PARTS = (
    *(f"{width}-{subject}" for width in WIDTHS for subject in SUBJECTS),
    *PROCESSES,
)


def suite(s):
    s.width, subject = s.part.split("-")
    if s.part in PROCESSES:
        s.use_processes(PROCESSES[s.part])
        subject = "http"
    SUBJECTS[subject](s)
