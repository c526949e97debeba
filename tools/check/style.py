# SPDX-License-Identifier: Apache-2.0
"""Format and lint of every language in the tree."""

import os
import subprocess
import threading

from sources import Failed, matching, output, scripts

BLACK = ["black", "--quiet", "--line-length", "80"]
BIOME_VERSION = "1.9.4"
HERE = os.path.dirname(os.path.abspath(__file__))
FETCHING = threading.Lock()


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
