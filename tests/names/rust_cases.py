# SPDX-License-Identifier: Apache-2.0
"""The cases of the crate rustc-demangle, out of its sources.

Debian's librust-rustc-demangle-dev installs the crate with its unit tests:
calls of macros with a name and its answer as literals. Here those calls are
read, as far as their arguments are literals, and turned into pairs.
"""
import glob
import re

SOURCES = "/usr/share/cargo/registry/rustc-demangle-*/src/*.rs"
CALL = re.compile(
    r"\b(t|t_err|t_nohash|t_nohash_type|t_const|t_const_suffixed)" r"!\("
)
LITERAL = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|r#"(.*?)"#)', re.S)
ESCAPE = re.compile(r"\\(?:\n\s*|u\{(\w+)\}|(.))", re.S)
MEANING = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
HASH = re.compile(r"::h[0-9a-f]{16}(?=\.|$)")


def unescaped(match):
    if match.group(1):
        return chr(int(match.group(1), 16))
    letter = match.group(2)
    return "" if letter is None else MEANING.get(letter, letter)


def literal(text, at):
    """The text of one literal, or of concat!(...), and where it ends."""
    call = re.compile(r"\s*concat!\(").match(text, at)
    if call:
        parts, at = arguments(text, call.end())
        return (None if parts is None else "".join(parts)), at
    match = LITERAL.match(text, at)
    if not match:
        return None, at
    if match.group(2) is not None:
        return match.group(2), match.end()
    return ESCAPE.sub(unescaped, match.group(1)), match.end()


def arguments(text, at):
    """The literals up to the closing parenthesis; None if there are others."""
    found = []
    while True:
        value, at = literal(text, at)
        if value is None:
            return None, at
        found.append(value)
        end = re.compile(r"\s*,?\s*(\))?").match(text, at)
        at = end.end()
        if end.group(1):
            return found, at


def pair(macro, values, verbose):
    """(name, answer) as `{:#}` prints it; None where only `{}` is known."""
    if macro == "t_err":
        return values[0], values[0]
    name, answer = values[:2]
    if macro == "t":
        return None if verbose else (name, HASH.sub("", answer))
    if macro == "t_nohash_type":
        return "_RMC0" + name, "<" + answer + ">"
    if macro.startswith("t_const"):
        return "_RIC0K" + name + "E", "::<" + answer + ">"
    return name, answer


def cases():
    """All pairs whose name is one of ELF: "_R..." or "_ZN..."."""
    found = {}
    for path in sorted(glob.glob(SOURCES)):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for call in CALL.finditer(text):
            values, _ = arguments(text, call.end())
            if values is None:
                continue
            case = pair(call.group(1), values, path.endswith("v0.rs"))
            if case and case[0].startswith(("_R", "_ZN")):
                found[case[0]] = case[1]
    return sorted(found.items())
