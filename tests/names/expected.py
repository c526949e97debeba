#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads libiberty's demangle-expected and prints its Itanium cases.

One line a case: mangled name, a tab, what must come out. The file is made of
groups: a line of options, the input, the result, and with --no-params a
second result without parameters. Lines that begin with '#' are comments.
"""
import sys


def cases(path):
    lines = [
        line.rstrip("\n")
        for line in open(path, encoding="utf-8", errors="surrogateescape")
        if not line.startswith("#")
    ]
    at = 0
    while at < len(lines):
        options = lines[at].split()
        if at + 2 >= len(lines):
            return
        yield options, lines[at + 1], lines[at + 2]
        at += 4 if "--no-params" in options else 3


def main():
    for options, mangled, wanted in cases(sys.argv[1]):
        plain = not any(
            o.startswith(("--ret", "--is-v3")) for o in options
        )
        style = [o for o in options if o.startswith("--format=")]
        if plain and style in ([], ["--format=gnu-v3"], ["--format=auto"]):
            print(f"{mangled}\t{wanted}")


if __name__ == "__main__":
    main()
