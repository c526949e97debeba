#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what docs/timeline.md shows of the demos of services/async.

usage: PYTHONPATH=tests timeline_docs.py BUILD DOCS

Records each demo with `make async` to BUILD/timeline, and writes to
DOCS/timeline the pictures, and to DOCS/timeline/try what can be tried: the
recorded stream DEMO.stream, as `parasite timeline` reads it, and DEMO.html. The
page's code, which is the same in all of them, is not in these pages but in
files beside them: theme.js, timeline.css and timeline.js, which browsers load
from disk as well. Pictures of pages are taken with Debian's Chromium.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from harness.payload import Payload

SPDX = "SPDX-License-Identifier: Apache-2.0"
ICOUNT = "-icount shift=0,sleep=off -rtc clock=vm"
QUIET = "prof.every=0"
# what is committed has no samples, whose names would be the image's
UNSAMPLED = "prof.start=off"
PLAYWRIGHT = "playwright-core@1.60.0"
WIRE = "id=net,addr.type=unix,addr.path="

# What is drawn of each: from an event on to the last one of another, or None:
# to itself, with so many seconds before and after.
STRETCHES = {
    "catch": ("fail:", 4e-6, "fail:", 6e-6),
    "udp": ("create: task packet", 10e-6, "create: task packet", 20e-6),
    "tcp": ("#given", 0.1e-3, "#acknowledged", 0.1e-3),
    "disk": ("pages read = 32", 0.5e-3, "pages read = 96", 0.5e-3),
    "interrupt": ("resolve: disk request", 1.5e-6, None, 3.5e-6),
}
PICTURES = "sleep series join choose pick catch udp disk disk-fixed".split()
SHOTS = {  # height in pixels, and keys to press
    "console": (620, ""),
    "tcp": (720, ""),
    "both": (720, "c"),
    "many": (720, ""),
}
CLOCK_HZ = 1e7
CONNECTING = 3  # packets in the picture of two guests
DEMOS = (*PICTURES, "console", "tcp", "some")
TRIED = (*DEMOS, "both")
CODE = ("theme.js", "timeline.css", "timeline.js")
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "img-src data: 'self'; style-src 'unsafe-inline' 'self'; "
    "script-src 'self'"
)


# ---- pages without their code


