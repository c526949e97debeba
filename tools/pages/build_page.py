#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds every HTML page of the project: head, content security policy, theme.

usage: build_page.py TITLE BODY.html STYLE.css... SCRIPT.js...

Prints the template of a page with a script and a payload. @PAYLOAD@ in it is
where the host command writes the payload (tools/parasite/page). Pages without
a script are made by build() in one go.

All of a page is in it: the policy forbids every network access.
"""

import html
import pathlib
import re
import sys

BASE = pathlib.Path(__file__).resolve().parent / "base"
STATIC = "default-src 'none'; style-src 'unsafe-inline'"
SCRIPTED = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; "
    "worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:"
)
PAYLOAD = '<script id="payload" type="application/octet-stream">@PAYLOAD@'


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def squeezed(text, comment):
    """(text) without indentation, empty lines and lines of comments."""
    lines = (line.lstrip(" ") for line in text.splitlines())
    return "\n".join(
        line for line in lines if line and not re.match(comment, line)
    )


def build(title, style, body, policy=STATIC):
    """The page: (body) is HTML, (style) is CSS beside the theme's."""
    fields = {
        "POLICY": policy,
        "TITLE": html.escape(title),
        "BODY": body,
        "STYLE": squeezed(read(BASE / "theme.css"), r"/\*.*\*/$")
        + "\n"
        + style.strip("\n"),
    }
    return re.sub(
        "@(POLICY|TITLE|STYLE|BODY)@",
        lambda field: fields[field.group(1)],
        read(BASE / "frame.html"),
    )


def template(title, body, styles, scripts):
    """A page with a payload and (scripts), which share one scope."""
    code = [read(BASE / "payload.js"), *map(read, scripts)]
    parts = [
        re.sub(r"\A<!-- SPDX.*\n", "", read(body)).rstrip("\n"),
        PAYLOAD + "</script>",
        "<script>",
        "'use strict';",
        "{",
        *(squeezed(one, "//") for one in code),
        "}",
        "</script>",
    ]
    style = "\n".join(squeezed(read(one), r"/\*.*\*/$") for one in styles)
    return build(title, style, "\n".join(parts), SCRIPTED)


def main(words):
    styles = [word for word in words if word.endswith(".css")]
    scripts = [word for word in words if word.endswith(".js")]
    if len(words) != 3 + len(styles) + len(scripts) or not scripts:
        sys.exit(__doc__)
    sys.stdout.write(template(words[1], words[2], styles, scripts))


if __name__ == "__main__":
    main(sys.argv)
