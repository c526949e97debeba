# SPDX-License-Identifier: Apache-2.0
"""Functions of an image, as the command parasite sees them.

A function reaches up to its end, or to the next symbol; without a size, always
to the next symbol. A bare label within a function with a size is a place in it,
and so is a local one after a global one. Names of one address, and addresses
of one name, are one group: where two static functions have one name a report
cannot distinguish them, and need not.
"""

import re
import subprocess
import sys
import typing


class Symbol(typing.NamedTuple):
    """One of them."""

    start: int
    end: int
    name: str
    label: bool  # says nowhere that it is a function
    local: bool

    def is_inside(self, before):
        """Whether it is a place in the function in front of it."""
        if (
            not self.label
            or self.end != self.start
            or self.start == before.start
        ):
            return False
        if before.end != before.start:
            return self.start < before.end
        return self.local and before.label and not before.local


class Functions:
    """All functions of one image."""

    def __init__(self, image):
        self.names = {}  # start: names
        self.ends = {}
        before = None
        # sized ones first, as a label within them is none
        for symbol in sorted(
            self._symbols(image), key=lambda one: (one.start, -one.end)
        ):
            if before is not None and symbol.is_inside(before):
                continue
            if symbol.start not in self.names:
                before = symbol
                self.ends[symbol.start] = symbol.end
            self.names.setdefault(symbol.start, set()).add(symbol.name)
        self.starts = sorted(self.names)
        following = self.starts[1:] + [None]
        for start, after in zip(self.starts, following):
            end = self.ends[start]
            if end == start:
                end = after or start + 1
            self.ends[start] = min(end, after) if after else end
        self.group_of_name = {}
        self._group()

    @staticmethod
    def _symbols(image):
        """All that lies in a section of code."""

        def readelf(what):
            return subprocess.run(
                ["readelf", what, "-W", image],
                text=True,
                capture_output=True,
                check=True,
            ).stdout

        code = {
            match[1]
            for match in re.finditer(
                r"^ *\[ *(\d+)\] \S+ +\S+ +[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ "
                r"[0-9a-f]+ +\w*X\w* ",
                readelf("-S"),
                re.M,
            )
        }
        for line in readelf("-sC").splitlines():
            part = line.split(maxsplit=7)
            if len(part) < 8 or part[6] not in code:
                continue
            kind, name = part[3], part[7]
            if kind in ("SECTION", "FILE", "OBJECT"):
                continue
            if kind == "NOTYPE" and "." in name:
                continue
            start = int(part[1], 16)
            yield Symbol(
                start,
                start + int(part[2], 0),
                name,
                kind == "NOTYPE",
                part[4] == "LOCAL",
            )

    def _group(self):
        """Gives each name the smallest start that it is tied to."""
        group = {start: start for start in self.starts}
        first = {}

        def root(start):
            while group[start] != start:
                start = group[start]
            return start

        for start in self.starts:
            for name in self.names[start]:
                other = root(first.setdefault(name, start))
                mine = root(start)
                group[max(mine, other)] = min(mine, other)
        for name, start in first.items():
            self.group_of_name[name] = root(start)
        self.group_of_start = {start: root(start) for start in self.starts}

    def group_at(self, address):
        """The group of the function that holds it; None if none does."""
        low, high = 0, len(self.starts)
        while low < high:
            middle = (low + high) // 2
            if self.starts[middle] <= address:
                low = middle + 1
            else:
                high = middle
        if low == 0 or address >= self.ends[self.starts[low - 1]]:
            return None
        return self.group_of_start[self.starts[low - 1]]

    def name(self, group):
        """One of its names."""
        return min(self.names[group]) if group in self.names else "[none]"

    def write_map(self, path):
        """For the plugin."""
        with open(path, "w", encoding="ascii") as file:
            for start in self.starts:
                file.write(
                    f"{start:x} {self.ends[start]:x} "
                    f"{self.group_of_start[start]:x}\n"
                )


if __name__ == "__main__":
    Functions(sys.argv[1]).write_map(sys.argv[2])
