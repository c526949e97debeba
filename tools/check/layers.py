# SPDX-License-Identifier: Apache-2.0
"""What may include what: the list in `layers`, and no cycles."""

import fnmatch
import os
import re
import subprocess
import sys

from sources import Failed, matching, read

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = re.compile(r'^\s*[#%]\s*include\s+([<"])([^">]+)[">]', re.M)
C = ("*.c", "*.h", "*.cpp", "*.asm", "*.inc")

# Folders given to the compiler by -I, as far as they hold our own headers.
ROOTS = (
    "arch/include",
    "arch/x86",
    "arch/x86/i386",
    "arch/x86/x86_64",
    "drivers",
    "kernel/include",
    "kernel/net/lwip",
    "profiler/include",
    "services/lua",
    "",
)

# Public headers and both widths belong to the same unit as the source.
SAME_UNIT = (
    ("arch/include/arch/", "arch/x86/"),
    ("arch/x86/i386/", "arch/x86/"),
    ("arch/x86/x86_64/", "arch/x86/"),
    ("kernel/include/kernel/", "kernel/"),
)


def read_layers():
    """[(pattern of a folder, [patterns that it may include])], in order."""
    layers = []
    for line in read(f"{HERE}/layers").splitlines():
        folder, colon, allowed = line.split("#")[0].partition(":")
        if not colon:
            continue
        known = [pattern for pattern, _ in layers]
        for pattern in allowed.split():
            if pattern not in known:
                raise Failed(f"layers: {folder} uses {pattern}, not above it")
        layers.append((folder, allowed.split()))
    if not layers:
        raise Failed("layers: empty list")
    return layers


def layer_of(name, layers):
    """The line of the list that names the innermost folder around (name)."""
    folder = os.path.dirname(name)
    while folder:
        for pattern, allowed in layers:
            if fnmatch.fnmatch(folder, pattern) and folder.count(
                "/"
            ) == pattern.count("/"):
                return folder, pattern, allowed
        folder = os.path.dirname(folder)
    return None


def includes():
    """{file: [(file that it includes, how it is written)]}, ours only."""
    names = matching(*C)
    known = set(names)
    graph = {}
    for name in names:
        graph[name] = []
        own = os.path.dirname(name)
        for quote, wanted in INCLUDE.findall(read(name)):
            folders = ((own,) if quote == '"' else ()) + ROOTS
            paths = (os.path.normpath(f"./{f}/{wanted}") for f in folders)
            found = next((path for path in paths if path in known), None)
            if found:
                graph[name].append((found, wanted))
    if not any(graph.values()):
        raise Failed("no include found in any file")
    return graph


def allowed():
    """files include only what their layer may"""
    layers = read_layers()
    problems = []
    for name, found in includes().items():
        layer = layer_of(name, layers)
        if not layer:
            problems.append(f"{name}: its folder is not in tools/check/layers")
            continue
        for target, wanted in found:
            above = layer_of(target, layers)
            if not above or above[0] == layer[0] or above[1] in layer[2]:
                continue
            problems.append(f"{name}: {layer[0]} may not include {wanted}")
    return problems


def cycles(graph):
    """Groups of nodes that reach each other (Tarjan's algorithm)."""
    index, low, stack, groups = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            place = stack.index(node)
            if len(stack) - place > 1:
                groups.append(sorted(stack[place:]))
            del stack[place:]

    sys.setrecursionlimit(100000)
    for node in graph:
        if node not in index:
            visit(node)
    return groups


def no_file_cycles():
    """no include cycles between files"""
    graph = {
        name: [target for target, _ in found]
        for name, found in includes().items()
    }
    return [f"cycle: {' '.join(group)}" for group in cycles(graph)]


def unit_of(name):
    """A header and the source that implements it are one unit."""
    for public, private in SAME_UNIT:
        if name.startswith(public):
            name = private + name[len(public) :]
    return os.path.splitext(name)[0]


def no_unit_cycles():
    """no include cycles between units, a header and its source"""
    # tests are programs of a few files each, whose parts may use each other
    graph = {}
    for name, found in includes().items():
        if name.startswith("tests/"):
            continue
        unit = unit_of(name)
        uses = graph.setdefault(unit, set())
        uses.update(
            unit_of(target)
            for target, _ in found
            if not target.startswith("tests/")
        )
        uses.discard(unit)
    return [f"cycle: {' '.join(group)}" for group in cycles(graph)]


def objects_of(folder):
    """The object files below (folder)."""
    return [
        os.path.join(parent, name)
        for parent, _, names in os.walk(folder)
        for name in names
        if name.endswith(".o")
    ]


def upward_calls(tree, objects):
    """no room of (tree) uses a symbol of a room that is listed after it

    Public headers let any room call any other, so includes alone do not show
    this. (objects) is the folder with an object file for each source."""
    with open(f"{tree}/rooms", encoding="utf-8") as lines:
        order = [
            line.partition(":")[0] for line in lines if line[0] not in "#\n"
        ]
    defined, needed = {}, []
    for level, room in enumerate(order):
        files = [
            file
            for file in objects_of(f"{objects}/{room}")
            # others were left by an earlier build
            if os.path.exists(source_of(file, objects, tree))
        ]
        for file, name, kind in symbols_of(files):
            if kind in "Uwv":
                needed.append((level, room, file, name))
            else:
                defined[name] = min(level, defined.get(name, level))
    if not needed:
        raise Failed(f"{objects}: no object files: build them first")
    return [
        f"{os.path.relpath(file, objects)}: {room} uses {name} of "
        f"{order[defined[name]]}"
        for level, room, file, name in sorted(needed)
        if defined.get(name, 0) > level
    ]


def source_of(file, objects, tree):
    """The source of an object file: tree/room/x.c, or .asm."""
    stem = f"{tree}/{os.path.relpath(file, objects)}"[: -len("o")]
    return stem + ("c" if os.path.exists(stem + "c") else "asm")


def symbols_of(files):
    """(object file, name, kind) of each external symbol in (files)."""
    if not files:
        return
    listed = subprocess.run(
        ["nm", "-A", "-g", "-P", *files],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for line in listed.splitlines():
        file, name, kind = line.split()[:3]
        yield file.rstrip(":"), name, kind


def rooms():
    """rooms include only what their list allows"""
    trees = [os.path.dirname(path) for path in matching("rooms")]
    checked = subprocess.run(
        ["tools/build/rooms.py", "check", *trees],
        capture_output=True,
        text=True,
        check=False,
    )
    if checked.returncode == 0:
        return []
    return (checked.stdout + checked.stderr).splitlines() or ["rooms.py failed"]
