#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds every HTML page of the project: head, content security policy, theme.

usage: build_page.py TITLE BODY.html STYLE.css... SCRIPT.js...

Prints the template of a page with a script and a payload. @PAYLOAD@ in it is
where the host command writes the payload (host/page). Pages that
need no payload are made by build() in one go.

All of a page is in it: the policy forbids every network access, and every
script but its own, which it names by their hashes.
"""

import base64
import hashlib
import html
import pathlib
import re
import sys

BASE = pathlib.Path(__file__).resolve().parent / "base"
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "img-src data:; style-src 'unsafe-inline'; script-src {}"
)
WORKERS = " blob:; worker-src blob:"
THEME_BUTTON = (
    '<button type="button" id="theme" class="theme"'
    ' title="Use the light theme, the dark one, or the system\'s (auto)"'
    " hidden>Theme</button>\n"
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


def styles_of(paths):
    return "\n".join(squeezed(read(path), r"/\*.*\*/$") for path in paths)


def script_of(paths):
    """One script of these files, which share one scope."""
    code = (squeezed(read(path), "//") for path in paths)
    return "\n".join(["", "'use strict';", "{", *code, "}", ""])


def policy_of(scripts):
    hashes = []
    for script in scripts:
        digest = hashlib.sha256(script.encode("utf-8")).digest()
        hashes.append(f"'sha256-{base64.b64encode(digest).decode()}'")
    has_worker = any("new Worker(" in script for script in scripts)
    return POLICY.format(" ".join(hashes)) + (WORKERS if has_worker else "")


def framed(title, style, body, scripts=()):
    """The page around (body); (scripts) are those in it."""
    theme = script_of([BASE / "theme.js"])
    fields = {
        "POLICY": policy_of([theme, *scripts]),
        "TITLE": html.escape(title),
        "BODY": body,
        "STYLE": styles_of([BASE / "theme.css"]) + "\n" + style.strip("\n"),
        "THEME": theme,
    }
    return re.sub(
        "@(POLICY|TITLE|STYLE|THEME|BODY)@",
        lambda field: fields[field.group(1)],
        read(BASE / "frame.html"),
    )


def build(title, style, body):
    """The page: (body) is HTML, (style) is CSS beside the theme's. Its only
    script is the theme's."""
    return framed(title, style, THEME_BUTTON + body)


def template(title, body, styles, scripts):
    """A page with a payload and (scripts); its body has the theme's button."""
    script = script_of([BASE / "payload.js", *scripts])
    parts = [
        re.sub(r"\A<!-- SPDX.*\n", "", read(body)).rstrip("\n"),
        PAYLOAD + "</script>",
        f"<script>{script}</script>",
    ]
    style = styles_of([BASE / "controls.css", *styles])
    return framed(title, style, "\n".join(parts), [script])


def main(words):
    styles = [word for word in words if word.endswith(".css")]
    scripts = [word for word in words if word.endswith(".js")]
    if len(words) != 3 + len(styles) + len(scripts) or not scripts:
        sys.exit(__doc__)
    sys.stdout.write(template(words[1], words[2], styles, scripts))


if __name__ == "__main__":
    main(sys.argv)
