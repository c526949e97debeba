#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what docs/timeline.md shows of the demos of services/async.

usage: PYTHONPATH=tests timeline_docs.py BUILD DOCS

Records each demo with `make async` to BUILD/timeline, and writes to
DOCS/timeline the pictures, and to DOCS/timeline/try what can be tried: the
recorded stream DEMO.stream, as `parasite timeline` reads it, and DEMO.html. The
page's styles and scripts are not in these pages: they load the sources of
host/pages from disk, and enums.js, the enums of the C headers that the scripts
name. Pictures of pages are taken with Debian's Chromium.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from harness.payload import Payload

sys.path.insert(0, "host/pages")
import build_page

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
TO_ROOT = "../../../"  # from DOCS/timeline/try
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "img-src data: 'self'; style-src 'unsafe-inline' 'self'; "
    "script-src 'self'"
)


# ---- pages without their code


def enums_js(sources):
    """The enums of the headers in (sources) that its scripts name."""
    code = "".join(
        build_page.read(path) for path in sources if path.endswith(".js")
    )
    headers = [path for path in sources if path.endswith(".h")]
    lines = [
        f"const {name} = {json.dumps(members)};"
        for name, members in build_page.enums_of(headers).items()
        if re.search(rf"\b{name}\b", code)
    ]
    return "\n".join([f"// {SPDX}", *lines, ""])


def linked(page, sources, picture):
    """(page), which loads its styles and scripts from (sources) instead of
    having them in it; it shows (picture) where scripts are off."""
    base = "host/pages/base"
    theme, code = re.findall(r"<script>.*?</script>", page, re.S)
    style = re.search(r"<style>\n.*?</style>\n", page, re.S)[0]
    styles = [f"{base}/theme.css", f"{base}/controls.css"]
    styles += [path for path in sources if path.endswith(".css")]
    scripts = [TO_ROOT + f"{base}/payload.js", "enums.js"]
    scripts += [TO_ROOT + path for path in sources if path.endswith(".js")]
    links = "".join(
        f'<link rel="stylesheet" href="{TO_ROOT}{path}">\n' for path in styles
    )
    page = re.sub(
        r"(http-equiv=\"Content-Security-Policy\" content=)\"[^\"]*\"",
        lambda found: f'{found[1]}"{POLICY}"',
        page,
        count=1,
    )
    page = page.replace(style, links, 1)
    page = page.replace(theme, script(f"{TO_ROOT}{base}/theme.js"), 1)
    page = page.replace(code, "\n".join(map(script, scripts)), 1)
    return re.sub(
        r"(?<=needs JavaScript, which is off here\.).*?(?=</noscript>)",
        f'</p>\n<img alt="Static picture" src="{picture}">\n',
        page,
        count=1,
        flags=re.S,
    )


def script(path):
    return f'<script src="{path}"></script>'


def picture_of(demo):
    if demo == "some":
        return "../many.png"
    return f"../{demo}.{'svg' if demo in PICTURES else 'png'}"


def streams_of(demo):
    """The names of its streams: of one guest, or of two."""
    return ["client", "server"] if demo == "both" else [demo]


def sources_of(build):
    """What the timeline's page is built of."""
    path = build / "host/pages/timeline.sources"
    return path.read_text(encoding="utf-8").split()


def files_of(build, folder, demo, work):
    """{name: text} of the page of the streams in (folder), and of the enums
    that it loads."""
    page, sources = work / f"{demo}.html", sources_of(build)
    title = "Two guests" if demo == "both" else f"make async DEMO={demo}"
    subprocess.run(
        [
            (build / "host/parasite").resolve(),
            *("timeline", "-q", "--title", title, "-o", page),
            *(f"{name}.stream" for name in streams_of(demo)),
        ],
        check=True,
        cwd=folder,
    )
    text = page.read_text(encoding="utf-8")
    return {
        f"{demo}.html": linked(text, sources, picture_of(demo)),
        "enums.js": enums_js(sources),
    }


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
        files = files_of(build, tried, demo, work.resolve())
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
