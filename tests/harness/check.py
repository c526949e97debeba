# SPDX-License-Identifier: Apache-2.0
"""Checks for a suite's tests: each raises Failed with both values if it does
not hold."""

import difflib
import re

from .proc import Failed


def true(value, text="should be true"):
    """(value) is true; returns it."""
    if not value:
        raise Failed(f"{text}: {value!r}")
    return value


def same(got, wanted, text=""):
    """Equal; texts of several lines are shown as a diff."""
    if got == wanted:
        return
    if (
        isinstance(got, str)
        and isinstance(wanted, str)
        and "\n" in got + wanted
    ):
        diff = "\n".join(
            difflib.unified_diff(
                wanted.splitlines(),
                got.splitlines(),
                "wanted",
                "got",
                lineterm="",
            )
        )
        raise Failed(f"{text}\n{diff}")
    raise Failed(f"{text} got {got!r}, wanted {wanted!r}")


def between(got, low, high, text=""):
    """low <= got <= high"""
    if not low <= got <= high:
        raise Failed(f"{text} got {got}, wanted {low} to {high}")


def near(got, wanted, part=0.05, text=""):
    """Within that fraction of (wanted)."""
    between(got, wanted * (1 - part), wanted * (1 + part), text)


def has(text, pattern, count=None):
    """A line of (text) matches the regular expression; with (count) exactly
    that many do. Returns the first match."""
    found = [
        m for m in (re.search(pattern, line) for line in text.splitlines()) if m
    ]
    if not found or count not in (None, len(found)):
        wanted = "" if count is None else f", wanted {count}"
        raise Failed(
            f"{len(found)} lines have {pattern!r}{wanted}:\n" f"{text[-4000:]}"
        )
    return found[0]


def lacks(text, pattern):
    """No line of (text) matches the regular expression."""
    for line in text.splitlines():
        if re.search(pattern, line):
            raise Failed(f"should not have {pattern!r}: {line}")


def contains(text, words):
    """(text) contains (words), a fixed string."""
    if words not in text:
        raise Failed(f"{words!r} is not in:\n{text[-4000:]}")
