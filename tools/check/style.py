# SPDX-License-Identifier: Apache-2.0
"""Format and lint of every language in the tree."""

import os
import re
import subprocess
import threading

from sources import Failed, matching, output, read, scripts

COLUMNS = 80
MAKEFILE_LINES = 250
UNFINISHED = "TO" "DO|FIX" "ME|XX" "X|HA" "CK|not " "implemented"
STAND_IN = "place" "holder"  # in JavaScript, an attribute of a field
SOURCES = "*.c *.h *.cpp *.asm *.inc *.S *.def *.py *.js *.css *.lua *.mk *.ld"

BLACK = ["black", "--quiet", "--line-length", "80"]
BIOME_VERSION = "1.9.4"
HERE = os.path.dirname(os.path.abspath(__file__))
FETCHING = threading.Lock()


def columns():
    """no source line has more than 80 columns"""
    found = []
    for name in sorted({*matching(*SOURCES.split(), "Makefile"), *scripts()}):
        for number, line in enumerate(read(name).splitlines(), 1):
            if len(line) > COLUMNS:
                found.append(f"{name}:{number}: {len(line)} columns")
    return found


def makefile_lines():
    """the Makefile can be read from end to end"""
    lines = len(read("Makefile").splitlines())
    if lines <= MAKEFILE_LINES:
        return []
    return [f"Makefile: {lines} lines, at most {MAKEFILE_LINES}"]


def unfinished():
    """nothing is left unfinished"""
    script = re.compile(rf"\b(?:{UNFINISHED})\b")
    other = re.compile(rf"\b(?:{UNFINISHED}|{STAND_IN})\b")
    patterns = "*.c *.h *.cpp *.asm *.sh *.py *.js *.ld *.lua *.pml Makefile"
    return [
        f"{name}:{number}: {line.strip()}"
        for name in matching(*patterns.split(), ".ci/*")
        for number, line in enumerate(read(name).splitlines(), 1)
        if (script if name.endswith(".js") else other).search(line)
    ]


def c_format():
    """clang-format leaves C and C++ as they are"""
    files = matching("*.c", "*.h", "*.cpp")
    return output(["clang-format-14", "--dry-run", "-Werror"], files, 2)


def python_format():
    """black leaves Python as it is"""
    return output(["black", *BLACK[2:], "--check"], matching("*.py"))


def python_lint():
    """pyflakes finds nothing in Python"""
    return output(["pyflakes3"], matching("*.py"))


def shell_lint():
    """shellcheck finds nothing in shell scripts"""
    return output(["shellcheck"], scripts())


def biome(build):
    """Path of the formatter and linter for JavaScript, fetched once by npm."""
    folder = f"{build}/biome-{BIOME_VERSION}"
    program = f"{folder}/node_modules/.bin/biome"
    with FETCHING:  # two checks want it at once
        if not os.path.exists(program):
            fetch_biome(folder, program)
    return program


def fetch_biome(folder, program):
    """Raises Failed unless npm brings it."""
    fetch = subprocess.run(
        "npm install --no-audit --no-fund --no-save --ignore-scripts "
        f"--prefix {folder} @biomejs/biome@{BIOME_VERSION}".split(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if fetch.returncode != 0 or not os.path.exists(program):
        raise Failed(f"npm could not fetch biome:\n{fetch.stdout}")


def biome_command(build, *words):
    """Command line of biome with our settings."""
    return [
        biome(build),
        *words,
        f"--config-path={HERE}",
        "--max-diagnostics=50",
        "--colors=off",
    ]


def javascript_format(build):
    """biome leaves JavaScript as it is"""
    return output(biome_command(build, "format"), matching("*.js"))


def javascript_lint(build):
    """biome finds nothing in JavaScript"""
    command = biome_command(build, "lint", "--error-on-warnings")
    return output(command, matching("*.js"))


def reformat(build):
    """Formats every file in place."""
    c_files = matching("*.c", "*.h", "*.cpp")
    subprocess.run(["clang-format-14", "-i", *c_files], check=True)
    subprocess.run([*BLACK, *matching("*.py")], check=True)
    subprocess.run(
        [*biome_command(build, "format", "--write"), *matching("*.js")],
        check=True,
    )
