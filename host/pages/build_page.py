#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds every HTML page of the project: head, content security policy, theme.

usage: build_page.py TITLE BODY.html STYLE.css... HEADER.h... SCRIPT.js...

Prints the template of a page with a script and a payload. @PAYLOAD@ in it is
where the host command writes the payload (host/page), @PICTURE@ where it writes
what is seen without scripts. Pages that
need no payload are made by build() in one go. Scripts know the enums of the C
headers that they name: TASKS_END.open is TASKS_OPEN of enum tasks_end.

All of a page is in it: the policy forbids every network access, and every
script but its own, which it names by their hashes.
"""

import base64
import hashlib
import html
import json
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
PARTS = {
    "@BRAND@": """<a class="brand" id="home">
<svg viewBox="0 0 24 24" aria-hidden="true">
<path d="M12 2c1 4 6 6 6 12a6 6 0 0 1-12 0c0-2 1-3 2-4 0 2 1 3 2 3
1-3-1-6 2-11z"/>
</svg>
<h1 id="title">Loading</h1>
</a>""",
    "@MATCHES@": """<output id="matched"></output>
<button type="button" id="previous" title="Previous match (Shift+N)"
aria-label="Previous match">&lsaquo;</button>
<button type="button" id="next" title="Next match (n)"
aria-label="Next match">&rsaquo;</button>""",
    "@STATE@": """<div id="state">
<p id="facts"></p>
<div id="notes" role="status"></div>
</div>""",
    "@THEME_BUTTON@": """<button type="button" id="theme" class="theme"
title="Light, dark or as the system (t)" hidden>Theme</button>""",
}
NO_SCRIPT = (
    "<noscript>This page needs JavaScript. It loads nothing from the network."
    "</noscript>"
)
PICTURED = ("flame", "timeline")  # pages with a static picture
NO_SCRIPT_PICTURED = """<noscript>
<style>
body > * { display: none !important; }
body > noscript { display: block !important; padding: 9px 14px; }
html body { display: block; height: auto; overflow: auto; }
</style>
<p>This page needs JavaScript, which is off here. It loads nothing from the
network.</p>
@PICTURE@
</noscript>"""
PAYLOAD = '<script id="payload" type="application/octet-stream">@PAYLOAD@'


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def html_of(path):
    return re.sub(r"\A<!-- SPDX.*\n", "", read(path)).rstrip("\n")


def squeezed(text, comment):
    """(text) without indentation, empty lines and lines of comments."""
    lines = (line.lstrip(" ") for line in text.splitlines())
    return "\n".join(
        line for line in lines if line and not re.match(comment, line)
    )


def bare(code):
    """(code) without comments behind a line's code, unless that may have a
    regular expression or a part of a template in it."""
    before = r"(?:[^'\"`/\n]|'[^'\n]*'|\"[^\"\n]*\")*?"
    return re.sub(rf"^({before}) +// .*$", r"\1", code, flags=re.M)


def styles_of(paths):
    return "\n".join(squeezed(read(path), r"/\*.*\*/$") for path in paths)


def script_of(paths, headers=()):
    """One script of these files, which share one scope."""
    code = "\n".join(bare(squeezed(read(path), "//")) for path in paths)
    code = with_enums(code, enums_of(headers))
    return "\n".join(["", "'use strict';", "{", code, "}", ""])


def enums_of(paths):
    """The enums of these headers, by their names: members and their numbers.
    The last member of each is their count, and is left out."""
    enums = {}
    for path in paths:
        for name, body in re.findall(
            r"^enum (\w+) {(.*?)^}", read(path), re.M | re.S
        ):
            members = re.findall(r"^ *([A-Z_]+)(?:,|$)", body, re.M)[:-1]
            enums[name.upper()] = {
                member.partition("_")[2].lower(): number
                for number, member in enumerate(members)
            }
    return enums


def with_enums(code, enums):
    """(code) with numbers instead of members, TASKS_END.open, and with the
    enums that it uses as a whole."""
    for name, members in enums.items():
        code = re.sub(
            rf"\b{name}\.(\w+)",
            lambda member, members=members: str(members[member.group(1)]),
            code,
        )
        if re.search(rf"\b{name}\b", code):
            values = json.dumps(members, separators=(",", ":"))
            code = f"const {name} = {values};\n{code}"
    return code


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


def template(title, body, styles, headers, scripts):
    """A page with a payload and (scripts)."""
    script = script_of([BASE / "payload.js", *scripts], headers)
    markup = html_of(body)
    for name in ("choices", "guests"):
        markup = markup.replace(
            f"@{name.upper()}@", html_of(BASE / f"{name}.html")
        )
    for name, part in PARTS.items():
        markup = markup.replace(name, part)
    parts = [
        markup,
        NO_SCRIPT_PICTURED if title in PICTURED else NO_SCRIPT,
        PAYLOAD + "</script>",
        f"<script>{script}</script>",
    ]
    style = styles_of([BASE / "controls.css", *styles])
    return framed(title, style, "\n".join(parts), [script])


def main(words):
    styles = [word for word in words if word.endswith(".css")]
    headers = [word for word in words if word.endswith(".h")]
    scripts = [word for word in words if word.endswith(".js")]
    if len(words) != 3 + len(styles + headers + scripts) or not scripts:
        sys.exit(__doc__)
    sys.stdout.write(template(*words[1:3], styles, headers, scripts))


if __name__ == "__main__":
    main(sys.argv)
