# SPDX-License-Identifier: Apache-2.0
"""The page of both sides."""

from harness.payload import Payload


class Page(Payload):
    def outside_functions(self):
        """The innermost function of each sample from outside."""
        strings = list(self.strings())
        names = [strings[i] for i in self.changes("function.name")]
        functions = self.plain("node.function")
        nodes = self.changes("stack.node")
        return [
            names[functions[nodes[stack]] - 1]
            for stack in self.plain("outside.stack")
        ]

    def kinds_of_functions(self):
        """{innermost function: {kind: samples from outside}}"""
        kinds, found = self.head["both"]["kinds"], {}
        for function, kind in zip(
            self.outside_functions(), self.plain("outside.kind")
        ):
            counts = found.setdefault(function, {})
            counts[kinds[kind]] = counts.get(kinds[kind], 0) + 1
        return found
