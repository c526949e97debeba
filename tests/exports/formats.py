# SPDX-License-Identifier: Apache-2.0
"""What holds for the files of every format."""

import gzip
import json
import os

from agree import callgrind_annotate, protoc
from harness.suite import check, run

FORMATS = "folded pprof perf firefox chrome perfetto callgrind".split()
NAMES = {
    "y.folded": "folded",
    "y.txt": "folded",
    "y.pb.gz": "pprof",
    "y.pprof": "pprof",
    "y.data": "perf",
    "y.perf": "perf",
    "y.json": "firefox",
    "y.json.gz": "firefox",
    "y.trace.json": "chrome",
    "y.trace.json.gz": "chrome",
    "y.perfetto-trace": "perfetto",
    "y.pftrace": "perfetto",
    "y.callgrind": "callgrind",
    "callgrind.out.7": "callgrind",
}


def parsed(x, kind):
    return json.loads(x.written(kind).read_bytes().decode("utf-8", "strict"))


def damaged_names_are_mended(made):
    """Names with a line's end, a terminal's colours, and bytes that are no
    UTF-8."""
    image = made.s.work / "damaged.elf"
    harmful = (
        b"two\nlines\r\tand a tab",
        b"\033[31mred\001",
        b"a\377b\300\200c\355\240\200d",
    )
    words = [
        os.fsdecode(b"--redefine-sym=plain_%d=%s" % (number, name))
        for number, name in enumerate(harmful, 1)
    ]
    run("objcopy", *words, made.image, image)
    x = made.x.of(made.trace, "-k", image)
    mended = "a\ufffdb\ufffd\ufffdc\ufffd\ufffd\ufffdd"
    texts = parsed(x, "firefox")["shared"]["stringArray"]
    check.same(texts.count(mended), 1)
    there = {event.get("name") for event in parsed(x, "chrome")["traceEvents"]}
    check.true({name.decode() for name in harmful[:2]} <= there, there)
    x.written("callgrind")
    check.has(callgrind_annotate(x), "two lines.*and a tab")
    protoc(x)
    for kind in ("pprof", "perfetto"):
        data = x.written(kind).read_bytes()
        data = gzip.decompress(data) if kind == "pprof" else data
        check.true(mended.encode() in data, kind)
        check.true(b"a\377b" not in data, kind)


def name_says_format(made):
    """Without -f it is the same."""
    for name, kind in NAMES.items():
        file = made.s.work / name
        made.x.parasite("export", "-q", "-o", file, made.trace)
        found = file.read_bytes()
        if name.endswith(".gz") and not name.endswith(".pb.gz"):
            found = gzip.decompress(found)
        check.true(found == made.x.written(kind).read_bytes(), name)


def full_disk_is_reported(made):
    for kind in FORMATS:
        done = made.x.parasite(
            *("export", "-q", "-f", kind, "-o", "/dev/full", made.trace),
            status=1,
        )
        check.contains(done.err, "/dev/full: cannot be written")


def pipes_are_files(made):
    for kind in FORMATS:
        file = made.x.written(kind).read_bytes()
        piped = run(
            *("bash", "-c", 'set -o pipefail; "$@" | cat', "bash"),
            *(made.x.parasite.path, "export", "-q", "-f", kind, made.trace),
        )
        check.true(piped.data == file, kind)


def million_is_streamed(made):
    s, parasite = made.s, made.x.parasite
    plain, trace = s.work / "plain", s.work / "million.trace"
    packets = s.work / "million.packets"
    plain.write_text(made.symbols("plain_"))
    maker = s.build / "host" / "make_stream"
    packets.write_bytes(run(maker, 1000000, 1, plain).data)
    parasite.record(trace, "-q", packets)
    packets.unlink()
    used = s.work / "kilobytes"
    for kind in FORMATS:
        run(
            *("time", "-f", "%M", "-o", used, parasite.path, "export"),
            *("-q", "-k", made.image, "--force", "-f", kind),
            *("-o", "/dev/null", trace),
        )
        kilobytes = int(used.read_text())
        s.note(f"{kind}: {kilobytes} KB")
        check.true(kilobytes < 65536, f"{kind}: {kilobytes} KB")


def nothing_chosen(made):
    s, x = made.s, made.x.of(made.trace, "-C", 1)
    with s.test("nothing chosen is a Firefox profile with no threads"):
        check.same(parsed(x, "firefox")["threads"], [])
    with s.test("and a Chrome trace with no slices"):
        check.same(len(parsed(x, "chrome")["traceEvents"]), 1)
    for kind in ("folded", "pprof", "perf", "perfetto", "callgrind"):
        s.holds(f"and can be {kind}", x.written, kind)


def test_formats(made):
    s, export = made.s, made.x.parasite
    nothing_chosen(made)
    for what, function in (
        ("names that are no text do no harm", damaged_names_are_mended),
        ("the name of a file says its format", name_says_format),
        ("a full disk is reported, for each format", full_disk_is_reported),
        ("what is piped is what is in a file", pipes_are_files),
        ("a million samples need no more than 64 MB", million_is_streamed),
    ):
        s.holds(what, function, made)
    for what, words in (
        ("an unknown format is bad usage", ("-f", "nothing")),
        ("an unknown name is bad usage", ("-o", s.work / "x.nothing")),
    ):
        s.holds(what, export, "export", *words, made.trace, status=2)
