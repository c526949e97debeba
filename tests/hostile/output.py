# SPDX-License-Identifier: Apache-2.0
"""What cannot be written is no success, and what a guest or an image says does
not control the user's terminal."""

import os
import re

from harness.command import build_id
from harness.suite import check, run

#: names of functions; each byte or character that must not come out
HARMFUL = (
    b"red\033[31m",
    b"two\nlines\r\ttab",
    b"c1\302\2332Jcsi",
    b"del\177",
    b"order\342\200\256desrever",
    b"line\342\200\250separator",
    b"isolate\342\201\246d",
    b"bytes\377\200",
)
FINE = "gr\u00f6\u00dfe \u95a2\u6570 \U0001f600"
#: C0 but tab and newline, DEL, C1, separators, marks of direction
CONTROL = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u200e\u200f\u2066-\u2069\ufffd]"
)


class Image:
    """An image with harmful names, and a trace of it."""

    def __init__(self, hostile):
        self.parasite = hostile.parasite
        work = hostile.work
        source, made = work / "names.s", work / "names.o"
        self.path, plain = work / "names.elf", work / "plain.elf"
        source.write_text("    .text\n" + "".join(map(function, range(12))))
        run("as", "-o", made, source)
        run(
            *("ld", "--build-id", "-Ttext=0x200000", "-e", "f0"),
            *("-o", plain, made),
        )
        names = (*HARMFUL, FINE.encode())
        run(
            "objcopy",
            *(
                os.fsdecode(b"--redefine-sym=f%d=%s" % (i, name))
                for i, name in enumerate(names)
            ),
            *(plain, self.path),
        )
        addresses = work / "addresses"
        addresses.write_text(
            "".join(f"{0x200000 + 64 * i:x}\n" for i in range(12))
        )
        self.packets = work / "packets"
        self.packets.write_bytes(
            self.parasite.make_stream(
                *("--all", 20000, 1, addresses), BUILD_ID=build_id(plain)
            )
        )
        self.trace = work / "names.trace"
        self.parasite.record(self.trace, "-q", "-k", self.path, self.packets)


def function(number):
    return (
        f"    .globl f{number}\n    .type f{number}, @function\nf{number}:\n"
        f"    .fill 63, 1, 0x90\n    ret\n    .size f{number}, 64\n"
    )


def texts(image):
    """The words of each command that prints text."""
    trace = image.trace
    yield "report", "--rows", 0, trace
    yield "report", "-g", trace
    yield "report", "--callers", "--callees", "--rows", 0, trace
    yield "report", "-s", "symbol,line,task", "--percent-limit", 0, trace
    yield "report", "--json", trace
    yield "script", trace
    yield "info", trace
    yield "info", "--json", trace
    yield "diff", "--all", "--base-image", image.path, trace, trace
    yield "diff", "--json", trace, trace
    yield "annotate", "--all", "--percent-limit", 0, "-i", trace
    yield "annotate", "--json", "-i", trace
    yield "export", "-f", "folded", trace
    yield "export", "-f", "callgrind", trace
    yield "export", "-f", "chrome", trace
    yield "export", "-f", "firefox", trace
    yield "top", "--stdio", "--delay", 0.2, "-k", image.path, image.packets
    yield "demangle", "camlX__$1b$5b2J_12", "_RNvC1xu4_4dga"


def names_are_harmless(image):
    for words in texts(image):
        done = image.parasite(*words)
        out = done.data.decode()
        if out.startswith("{"):  # JSON may have DEL, which does nothing
            out = out.replace("\x7f", "")
        for text in (out, done.err):
            found = CONTROL.search(text)
            check.true(found is None, f"{words}: {found}")


def names_are_shown(image):
    said = image.parasite("report", "-q", "--rows", 0, image.trace).out
    for name in (r"red\x1b[31m", r"c1\xc2\x9b2Jcsi", r"bytes\xff\x80", FINE):
        check.contains(said, name)
    rows = image.parasite.rows(image.trace)
    names = {row["symbol"] for row in rows}
    check.true(HARMFUL[0].decode() in names, names)


def metadata_is_harmless(image):
    """A path in a trace, or of one, in output and in messages."""
    metadata = image.trace / "metadata"
    text = metadata.read_bytes()
    try:
        evil = b'image = "/no/where\033[2J\302\233\n'
        metadata.write_bytes(re.sub(rb'image = ".*?\n', evil, text))
        done = image.parasite("info", image.trace)
        check.contains(done.out, r"/no/where\x1b[2J\xc2\x9b")
        done = image.parasite("report", "-v", image.trace)
        check.true(CONTROL.search(done.text) is None, done.text)
    finally:
        metadata.write_bytes(text)
    done = image.parasite("report", "no\033[2Jtrace", status=1)
    check.true(CONTROL.search(done.text) is None, done.text)


def full_stdout_is_an_error(image):
    """One line, and exit status 1."""
    trace = image.trace
    every = (
        *texts(image),
        ("export", "-q", "-f", "pprof", "-o", "-", trace),
        ("flame", "-o", "-", trace),
        ("flame", "--svg", "-o", "-", trace),
        ("report", "--help"),
        ("help",),
    )
    for words in every:
        quiet = ("-q",) if words[0] in ("report", "script", "diff") else ()
        done = run(
            *("sh", "-c", 'exec "$@" >/dev/full', "sh"),
            *(image.parasite.path, *words, *quiet),
            status=1,
        )
        lines = done.err.splitlines()
        check.true(lines and "cannot be written" in lines[-1], (words, lines))
        check.same(done.err.count("cannot be written"), 1, words)


def closed_stdout_is_fine(image):
    """Where nothing is printed."""
    out = image.trace.parent / "closed.html"
    for words in (("flame", "-o", out, image.trace), ("diff", "-q")):
        wanted = 0 if words[0] == "flame" else 2
        run(
            *("sh", "-c", 'exec "$@" >&-', "sh", image.parasite.path, *words),
            status=wanted,
        )


def test_output(hostile):
    s = hostile.s
    image = Image(hostile)
    for what, function_ in (
        ("names do not control the terminal", names_are_harmless),
        ("they are shown, and exact in JSON", names_are_shown),
        ("nor do paths", metadata_is_harmless),
        ("a full stdout is an error", full_stdout_is_an_error),
        ("a closed one is none", closed_stdout_is_fine),
    ):
        s.holds(what, function_, image)
