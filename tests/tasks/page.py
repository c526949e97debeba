# SPDX-License-Identifier: Apache-2.0
"""The samples of a flame graph's page."""

from harness.payload import Payload


class Page(Payload):
    """The page (path): its head, and .samples, (clocks, names from the
    outermost frame on) each."""

    def __init__(self, path):
        super().__init__(path)
        self.samples = list(zip(self._clocks(), self._stacks()))

    def _clocks(self):
        times = self.changes("sample.time")
        extra = self.signed("sample.extra")
        return [
            more + time - before
            for more, time, before in zip(extra, times, [0] + times)
        ]

    def _stacks(self):
        strings = list(self.strings())
        names = [strings[i] for i in self.changes("function.name")]
        nodes, path = [], []
        depths = self.changes("node.depth")
        for depth, function in zip(depths, self.plain("node.function")):
            del path[depth:]
            path.append(names[function - 1] if function else "")
            nodes.append(path[1:])
        of = self.changes("stack.node")
        return [nodes[of[i]] for i in self.plain("sample.stack")]
