# SPDX-License-Identifier: Apache-2.0
"""gather.py FOLDER PART...: makes FOLDER/results.jsonl of FOLDER/PART.jsonl.

The first line is the head: date, commit, QEMU, compiler, accelerator, processor
and parts. The figures of the parts follow, each with its unit, goal and kind
from rows.txt. Figures NAME_least and NAME_most become the spread of NAME. A
part without a file has no lines; an unusable file is reported, and the exit
status is 1. A copy is kept as FOLDER/kept/DATE-COMMIT.jsonl.
"""

import json
import os
import shutil
import subprocess
import sys
import time

import figures


def said(*command):
    """The first line of output of (command), "" if it cannot be run."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return (done.stdout.splitlines() or [""])[0]


def processor():
    """The processor of this host, as Linux names it."""
    for _, line in figures.lines_of("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return ""


def head_of(parts):
    commit = said("git", "rev-parse", "--short", "HEAD") or "unknown"
    if said("git", "status", "--porcelain", "--untracked-files=no"):
        commit += "-changed"
    return {
        "commit": commit,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "qemu": said("qemu-system-x86_64", "--version"),
        "compiler": said("gcc", "--version"),
        "accel": "tcg",
        "cpu": processor(),
        "load": os.getloadavg()[2],
        "parts": parts,
    }


def fold_spread(found):
    """Turns NAME_least and NAME_most into low and high of NAME."""
    for suffix, end in (("_least", "low"), ("_most", "high")):
        for key in list(found):
            part, width, name, x = key
            whole = (part, width, name.removesuffix(suffix), x)
            if name.endswith(suffix) and whole in found:
                found[whole][end] = found.pop(key)["value"]


def with_words(part, found, groups):
    """The lines of a part, completed from its groups."""
    mine = [group for group in groups if group.part == part]
    rows = {row.name: row for group in mine for row in group.rows}
    for figure in found.values():
        row = rows.get(figure["name"])
        line = {"part": part}
        if row is not None:
            goal = row.goal_of(figure["width"])
            line.update(unit=row.unit, goal=goal, kind=row.kind)
        elif mine:
            line["kind"] = mine[0].kind
        yield {**line, **figure}


def main():
    folder, parts = sys.argv[1], sys.argv[2:]
    groups = figures.groups_of_table()
    head = head_of(parts)
    lines = [{"head": head}]
    status = 0
    for part in parts:
        path = os.path.join(folder, part + ".jsonl")
        try:
            _, found = figures.read(path) if os.path.exists(path) else ({}, {})
        except figures.Bad as error:
            print(f"gather.py: {error}", file=sys.stderr)
            status = 1
            continue
        fold_spread(found)
        lines += with_words(part, found, groups)
    results = os.path.join(folder, "results.jsonl")
    with open(results, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    os.makedirs(os.path.join(folder, "kept"), exist_ok=True)
    name = head["date"].replace(":", "") + "-" + head["commit"] + ".jsonl"
    shutil.copyfile(results, os.path.join(folder, "kept", name))
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except figures.Bad as error:
        sys.exit(f"gather.py: {error}")
