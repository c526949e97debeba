# SPDX-License-Identifier: Apache-2.0
"""Which files the checks look at: what git tracks or would track."""

import fnmatch
import os
import subprocess


class Failed(Exception):
    """A check could not be carried out."""


def listed():
    """Every file that git tracks or does not ignore, and that exists."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(
        command, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return sorted(name for name in set(names) if os.path.isfile(name))


# Programs of others' making whose mangled names are what a test needs, and what
# `make docs` makes.
DATA = ("tests/names/sources/", "docs/timeline/try/")

ALL = listed()


def matching(*patterns):
    """Files whose path or last name matches. None at all is a failure: a check
    of an empty list would always pass."""
    found = [
        name
        for name in ALL
        if not name.startswith(DATA)
        and any(
            fnmatch.fnmatch(name, pattern)
            or fnmatch.fnmatch(os.path.basename(name), pattern)
            for pattern in patterns
        )
    ]
    if not found:
        raise Failed(f"no file matches {' '.join(patterns)}")
    return found


def read(name):
    """The text of a file; bytes that are not UTF-8 become question marks."""
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


def is_text(name):
    """Whether a file holds no zero byte."""
    with open(name, "rb") as file:
        return b"\0" not in file.read(4096)


def scripts():
    """Shell scripts, by their first line."""
    shells = ("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash")
    found = [
        name
        for name in ALL
        if is_text(name) and read(name).split("\n", 1)[0].startswith(shells)
    ]
    if not found:
        raise Failed("no shell script found")
    return found


def output(command, files=(), batches=1):
    """Lines that (command) prints about (files) if it fails, else none.

    Split into (batches) processes that run side by side.
    """
    running = []
    for i in range(batches):
        part = files[i::batches]
        if files and not part:
            continue
        running.append(
            subprocess.Popen(
                [*command, *part],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        )
    lines = []
    for process in running:
        text = process.communicate()[0]
        if process.returncode != 0:
            lines += text.splitlines() or [f"{command[0]} failed"]
    return lines
