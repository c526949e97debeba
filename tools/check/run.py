#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What can be said about the sources without running them.

usage: run.py [BUILD]          every check; one line each, then the sum
       run.py BUILD NAME...    only checks whose description contains a NAME
       run.py BUILD --format   formats every file in place instead
"""

import concurrent.futures
import os
import subprocess
import sys
import time

import builds
import documents
import layers
import style
from sources import Failed

SHOWN = 30  # lines of a failed check


def checks(build):
    """[(description, function)], what takes long first."""
    clang = f"{build}/clang"
    found = []

    def add(function, *arguments, what=None):
        what = what or function.__doc__
        found.append((what, lambda: function(*arguments)))

    for compiler, folder in (("gcc", build), ("clang-14", clang)):
        what = f"{compiler} builds every room at both widths"
        add(builds.build, compiler, folder, what=what)
    add(style.javascript_format, build)
    add(style.javascript_lint, build)
    for function in (
        style.python_format,
        style.python_lint,
        style.shell_lint,
        style.c_format,
        builds.headers,
        builds.headers_in_cxx,
        layers.allowed,
        layers.no_file_cycles,
        layers.no_unit_cycles,
        layers.rooms,
        style.columns,
        style.makefile_lines,
        style.unfinished,
        documents.licensed,
        documents.commands,
        documents.links,
        documents.readmes,
        documents.events,
    ):
        add(function)
    return found


def export_checks(build):
    """The same for the objects that the builds leave."""
    return [
        (
            f"needs and exports of {folder}/{width}/profiler.o",
            lambda folder=folder, width=width: builds.exports(folder, width),
        )
        for folder in (build, f"{build}/clang")
        for width in builds.WIDTHS
    ] + [
        (
            f"no symbol of a higher room is used in {tree} ({folder})",
            lambda tree=tree, folder=folder: layers.upward_calls(
                tree, f"{build}/{folder}/obj/{tree}"
            ),
        )
        for tree, folder in (
            ("profiler", "i386"),
            ("profiler", "x86_64"),
            ("host", "host"),
        )
    ]


def carry_out(check):
    """(description, problems, seconds) of one check."""
    what, function = check
    began = time.monotonic()
    try:
        problems = function()
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        problems = str(error).splitlines() or ["failed"]
    return what, problems, time.monotonic() - began


def report(what, problems, seconds):
    """Prints one result and returns how it counts."""
    outcome = "ok"
    if problems:
        outcome = "FAILED"
    print(f"{outcome:<8}{what} ({seconds:.1f} s)", flush=True)
    for line in problems[:SHOWN]:
        print(f"        {line}")
    if len(problems) > SHOWN:
        print(f"        {len(problems)} lines in all")
    return outcome


def main(build="build", *names):
    """Returns the exit code."""
    if build.startswith("-"):
        sys.exit(__doc__)
    if names == ("--format",):
        style.reformat(build)
        return 0
    stages = [checks(build), export_checks(build)]
    count = {"ok": 0, "FAILED": 0}
    workers = os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for stage in stages:
            chosen = [
                check
                for check in stage
                if not names or any(name in check[0] for name in names)
            ]
            for result in pool.map(carry_out, chosen):
                count[report(*result)] += 1
    print(f"{count['ok']} passed, {count['FAILED']} failed")
    return 1 if count["FAILED"] or not count["ok"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
