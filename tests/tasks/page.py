# SPDX-License-Identifier: Apache-2.0
"""The payload of a flame graph's page (docs/views.md)."""

import base64
import gzip
import json
import re


def _numbers(data):
    """The varints in (data)."""
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0


def _signed(numbers):
    return [-(n >> 1) - 1 if n & 1 else n >> 1 for n in numbers]


def _sums(numbers):
    sums, total = [], 0
    for change in _signed(numbers):
        total += change
        sums.append(total)
    return sums


class Page:
    """The page (path): its head, and .samples, (clocks, names from the
    outermost frame on) each."""

    def __init__(self, path):
        packed = re.search(
            rb"octet-stream\">([^<]+)<", path.read_bytes(), re.S
        )[1]
        payload = gzip.decompress(base64.b64decode(packed))
        at = 4 + int.from_bytes(payload[:4], "little")
        self.head = json.loads(payload[4:at])
        self.columns = {}
        for name, _, size in self.head["columns"]:
            self.columns[name] = payload[at : at + size]
            at += size
        self.samples = list(zip(self._clocks(), self._stacks()))

    def _plain(self, name):
        return list(_numbers(self.columns[name]))

    def _changes(self, name):
        return _sums(self._plain(name))

    def _strings(self):
        at = 0
        for size in self._plain("string.bytes"):
            yield self.columns["text"][at : at + size].decode()
            at += size

    def _clocks(self):
        times = self._changes("sample.time")
        extra = _signed(self._plain("sample.extra"))
        return [
            more + time - before
            for more, time, before in zip(extra, times, [0] + times)
        ]

    def _stacks(self):
        strings = list(self._strings())
        names = [strings[i] for i in self._changes("function.name")]
        nodes, path = [], []
        depths = self._changes("node.depth")
        for depth, function in zip(depths, self._plain("node.function")):
            del path[depth:]
            path.append(names[function - 1] if function else "")
            nodes.append(path[1:])
        of = self._changes("stack.node")
        return [nodes[of[i]] for i in self._plain("sample.stack")]
