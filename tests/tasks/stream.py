# SPDX-License-Identifier: Apache-2.0
"""Streams of objects that make_tasks wrote, and packets of them."""

import json
import struct

from harness.suite import run

END = 28  # of a packet's head: the time of its last event
CONTENT = 44  # bits


class Made:
    """What make_tasks wrote: .data, and .says, what is in it."""

    def __init__(self, s, *words):
        done = run(s.build / "host/make_tasks", *words)
        self.data, self.says = done.data, json.loads(done.err)

    def packets(self):
        """The packets, each as a bytearray."""
        found, at = [], 0
        while at < len(self.data):
            bits = struct.unpack_from("<I", self.data, at + CONTENT + 4)[0]
            found.append(bytearray(self.data[at : at + bits // 8]))
            at += bits // 8
        return found
