# SPDX-License-Identifier: Apache-2.0
"""Limits: columns, lines of files and functions, files of folders, comments."""

import ast
import collections
import json
import os
import re
import subprocess

from sources import ALL, Failed, matching, read, scripts

FILE_LINES = 400
MAKEFILE_LINES = 250
FUNCTION_LINES = 60
FOLDER_FILES = 40
COLUMNS = 80
README_LINES = 30
COMMENT_PERCENT = (15, 20)

C = ("*.c", "*.h", "*.cpp", "*.asm", "*.inc", "*.S", "*.def")
SOURCES = (*C, "*.py", "*.js", "*.css", "*.lua", "*.mk", "*.ld", "Makefile")


def sources():
    """All sources that are run, built or linked."""
    return sorted(set(matching(*SOURCES)) | set(scripts()))


def files():
    """no source file is too long"""
    found = []
    for name in sources():
        lines = len(read(name).splitlines())
        limit = MAKEFILE_LINES if name == "Makefile" else FILE_LINES
        if lines > limit:
            found.append(f"{name}: {lines} lines, at most {limit}")
    return found


def columns():
    """no source line has more than 80 columns"""
    found = []
    for name in sources():
        for number, line in enumerate(read(name).splitlines(), 1):
            if len(line) > COLUMNS:
                found.append(f"{name}:{number}: {len(line)} columns")
    return found


def folders():
    """no folder has too many files"""
    count = collections.Counter(os.path.dirname(name) for name in ALL)
    return [
        f"{folder or '.'}: {number} files, at most {FOLDER_FILES}"
        for folder, number in sorted(count.items())
        if number > FOLDER_FILES
    ]


def c_functions():
    """(file, name, lines) of each function in C and C++."""
    names = "\n".join(matching("*.c", "*.h", "*.cpp"))
    command = "ctags-universal --output-format=json --fields=+ne -L - -f -"
    tags = subprocess.run(
        command.split(), input=names, capture_output=True, text=True, check=True
    ).stdout
    for line in tags.splitlines():
        tag = json.loads(line)
        if tag["kind"] == "function":
            yield tag["path"], tag["name"], tag["end"] - tag["line"] + 1


def python_functions():
    """The same of Python."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    for name in matching("*.py"):
        for node in ast.walk(ast.parse(read(name), name)):
            if isinstance(node, kinds):
                yield name, node.name, node.end_lineno - node.lineno + 1


def indented_functions(names, start):
    """The same where a function begins with (start) and ends with a brace that
    stands as far to the right as its beginning."""
    for name in names:
        began = {}
        for number, line in enumerate(read(name).splitlines()):
            match = re.match(start, line)
            indent = len(line) - len(line.lstrip())
            if match:
                began[indent] = (match.group(1), number)
            elif line.lstrip().startswith("}") and indent in began:
                function, first = began.pop(indent)
                yield name, function, number - first + 1


def functions():
    """no function is too long"""
    shell = r"\s*([a-z_0-9]+)\(\)(?!.*})"
    script = r"\s*(?:export )?(?:async )?function\*? ?(\w+)(?!.*}$)"
    measured = [
        *c_functions(),
        *python_functions(),
        *indented_functions(scripts(), shell),
        *indented_functions(matching("*.js"), script),
    ]
    for language in (".c", ".cpp", ".py", ".sh", ".js"):
        if not any(name.endswith(language) for name, _, _ in measured):
            raise Failed(f"no function found in any *{language}")
    return [
        f"{name}: {function}() has {lines} lines, at most {FUNCTION_LINES}"
        for name, function, lines in measured
        if lines > FUNCTION_LINES
    ]


def comment_lines(text, assembly):
    """Lines that hold a comment and nothing else, and lines not blank."""
    comments = filled = 0
    inside = False
    for line in map(str.strip, text.splitlines()):
        if not line:
            continue
        filled += 1
        if assembly:
            comments += line.startswith(";")
        elif inside:
            comments += 1
            inside = "*/" not in line
        elif line.startswith("/*"):
            end = line.find("*/")
            comments += end in (-1, len(line) - 2)
            inside = end < 0
        else:
            comments += line.startswith("//")
            inside = "/*" in line and "*/" not in line
    return comments, filled


def comment_percent(folder):
    """Of the lines in C and assembly that are not blank, the share that hold
    a comment and nothing else."""
    comments = filled = 0
    for name in matching(*(f"{folder}/{pattern}" for pattern in C)):
        counts = comment_lines(read(name), name.endswith((".asm", ".inc")))
        comments += counts[0]
        filled += counts[1]
    return 100 * comments / filled


def comments():
    """15 to 20 % of profiler, kernel, arch and drivers are comments"""
    low, high = COMMENT_PERCENT
    found = []
    for folder in ("profiler", "kernel", "arch", "drivers"):
        percent = comment_percent(folder)
        if not low <= percent <= high:
            found.append(f"{folder}: {percent:.1f} %, not {low} to {high} %")
    return found
