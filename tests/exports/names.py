# SPDX-License-Identifier: Apache-2.0
"""Functions whose names are made to do harm: what ends a string, a tag, a
frame or a field somewhere, letters of many bytes, and 10,000 characters."""

NASTY = [
    "<script>alert(1)</script>",
    "a&amp;b&lt;c",
    'double"quote',
    "single'quote",
    "back\\slash",
    "operator<< <char>(std::ostream&, char const*)",
    "ends with a number 12",
    "colon:and=sign",
    "(7) like a number of callgrind",
    "percent %s %n %%",
    "dollar $(true) `true`",
    "star * and {braces} [brackets]",
    "größe::übermaß",
    "имя_функции",
    "関数の名前",
    "smile \U0001f600",
    "long_" + "x" * 9995,
    "<" * 300 + "&" * 300,
]


def assembly():
    """Of functions of 64 bytes each. What the assembler's own syntax cannot
    say is escaped for it."""
    names = NASTY + [f"plain_{i}" for i in range(80 - len(NASTY))]
    lines = ["    .text"]
    for name in names:
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        lines += [
            f'    .globl "{escaped}"',
            f'    .type "{escaped}", @function',
            f'"{escaped}":',
            "    .fill 63, 1, 0x90\n    ret",
            f'    .size "{escaped}", 64',
        ]
    return "\n".join(lines) + "\n"
