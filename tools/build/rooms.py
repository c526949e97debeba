#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rooms: which folder of a tree may include from which.

usage: rooms.py link TREE OUT    make the include paths of TREE's rooms in OUT
       rooms.py check TREE...    check what the sources include

A tree has a file `rooms`, one line for each of its folders:

    tick: base sample

Code in tick/ may include headers of base/, of sample/ and its own, written
with their room: #include "sample/ring.h". `link` makes OUT/tick/, a folder of
symbolic links to the rooms that code in tick/ sees, to be given to the compiler
as its only -I. A header may include others, so a room sees all that its rooms
see. A room above it, it never sees: such an include does not compile.

`check` finds what the compiler cannot: includes that the list does not name,
include cycles between rooms or files, rooms that are missing or unlisted.
Public headers, TREE/include/<...>, belong to no room and are checked for
cycles only.
"""

import os
import re
import sys

INCLUDE = re.compile(r'^\s*[#%]\s*include\s+["<]([^">]+)[">]', re.M)
SOURCES = (".c", ".h", ".asm", ".inc", ".cpp", ".def")


class Bad(Exception):
    """What is wrong with the list of rooms."""


def read_rooms(tree):
    """The list of rooms: {room: [rooms it may include]}."""
    path = os.path.join(tree, "rooms")
    rooms = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            room, colon, uses = line.partition(":")
            if not colon:
                raise Bad(f"{path}:{number}: expected 'room: rooms'")
            rooms[room.strip()] = uses.split()
    for room, uses in rooms.items():
        for used in uses:
            if used not in rooms:
                raise Bad(f"{path}: {room} uses {used}, which is not listed")
    return rooms


def find_cycle(graph):
    """A list of nodes that is a cycle in {node: nodes}, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node) :] + [node]
        if node in done:
            return None
        path.append(node)
        for after in sorted(graph.get(node, ())):
            cycle = visit(after)
            if cycle:
                return cycle
        path.pop()
        done.add(node)
        return None

    for start in sorted(graph):
        cycle = visit(start)
        if cycle:
            return cycle
    return None


def visible(rooms, room):
    """The rooms that code in (room) sees, its own included."""
    seen, waiting = set(), [room]
    while waiting:
        here = waiting.pop()
        if here not in seen:
            seen.add(here)
            waiting += rooms[here]
    return sorted(seen)


def link(tree, out):
    rooms = read_rooms(tree)
    cycle = find_cycle(rooms)
    if cycle:
        raise Bad(f"{tree}/rooms: a cycle: {' -> '.join(cycle)}")
    for room in rooms:
        folder = os.path.join(out, room)
        os.makedirs(folder, exist_ok=True)
        wanted = visible(rooms, room)
        for old in os.listdir(folder):
            if old not in wanted:
                os.unlink(os.path.join(folder, old))
        for seen in wanted:
            target = os.path.relpath(os.path.join(tree, seen), folder)
            place = os.path.join(folder, seen)
            if not os.path.islink(place) or os.readlink(place) != target:
                if os.path.lexists(place):
                    os.unlink(place)
                os.symlink(target, place)


def files_of(tree):
    """All sources below (tree), as paths relative to it."""
    for folder, _, names in os.walk(tree):
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.relpath(os.path.join(folder, name), tree)


def check(tree):
    """Prints what is wrong; returns how many things were."""
    rooms = read_rooms(tree)
    problems = []
    sources = list(files_of(tree))
    folders = {path.split("/")[0] for path in sources if "/" in path}
    if not sources:
        problems.append(f"{tree}: no sources found")
    for room in sorted(folders - {"include"} - set(rooms)):
        problems.append(f"{tree}/{room}: not listed in {tree}/rooms")
    for room in sorted(set(rooms) - folders):
        problems.append(f"{tree}/rooms: {room}: no such folder with sources")
    graph = {}
    used = {room: set() for room in rooms}
    for path in sources:
        with open(os.path.join(tree, path), encoding="utf-8") as file:
            included = INCLUDE.findall(file.read())
        room = path.split("/")[0]
        graph[path] = set()
        for name in included:
            for candidate in (
                name,
                "include/" + name,
                os.path.join(os.path.dirname(path), name),
            ):
                if os.path.isfile(os.path.join(tree, candidate)):
                    graph[path].add(os.path.normpath(candidate))
                    break
            other = name.split("/")[0]
            if name.startswith(".."):
                problems.append(
                    f"{tree}/{path}: includes {name}: write the "
                    "room's name instead"
                )
            if room not in rooms or other not in rooms or other == room:
                continue
            used[room].add(other)
            if other not in rooms[room]:
                problems.append(
                    f"{tree}/{path}: {room} may not include "
                    f"{name} ({tree}/rooms)"
                )
    for room in sorted(rooms):
        for idle in sorted(set(rooms[room]) - used[room]):
            problems.append(f"{tree}/rooms: {room} does not use {idle}")
    for what, cycle in (
        ("rooms", find_cycle(rooms)),
        ("files", find_cycle(graph)),
    ):
        if cycle:
            problems.append(
                f"{tree}: {what} include each other: " + " -> ".join(cycle)
            )
    print(
        "\n".join(problems)
        or f"{tree}: {len(rooms)} rooms, {len(sources)} files"
    )
    return len(problems)


def main(words):
    if len(words) == 3 and words[0] == "link":
        link(words[1], words[2])
        return 0
    if len(words) >= 2 and words[0] == "check":
        return 1 if sum(check(tree) for tree in words[1:]) else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Bad, OSError) as error:
        print(f"rooms.py: {error}", file=sys.stderr)
        sys.exit(1)
