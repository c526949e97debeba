# SPDX-License-Identifier: Apache-2.0
"""Documents: commands, links, licences, a README for each room."""

import os
import re
import shlex
import subprocess

from sources import ALL, Failed, is_text, matching, read

# Data that others compare with byte for byte has no room for a comment.
UNLICENSED = re.compile(r"LICENSE|.*/ldflags|tests/guest/[^/]*/[a-z]+2?")
LICENCE = "SPDX-License-Identifier: Apache-2.0"
TREES = ("arch", "drivers", "kernel", "linker", "services")


def licensed():
    """every file names its licence"""
    found = []
    for name in ALL:
        if UNLICENSED.fullmatch(name) or not is_text(name):
            continue
        text = read(name)
        if text and LICENCE not in "\n".join(text.splitlines()[:5]):
            found.append(f"no SPDX line: {name}")
    return found


def commands():
    """every make command in the documents exists"""
    value = r"""(?:"[^"\n]*"|'[^'\n]*'|\S*)"""
    rule = re.compile(
        rf"^    (make(?: [A-Za-z_][A-Za-z_-]*(?:={value})?)+)", re.M
    )
    wanted = {
        command
        for page in matching("*.md")
        for command in rule.findall(read(page))
    }
    if not wanted:
        raise Failed("no make command found in any document")
    return [
        f"does not work: {command}"
        for command in sorted(wanted)
        if subprocess.run(
            [*shlex.split(command), "-n"], capture_output=True, check=False
        ).returncode
        != 0
    ]


def links():
    """every link in the documents leads to a file"""
    found = []
    for page in matching("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", read(page)):
            if not os.path.exists(os.path.join(os.path.dirname(page), target)):
                found.append(f"{page}: no such file: {target}")
    return found


def events():
    """the tables of events in docs/format.md are current"""
    done = subprocess.run(
        ["tools/build/events_table.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    said = (done.stdout + done.stderr).splitlines()
    return said or ([] if done.returncode == 0 else ["failed without a word"])


def rooms():
    """The folders that are rooms: of a list `rooms`, or of TREES."""
    found = list(TREES)
    for path in matching("rooms"):
        for line in read(path).splitlines():
            room, colon, _ = line.split("#")[0].partition(":")
            if colon:
                found.append(f"{os.path.dirname(path)}/{room.strip()}")
    return found


def readmes():
    """every room has a README.md"""
    found = []
    for room in rooms():
        name = f"{room}/README.md"
        if name not in ALL:
            found.append(f"{name} is missing")
    return found
