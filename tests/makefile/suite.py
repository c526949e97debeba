# SPDX-License-Identifier: Apache-2.0
"""What a newcomer types: make run, with values that are wrong, and with a web
site; and make async, with each of its programs."""

import re
import socket

from harness.suite import WIDTHS, background, check, run, soon

PARTS = ("words", *WIDTHS, *(f"async-{width}" for width in WIDTHS))
PLAIN = {"MAKEFLAGS": "", "MAKELEVEL": ""}  # not those of the tests' make
TOKEN = "hz-secret"
WRONG = (
    (
        "SERVICE=nosuch",
        "must be one of async coroutines hello http irc lottery lua split",
    ),
    ("ARCH=arm", "must be one of i386 x86_64"),
    ("LOADER=lilo", "must be one of kernel grub"),
    ("ACCEL=xen", "must be one of auto tcg kvm"),
)


def refused(word, answer):
    done = run("make", "-n", "run", word, status=2, env=PLAIN)
    check.contains(done.text, f"{word}: {answer}")


def missing(*words):
    done = run("make", "run", *words, status=2, env=PLAIN)
    check.contains(done.text, "there is no file build/none")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def site(s, width):
    """An archive is served, and so is the profile, as make says where."""
    folder, archive, port = s.work / "site", s.work / "site.tar", free_port()
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_text("a page\n", encoding="ascii")
    run("tar", "-C", folder, "-cf", archive, ".")
    log = s.work / "make.log"
    with background(
        *("make", "run", "SERVICE=http", f"ARCH={width}", "ACCEL=tcg"),
        *(f"MODULE={archive}", f"HTTP_PORT={port}", f"TOKEN={TOKEN}"),
        log=log,
        env=PLAIN,
    ) as make:

        def get(path):
            url = f"http://127.0.0.1:{port}{path}"
            done = run("curl", "-s", "-m", 60, url, status=None)
            return done.out if done.status == 0 else ""

        soon(lambda: get("/index.html") == "a page\n", "the page", make.alive)
        check.has(get("/"), "^/index.html$")
        check.has(get(f"/profile?seconds=1&token={TOKEN}"), r"^\S.* \d+$")
        check.contains(
            log.read_text(encoding="latin-1"),
            f"http://127.0.0.1:{port}/profile?token={TOKEN}",
        )


def make_async(width, demo, *words, **options):
    return run(
        *("make", "async", f"ARCH={width}", f"DEMO={demo}", "ACCEL=tcg"),
        *words,
        env=PLAIN,
        **options,
    ).text


def programs(s, width):
    """Those that make async DEMO=list names; sink waits for another guest."""
    out = s.work / "list.trace"
    said = make_async(width, "list", f"OUT={out}", status=2)
    found = re.findall(r"^async:   (\S+) +\S", said.replace("\r", ""), re.M)
    check.true(len(found) > 10, said)
    return [demo for demo in found if demo != "sink"]


def recorded(s, width, demo):
    """It is run, recorded, checked and summed up."""
    out = s.work / f"{demo}.trace"
    said = make_async(width, demo, f"OUT={out}").replace("\r", "")
    check.has(said, rf"^async: {demo}: resolved with \d+ after \d+ us$")
    check.has(said, r"^checked [\d,]+ events of .*: 0 problems")
    check.has(said, "^#  count   open failed .*kind +site$")
    check.has(said, r"^ +\d+ .* \(services/async/\w+\.c:\d+\)$")
    check.has(run(s.parasite, "script", "-q", out).out, r" hello:| create: ")
    check.true((out / "metadata").exists(), "a trace")


def suite_async(s):
    width = s.part.removeprefix("async-")
    for demo in programs(s, width):
        s.holds(f"{width}: make async DEMO={demo}", recorded, s, width, demo)


def suite(s):
    if s.part.startswith("async-"):
        suite_async(s)
        return
    if s.part in WIDTHS:
        s.holds(f"{s.part}: make run serves a web site", site, s, s.part)
        return
    for word, answer in WRONG:
        s.holds(f"{word} lists what there is", refused, word, answer)
    s.holds(
        "a missing module is named",
        missing,
        "SERVICE=http",
        "MODULE=build/none",
    )
    s.holds(
        "so is a missing script", missing, "SERVICE=lua", "SCRIPT=build/none"
    )
