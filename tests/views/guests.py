# SPDX-License-Identifier: Apache-2.0
"""Traces of guests, each recorded when it is first asked for."""

import json

from harness.command import Command
from harness.suite import run

#: samples a second; i386 is a smaller sample
RATES = {"x86_64": (911, 953, 997, 1021), "i386": (953, 997)}
PARSER = "services/lua/scripts/parser.lua"
#: {name: (service, command line)}. What has changed has a leaf_b that takes a
#: tenth less of all, and a leaf_c that takes a tenth more. The steady one's
#: period does not vary, so that its shares repeat.
MACHINES = {
    "split": ("split", "prof.reports=1"),
    "lua": ("lua", "prof.reports=1"),
    "base": ("split", "prof.reports=8"),
    "changed": ("split", "prof.reports=8 split.weights=4,2,3,1"),
    "steady": ("split", "prof.reports=3 prof.jitter=0"),
}
HOSTILE = (
    '<img src=x onerror="harmed=1">&amp;\'</script><b>',
    "gr\u00f6\u00dfe_\u03bb\u2192\U0001d11e",
    "<" * 10000,
)


class Views:
    def __init__(self, s):
        self.s, self.parasite, self.traces = s, Command(s), {}

    def trace(self, name, width="x86_64", rate=997):
        path = self.s.work / f"{width}.{name}.{rate}"
        if path not in self.traces:
            service, append = MACHINES[name]
            machine = self.parasite.machine(
                *(width, service, append), modules=[PARSER], icount=2
            )
            self.parasite.record(path, "-q", "-F", rate, *machine)
            self.traces[path] = True
        return path

    @property
    def base(self):
        return self.trace("base")

    @property
    def changed(self):
        return self.trace("changed")

    def annotate(self, *words, **options):
        return self.parasite("annotate", "-q", *words, **options)

    def annotated(self, *words):
        """The JSON of annotate."""
        return json.loads(self.annotate("--json", *words).out)

    def diff(self, *words, **options):
        return self.parasite("diff", *words, **options)

    def differences(self, *words):
        """The JSON of diff."""
        return json.loads(self.diff("--json", *words).out)

    def renamed(self, names):
        """The image with other names for leaf_a and those after it."""
        image = self.s.work / "renamed.elf"
        words = [
            f"--redefine-sym=leaf_{letter}={name}"
            for letter, name in zip("abc", names)
        ]
        run("objcopy", *words, self.s.image("x86_64", "split"), image)
        return image
