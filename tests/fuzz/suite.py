# SPDX-License-Identifier: Apache-2.0
"""Each fuzzer for a number of inputs (RUNS=N, else 300,000), from seeds that
the build and tools of the tests make. Crashing inputs stay in the folder."""

import os
from dataclasses import dataclass
from pathlib import Path

from harness.suite import check, run

RUNS = int(os.environ.get("RUNS", 300000))
HTTP_REQUEST = (
    "GET /a%20b?c=d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    "Authorization: Bearer y\r\nContent-Length: 0\r\n\r\n"
)


@dataclass
class Fuzzer:
    """tests/fuzz/(name).c and what it is linked with; (longest) input."""

    name: str
    what: str
    longest: int
    tree: str  # whose rooms its includes name
    sources: tuple
    part: float = 1  # of RUNS


DECODER = (
    "base/base64 base/crc32c base/index base/memory trace/console trace/event "
    "trace/model trace/packet trace/packet_index"
)
FUZZERS = {
    "tables": Fuzzer(
        "symtab_fuzz",
        "no symbol table makes its reader read beyond it",
        24576,  # the largest of the seeds has 21 KiB
        "profiler",
        (
            "profiler/symbols/lookup.c",
            "profiler/symbols/table.c",
            "profiler/base/crc.c",
        ),
    ),
    "commands": Fuzzer(
        "command_fuzz",
        "no input is taken for another command",
        512,
        "profiler",
        ("profiler/control/command.c",),
    ),
    # a stream's inputs take longer, and repeat themselves after a few packets
    "streams": Fuzzer(
        "decode_fuzz",
        "no stream makes its reader read beyond it",
        8192,
        "tools/parasite",
        tuple(f"tools/parasite/{name}.c" for name in DECODER.split()),
        1 / 3,
    ),
    "names": Fuzzer(
        "demangle_fuzz",
        "no name makes the demangler read beyond it or run on",
        1024,
        "profiler",
        tuple(map(str, sorted(Path("profiler/demangle").glob("*.c")))),
        1 / 3,
    ),
    "http": Fuzzer(
        "http_fuzz",
        "no request and no archive makes the web server read beyond it",
        8192,
        "profiler",
        ("services/http/parse.c", "services/http/files.c"),
        1 / 3,
    ),
}
PARTS = tuple(FUZZERS)


def tables(s):
    """Symbol tables of images. 15: all but positions, marks and index is
    repaired after mutation; those are right already."""
    for table in s.build.glob("x86_64/*/*.names"):
        yield table.name, b"\x0f" + table.read_bytes()


def commands(_):
    text = "start\nrate 50\nstacks on\ndepth 4\nreset\nreport\nstop\n"
    yield "all", text.encode()


def streams(s):
    """The first byte selects how the fuzzer reads the rest."""
    maker = s.work / "make_stream"
    run(
        *("gcc", "-std=gnu11", "-Iprofiler", "-Iprofiler/include", "-o", maker),
        "tests/tool/make_stream.c",
    )
    yield "packets", b"\xfc" + run(maker, 200, 1).data
    yield "mended", b"\xfe" + run(maker, 20, 2).data
    yield "text", b"\xfd" + run(maker, "--text", 100, 3).data


def names(_):
    yield "cxx", b"a@_ZNSt6vectorIiE4pushEv"
    yield "rust", b"b@_RNvNtC3foo3bar3baz"


def http(s):
    site = s.work / "site"
    site.mkdir(exist_ok=True)
    (site / "index.html").write_text("<p>\n", encoding="utf-8")
    yield "tar", b"t" + run("tar", "-C", site, "-cf", "-", ".").data
    yield "request", b"r" + HTTP_REQUEST.encode()


def suite(s):
    fuzzer = FUZZERS[s.part]
    seeds, corpus = s.work / "seeds", s.work / "corpus"
    for folder in (seeds, corpus):
        folder.mkdir(parents=True, exist_ok=True)
    with s.test(fuzzer.what):
        for name, data in globals()[s.part](s):
            (seeds / name).write_bytes(data)
        check.true(list(seeds.iterdir()), "seeds")
        program = s.work / fuzzer.name
        run(
            *("clang-14", "-std=gnu11", "-g", "-O1", f"-I{fuzzer.tree}"),
            *("-fsanitize=fuzzer,address,undefined", "-Iprofiler/include"),
            *("-fno-sanitize-recover=all", "-o", program),
            *(f"tests/fuzz/{fuzzer.name}.c", *fuzzer.sources),
        )
        run(
            *(program, "-seed=1", f"-runs={int(RUNS * fuzzer.part)}"),
            *(f"-max_len={fuzzer.longest}", f"-artifact_prefix={s.work}/"),
            *(corpus, seeds),
            cpu_limit=1800,
        )
