# SPDX-License-Identifier: Apache-2.0
"""The page of both sides."""

from harness.payload import Payload


class Page(Payload):
    def kinds_of_functions(self):
        """{innermost function: {kind: samples from outside}}"""
        strings, kinds = list(self.strings()), self.head["both"]["kinds"]
        names = [strings[i] for i in self.changes("function.name")]
        functions = self.plain("node.function")
        nodes = self.changes("stack.node")
        found = {}
        for stack, kind in zip(
            self.plain("outside.stack"), self.plain("outside.kind")
        ):
            function = names[functions[nodes[stack]] - 1]
            counts = found.setdefault(function, {})
            counts[kinds[kind]] = counts.get(kinds[kind], 0) + 1
        return found
