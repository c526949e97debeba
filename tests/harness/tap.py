# SPDX-License-Identifier: Apache-2.0
"""The Test Anything Protocol: reads the output of guests, unit tests and
suites, and writes that of suites."""

import re
import sys
from dataclasses import dataclass, field

_TEST = re.compile(r"(not )?ok\b(?: +(\d+))?(?: *-? *(.*))?$")
_PLAN = re.compile(r"1\.\.(\d+)(?: *# *(.*))?$")
_SKIP = re.compile(r"(.*?) *# *skip\S* *(.*)", re.IGNORECASE)


def said_of(lines, number):
    """What a program says of the test in line (number): the lines around it, up
    to the test before and the one after. Some programs say why a test fails
    before its line, some after it."""
    first, last = number, number + 1
    while first > 0 and not test_of(lines[first - 1]):
        first -= 1
    while last < len(lines) and not test_of(lines[last]):
        last += 1
    # the last lines are shown: those after the test's are never left out
    return "\n".join(lines[max(first, number - 12) : min(last, number + 13)])


@dataclass
class Results:
    passed: int = 0
    failed: int = 0
    skipped: list = field(default_factory=list)  # "what: reason"
    planned: int = None  # None: no plan
    problems: list = field(default_factory=list)

    @property
    def done(self):
        return self.passed + self.failed + len(self.skipped)

    def problem(self, text):
        """What is wrong besides failed tests; counts as one failure."""
        self.problems.append(text)

    def counts(self):
        """(passed, failed, skipped)"""
        return (
            self.passed,
            self.failed + bool(self.problems),
            len(self.skipped),
        )


def test_of(line):
    """(good, what, reason for skipping it or None) of a line; None if it is
    not a test."""
    match = _TEST.match(line.rstrip("\r"))
    if not match:
        return None
    skip = _SKIP.match(match[3] or "")
    if skip and not match[1]:
        return True, skip[1], skip[2] or "no reason given"
    return not match[1], match[3] or "", None


def _test(results, line, number, last):
    good, what, reason = test_of(line)
    if reason is not None:
        results.skipped.append(f"{what or 'a test'}: {reason}")
    elif good:
        results.passed += 1
    else:
        results.failed += 1
    if number and int(number) != last + 1:
        results.problem(f"test {number} comes after test {last}")
    return int(number) if number else last + 1


def parse(text):
    """The Results of a log. It may contain several plans in sequence, each
    with tests numbered from 1."""
    results, last = Results(), 0
    for line in text.splitlines():
        line = line.rstrip("\r")
        plan = _PLAN.match(line)
        if plan:
            results.planned = (results.planned or 0) + int(plan[1])
            last = 0
            continue
        match = _TEST.match(line)
        if match:
            last = _test(results, line, match[2], last)
    if results.planned is None:
        results.problem("no plan")
    elif results.done != results.planned:
        results.problem(f"{results.done} tests instead of {results.planned}")
    elif results.done == 0:
        results.problem("no tests")
    return results


class Writer:
    """Prints TAP; the plan comes last, with end()."""

    def __init__(self, out=sys.stdout):
        self.out, self.number, self.failed = out, 0, 0

    def result(self, good, what, detail=""):
        self.number += 1
        self.failed += not good
        self._line(f"{'ok' if good else 'not ok'} {self.number} - {what}")
        if not good and detail:
            for line in detail.rstrip().splitlines()[-25:]:
                self.note(line[:200])
        return good

    def skip(self, what, reason):
        self.number += 1
        self._line(f"ok {self.number} - {what} # SKIP {reason}")

    def note(self, text):
        self._line(f"# {text}")

    def end(self):
        self._line(f"1..{self.number}")
        return 1 if self.failed else 0

    def _line(self, text):
        print(text, file=self.out, flush=True)