def split(page, picture):
    """{name: text} of the files in CODE, and of "page", which loads them; it
    shows (picture) where scripts are off."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    style = re.search(r"<style>\n(.*?)</style>", page, re.S)[1]
    if len(scripts) != 2:
        sys.exit("timeline_docs.py: the page has other scripts than these two")
    theme, code = scripts
    page = re.sub(
        r"(http-equiv=\"Content-Security-Policy\" content=)\"[^\"]*\"",
        lambda found: f'{found[1]}"{POLICY}"',
        page,
        count=1,
    )
    link = '<link rel="stylesheet" href="timeline.css">\n'
    page = page.replace(f"<style>\n{style}</style>\n", link, 1)
    page = page.replace(f"<script>{theme}</script>", script("theme"), 1)
    page = page.replace(f"<script>{code}</script>", script("timeline"), 1)
    page = re.sub(
        r"(?<=needs JavaScript, which is off here\.).*?(?=</noscript>)",
        f'</p>\n<img alt="Static picture" src="{picture}">\n',
        page,
        count=1,
        flags=re.S,
    )
    return {
        "theme.js": f"// {SPDX}\n{theme.lstrip()}",
        "timeline.css": f"/* {SPDX} */\n{style}",
        "timeline.js": f"// {SPDX}\n{code.lstrip()}",
        "page": page,
    }


def script(name):
    return f'<script src="{name}.js"></script>'


def picture_of(demo):
    if demo == "some":
        return "../many.png"
    return f"../{demo}.{'svg' if demo in PICTURES else 'png'}"


def streams_of(demo):
    """The names of its streams: of one guest, or of two."""
    return ["client", "server"] if demo == "both" else [demo]


def page_of(parasite, folder, demo, work):
    """split() of the page of the streams in (folder)."""
    page = work / f"{demo}.html"
    title = "Two guests" if demo == "both" else f"make async DEMO={demo}"
    subprocess.run(
        [
            *(parasite, "timeline", "-q", "--title", title, "-o", page),
            *(f"{name}.stream" for name in streams_of(demo)),
        ],
        check=True,
        cwd=folder,
    )
    return split(page.read_text(encoding="utf-8"), picture_of(demo))


# ---- recording

RUNNING = []  # and what has run: each with all that it has started


def make_async(demo, trace, *words, append=UNSAMPLED):
    """A program that records (demo) to (trace)."""
    shutil.rmtree(trace, ignore_errors=True)
    program = subprocess.Popen(
        [
            *("make", "-s", "async", "ARCH=x86_64", f"DEMO={demo}"),
            *(f"OUT={trace}", "ACCEL=tcg", f"APPEND={QUIET} {append}", *words),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    )
    RUNNING.append(program)
    return program


def ended(program):
    said, _ = program.communicate()
    if program.returncode != 0:
        sys.exit(f"timeline_docs.py: {' '.join(program.args)}\n{said}")


def record_two(work):
    """Two guests on one wire, in time as it passes."""
    wire = work / "wire"
    wire.unlink(missing_ok=True)
    server = make_async(
        *("sink", work / "server.trace"),
        f"NETDEV=stream,server=on,{WIRE}{wire}",
        append=f"{UNSAMPLED} net.ip=10.0.2.100/24",
    )
    while not wire.exists() and server.poll() is None:
        time.sleep(0.1)
    client = make_async(
        *("tcp", work / "client.trace"),
        f"NETDEV=stream,server=off,{WIRE}{wire}",
        "MAC=52:54:00:12:34:57",
        append=f"{UNSAMPLED} net.ip=10.0.2.15/24",
    )
    ended(client)
    ended(server)


def record(work):
    counted = f"QEMU_ARGS={ICOUNT}"
    many = make_async(
        "many", work / "many.trace", counted, append="prof.trace_kb=8192"
    )
    for demo in DEMOS:
        words = () if demo.startswith("disk") else (counted,)
        ended(make_async(demo, work / f"{demo}.trace", *words))
    record_two(work)
    ended(many)


# ---- pictures


def stretch_of(parasite, trace, demo):
    """Seconds from the first event of the trace on."""
    first, before, last, after = STRETCHES[demo]
    text = subprocess.run(
        [parasite, "script", "-q", trace],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    begin, end = (
        re.findall(rf" (\d+\.\d+) \[\d+\] .*{re.escape(event)}", text)
        for event in (first, last or first)
    )
    end = end[-1] if last else begin[0]
    return max(0, float(begin[0]) - before), float(end) + after


def draw(parasite, work, demo, folder, name=None):
    """The picture of a demo, or of (name), a stretch of it."""
    name = name or demo
    trace, new, words = work / f"{demo}.trace", work / f"{name}.svg", []
    if name in STRETCHES:
        begin, end = stretch_of(parasite, trace, name)
        words = ["--from", f"{begin:.7f}", "--to", f"{end:.7f}"]
    subprocess.run(
        [
            *(parasite, "timeline", "-q", "--svg", *words),
            *("--title", f"make async DEMO={demo}", "-o", new, trace),
        ],
        check=True,
    )
    first, rest = new.read_text(encoding="utf-8").split("\n", 1)
    text = f"{first}\n<!-- {SPDX} -->\n{rest}"
    (folder / f"{name}.svg").write_text(text, encoding="utf-8")


def view_of(parasite, work, demo, page):
    """What of the page is seen, as its hash."""
    if demo == "both":
        payload = Payload(page)
        begin = list(payload.changes("packet.sent"))[0]
        end = list(payload.changes("packet.received"))[CONNECTING - 1]
        begin, end = begin - 2000, end + 2000
    elif demo in STRETCHES:
        trace = work / f"{demo}.trace"
        times = stretch_of(parasite, trace, demo)
        begin, end = (int(at * CLOCK_HZ) for at in times)
    else:
        return "#p=late" if demo == "many" else ""
    return f"#a={begin:.0f}&b={end:.0f}"


def shoot(parasite, build, work, folder):
    lines = []
    for demo, (height, keys) in SHOTS.items():
        page = (work if demo == "many" else folder / "try") / f"{demo}.html"
        view = view_of(parasite, work, demo, page)
        words = (page, view, folder / f"{demo}.png", height, keys)
        lines.append("\t".join(map(str, words)))
    subprocess.run(
        ["node", "tools/build/timeline_shots.js"],
        check=True,
        input="\n".join(lines),
        text=True,
        env={**os.environ, "NODE_PATH": str(modules_of(build))},
    )


def modules_of(build):
    """The node_modules with Playwright, fetched once by npm."""
    folder = build / "playwright"
    modules = folder / "node_modules"
    if not (modules / "playwright-core").exists():
        subprocess.run(
            ["npm", "install", "--silent", "--prefix", folder, PLAYWRIGHT],
            check=True,
        )
    return modules.resolve()


def main(build, docs):
    work, folder = build / "timeline", docs / "timeline"
    parasite = (build / "host/parasite").resolve()
    tried = folder / "try"
    work.mkdir(parents=True, exist_ok=True)
    tried.mkdir(parents=True, exist_ok=True)
    try:
        record(work)
    finally:
        for program in RUNNING:
            if program.poll() is None:
                os.killpg(program.pid, signal.SIGTERM)
    for demo in TRIED:
        for name in streams_of(demo):
            stream = work / f"{name}.trace/stream"
            shutil.copyfile(stream, tried / f"{name}.stream")
        files = page_of(parasite, tried, demo, work.resolve())
        (tried / f"{demo}.html").write_text(files.pop("page"), "utf-8")
        for name, text in files.items():
            (tried / name).write_text(text, encoding="utf-8")
    for demo in PICTURES:
        draw(parasite, work, demo, folder)
    draw(parasite, work, "disk-fixed", folder, "interrupt")
    subprocess.run(
        [parasite, "timeline", "-q", "-o", work / "many.html", "--title"]
        + ["make async DEMO=many", work / "many.trace"],
        check=True,
    )
    shoot(parasite, build, work, folder)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*map(pathlib.Path, sys.argv[1:]))
