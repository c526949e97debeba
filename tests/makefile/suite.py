# SPDX-License-Identifier: Apache-2.0
"""What a newcomer types: make run, with values that are wrong, and with a web
site."""

import socket

from harness.suite import WIDTHS, background, check, run, soon

PARTS = ("words", *WIDTHS)
PLAIN = {"MAKEFLAGS": "", "MAKELEVEL": ""}  # not those of the tests' make
TOKEN = "hz-secret"
WRONG = (
    (
        "SERVICE=nosuch",
        "must be one of async coroutines hello http irc lua split",
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


def suite(s):
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
