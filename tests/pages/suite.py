# SPDX-License-Identifier: Apache-2.0
"""The page that `parasite flame` writes, in Debian's Chromium without a
window, driven by playwright-core, which npm fetches once. Each part is some of
the *_test.js here; with FULL=1 pictures of what was seen stay in its folder."""

import os
import re
import signal
import urllib.request

from harness import made_loop, progress
from harness.made_causal import causal
from harness.command import Command, build_id, text_addresses
from harness.made_counters import counters
from harness.made_cpus import cpus
from harness.made_lanes import lanes, wild
from harness.made_live import live
from harness.made_profile import interrupted, pending, profile, several
from harness.payload import page_of
from harness.suite import FULL, WIDTHS, background, run

PARTS = ("graph", "looks", "every", "large", "tasks", "sheets")  # see all.js
CPU_LIMIT_S = 1500

# functions with names that a careless page would stumble over
NAMES = (
    *("main", "work", "helper", "port", "recurse"),
    "</script><script>document.title=1</script>",
    *("a<b>&amp;c &lt; d", "quote\"s and 'others' \\ back"),
    *("größe_日本語_🔥", 10000 * "x", "__proto__"),
    # mangled, by language: C++, Rust twice, OCaml
    *("_ZN3net4sendEi", "_RNvC6kernel4boot"),
    *("_ZN4core3fmt5write17h0123456789abcdefE", "camlStdlib__List__map_5"),
)
OWN = "prof_drain"  # the profiler's, which is in no share
LABEL = '.globl "{0}"\n"{0}":\n    nop\n    .balign 64, 0x90\n'
FUNCTION = """\
.globl "{0}"
.type "{0}", @function
"{0}":
    nop
    out %al, %dx
    nop
    ret
    .balign 64, 0x90
.size "{0}", 64
"""


def make_image(image):
    """An ELF file of NAMES, 64 bytes each from 0x100000 on; then the profiler's
    function, with a label before it and one after it."""
    source = image.with_suffix(".s")
    names = [n.replace("\\", r"\\").replace('"', r"\"") for n in NAMES]
    labels = (LABEL.format(f"prof_code_{side}") for side in ("begin", "end"))
    source.write_text(
        ".text\n"
        + "".join(map(FUNCTION.format, names))
        + FUNCTION.format(OWN).join(labels)
    )
    run(
        *("gcc", "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=0x100000"),
        *("-Wl,--build-id=none", "-Wl,-e,main", "-Wl,-z,noexecstack"),
        *("-o", image, source),
    )


class Pages:
    """Makes traces and pages in the work folder."""

    def __init__(self, s):
        self.s, self.work, self.parasite = s, s.work, Command(s)
        self.image = s.work / "image"
        make_image(self.image)
        self.compile("make_stream", "tests/tool/make_stream.c")

    def compile(self, name, source, *words):
        run(
            *("gcc", "-std=gnu11", "-O1", *words, "-Iprofiler/include"),
            *("-o", self.work / name, source),
        )

    def stream(self, maker, name, *words, **env):
        """The path of what the program (maker) writes."""
        path = self.work / name
        path.write_bytes(run(self.work / maker, *words, env=env).data)
        return path

    def recorded(self, name, *options):
        """A trace of harness/made_profile.py."""
        trace = self.work / f"{name}.trace"
        words = ("-q", "-k", self.image, "-")
        self.parasite.record(trace, *words, data=profile(*options))
        return trace

    def drawn(self, name, *words, weight="samples"):
        """A page of these words; what was said."""
        return self.parasite(
            *("flame", "-q", "-k", self.image),
            *(("--weight", weight) if weight else ()),
            *("-o", self.work / name, *words),
        ).text

    def addresses(self, first, last):
        """A file of addresses of functions without names."""
        path = self.work / "addresses"
        path.write_text(
            "".join(f"{0x100000 + 64 * i:x}\n" for i in range(first, last + 1)),
            encoding="ascii",
        )
        return path


def make_common(pages):
    made, more = pages.recorded("made"), pages.recorded("more", "more")
    few, none = pages.recorded("few", "few"), pages.recorded("none", "none")
    pages.drawn("made.html", made)
    pages.drawn("clocks.html", made, weight=None)
    own = pages.recorded("own", "own")
    pages.drawn("own.html", own)
    pages.drawn("own_too.html", "--profiler", own)
    pages.drawn("clocks.svg", "--svg", made, weight=None)
    pages.drawn("few.html", few)
    stolen = pages.recorded("stolen", "stolen")
    pages.drawn("alone.html", stolen)
    pages.drawn("stolen.html", "--diff", made, stolen)
    pages.drawn("made.svg", "--svg", made)
    for form, option in (("html", ()), ("svg", ("--svg",))):
        for name, before, after in (
            ("more", made, more),
            ("less", more, made),
            ("same", made, made),
        ):
            pages.drawn(f"{name}.{form}", *option, "--diff", before, after)
    bad = os.fsdecode(b"no\xff <UTF-8> &\x01")
    pages.drawn("bad.svg", "--svg", "--title", bad, made)
    pages.drawn("bad.html", "--title", bad, made)
    pages.drawn("deep.html", pages.recorded("deep", "deep"))
    pages.drawn("one.html", pages.stream("make_stream", "one", 1, 1))
    pages.drawn("gone.html", "--diff", made, none)
    three = pages.work / "cpus.trace"
    pages.parasite.record(three, "-q", "-k", pages.image, "-", data=cpus())
    pages.drawn("cpus.html", three, weight=None)
    pages.drawn("latency.html", "--latency", three, weight=None)


def make_sides(pages):
    """A guest from both sides."""
    inside = pages.recorded("made")
    outside = pages.recorded("outside", "outside")
    pages.drawn("both.html", inside, outside)
    pages.drawn("swapped.html", outside, inside)
    ticks = pages.recorded("ticks", "outside", "own")
    pages.drawn("ticks.html", inside, ticks)
    sides = {}
    for name, options in (
        ("of_two", {}),
        ("of_two_by_nmi", {"by_nmi": True}),
        ("other_marked", {"by_nmi": True, "marked": 0}),
        ("of_three", {"outside": True}),
    ):
        sides[name] = pages.work / f"{name}.trace"
        words = (sides[name], "-q", "-k", pages.image, "-")
        pages.parasite.record(*words, data=several(**options))
    pages.drawn("several.html", sides["of_two"], sides["of_three"])
    pages.drawn("by_nmi.html", sides["of_two_by_nmi"], sides["of_three"])
    pages.drawn("marked.html", sides["other_marked"], sides["of_three"])


def code_addresses(image):
    """Addresses to draw nodes from: of its functions, and that of the service's
    main function so often that some node has it."""
    service = text_addresses(image, {"service_main"})
    return text_addresses(image) + 100 * service


def make_files(pages):
    """Functions without names, functions in several languages, and those of
    other images, with their folders."""
    s = pages.s
    addresses = pages.addresses(1, 4096)
    stream = pages.stream("make_stream", "ten", 10000, 1, addresses)
    pages.drawn("ten.html", stream)
    addresses = pages.addresses(11, 14)
    stream = pages.stream("make_stream", "tongues", 2000, 1, addresses)
    pages.drawn("tongues.html", stream)
    for width in WIDTHS:
        image = s.image(width, "lua")
        addresses.write_text(code_addresses(image), encoding="ascii")
        stream = pages.stream(
            *("make_stream", width, 20000, 1, addresses),
            BUILD_ID=build_id(image),
        )
        pages.parasite(
            *("flame", "-q", "--profiler", "-k", image),
            *("-o", s.work / f"{width}.html", stream),
        )


def make_parts(pages):
    """A program's code, and an address space of user mode beside it."""
    image = pages.s.image("i386", "lua")
    addresses = pages.work / "addresses"
    known = code_addresses(image).splitlines()
    user = len(known) // 10 * ["ffffff00"]
    addresses.write_text("\n".join(known + user) + "\n", encoding="ascii")
    stream = pages.stream(
        *("make_stream", "parts", 20000, 1, addresses),
        BUILD_ID=build_id(image),
    )
    pages.parasite(
        *("flame", "-q", "--profiler", "-k", image),
        *("-o", pages.work / "parts.html", stream),
    )


def make_served(pages, trace, name, *words):
    """The pages of parasite open, in a folder as they are on its server."""
    folder = pages.work / name
    folder.mkdir(exist_ok=True)
    with background(
        *(pages.parasite.path, "open", "--no-browser", "-k", pages.image),
        *(*words, pages.work / f"{trace}.trace"),
        log=pages.work / "server.log",
    ) as server:
        address = server.soon(
            lambda: re.search("^http://.*/$", server.text(), re.M),
            "its address",
        )[0]
        for name in ("", "flame.html", "annotate.html"):
            with urllib.request.urlopen(
                address + name, timeout=progress.WAIT_S
            ) as page:
                path = folder / (name or "index.html")
                path.write_bytes(page.read())
        server.signal(signal.SIGINT)
        server.end(0)


def make_project(pages):
    """A page of a program with sources in a folder and in one below it."""
    folder = pages.work / "project"
    (folder / "lib").mkdir(parents=True, exist_ok=True)
    (folder / "main.c").write_text("void _start(void) { for (;;); }\n")
    (folder / "lib/part.c").write_text("void part(void) { for (;;); }\n")
    image = pages.work / "project.elf"
    run(
        *("gcc", "-g", "-O1", "-nostdlib", "-static", "-no-pie"),
        *("-Wl,-Ttext=0x100000,--build-id=sha1", "-o", image),
        *(folder / "main.c", folder / "lib/part.c"),
    )
    addresses = pages.work / "addresses"
    addresses.write_text(text_addresses(image), encoding="ascii")
    stream = pages.stream(
        *("make_stream", "layers", 200, 1, addresses), BUILD_ID=build_id(image)
    )
    pages.parasite(
        *("flame", "-q", "-k", image, "-o", pages.work / "project.html"), stream
    )


def make_large(pages):
    """A million samples of a hundred thousand stacks."""
    pages.compile("make_large", "tests/tool/make_stream.c", "-DNODES=102000u")
    addresses = pages.addresses(1, 4096)
    stream = pages.stream("make_large", "large", 1000000, 1, addresses)
    done = pages.parasite("flame", "-o", pages.work / "large.html", stream)
    (pages.work / "large.log").write_text(done.err, encoding="utf-8")


def make_tasks(pages):
    """Timelines: random ones and their static pictures; of a stream, of
    larger ones, with packets missing, of two,
    and of two that exchange messages; of a program that hangs, and of one
    with interrupts. Most checks load the small one, for it costs less."""
    pages.compile("make_tasks", "tests/tool/make_tasks.c")

    def made(name, events, seed, *words):
        done = run(pages.work / "make_tasks", events, seed, *words)
        (pages.work / f"{name}.json").write_text(done.err, encoding="ascii")
        (pages.work / name).write_bytes(done.data)
        return pages.work / name

    def drawn(name, *traces):
        pages.parasite("timeline", "-q", "-o", pages.work / name, *traces)

    small, other = made("tasks", 4000, 1), made("other", 4000, 2)
    drawn("tasks.html", small)
    large = made("large", 20000, 1)
    drawn("large.html", large)
    drawn("many.html", made("many", 120000, 3))
    pages.compile("make_alike", "tests/tool/make_tasks.c", "-DSITES=1u")
    alike = pages.stream("make_alike", "alike", 60000, 6)
    drawn("alike.html", alike)
    pages.compile("make_stacks", "tests/tool/make_tasks.c", "-DSTACKS=3u")
    drawn("waits.html", pages.stream("make_stacks", "waits", 3000, 7))
    drawn("both.html", small, other)
    for name, gap in (("pending", False), ("pending_gap", True)):
        packets = pages.work / f"{name}.packets"
        packets.write_bytes(pending(gap))
        drawn(f"{name}.html", packets)
    packets = pages.work / "interrupted.packets"
    packets.write_bytes(interrupted())
    drawn("interrupted.html", packets)
    drawn("twice.html", packets, packets)
    several = pages.work / "lanes.packets"
    several.write_bytes(lanes())
    drawn("lanes.html", several)
    drawn("lanes.svg", several)
    drawn("lanes_both.html", several, packets)
    drawn("lanes_both.svg", several, packets)
    for i in range(1, 5):
        several = pages.work / f"wild-{i}.packets"
        several.write_bytes(wild(i))
        drawn(f"wild-{i}.html", several)
        drawn(f"wild-{i}.svg", several)
    (pages.work / "counters").write_bytes(counters())
    drawn("counters.html", pages.work / "counters")
    drawn(
        "pair.html",
        made("client", 20000, 4, "nothing", 0),
        made("server", 20000, 5, "nothing", 1),
    )
    drawn("pair.svg", pages.work / "client", pages.work / "server")
    for i in range(1, 13, 1 if FULL else 3):
        random = made(f"random-{i}", 40 * i * i, 100 + i)
        drawn(f"random-{i}.html", random)
        drawn(f"random-{i}.svg", random)
    (pages.work / "gap").write_bytes(
        large.read_bytes()[:40960] + large.read_bytes()[61440:]
    )
    drawn("gap.html", pages.work / "gap")


LISTING = """\
# adds numbers up
        .globl  sum
        .type   sum, @function
sum:
        xor     %eax, %eax
        test    %edi, %edi
        jz      2f
1:      add     %edi, %eax
        imul    %eax, %eax
        dec     %edi
        jnz     1b
2:      ret
        .size   sum, . - sum
        .type   main, @function
main:
        mov     $1000, %edi
        call    sum
        jmp     main
        .size   main, . - main
"""


def make_listing(pages):
    """Code with its source."""
    folder = pages.work / "listing"
    folder.mkdir(exist_ok=True)
    (folder / "sum.s").write_text(LISTING, encoding="ascii")
    image = folder / "sum.elf"
    run("as", "-g", "-o", "sum.o", "sum.s", cwd=folder)
    run(
        *("ld", "-Ttext=0x100000", "-e", "sum", "--build-id=none"),
        *("-o", image, folder / "sum.o"),
    )
    addresses = pages.work / "addresses"
    offsets = (2, 4, 6, 8, 8, 8, 11, 11, 11, 11, 13, 15)
    addresses.write_text("".join(f"{0x100000 + i:x}\n" for i in offsets))
    stream = pages.stream("make_stream", "sum", 2000, 1, addresses)
    pages.parasite(
        *("annotate", "-q", "-k", image, "-o", pages.work / "listing.html"),
        *("--source", folder, "-i", stream),
    )


def make_sheets(pages):
    """What each page shows of streams that are always the same."""
    make_common(pages)
    make_sides(pages)
    for name in ("stolen", "own", "cpus"):
        make_served(pages, name, f"open_{name}")
    data, _ = made_loop.loop(20, "nothing", 1, True)
    pages.parasite.record(pages.work / "loop.trace", "-q", "-", data=data)
    make_served(pages, "loop", "open_loop")
    make_listing(pages)
    pages.compile("make_tasks", "tests/tool/make_tasks.c")
    made = {
        "tasks": run(pages.work / "make_tasks", 3000, 1).data,
        "pending": pending(),
        "lanes": lanes(),
        "counters": counters(),
    }
    for name, data in made.items():
        path = pages.work / f"{name}.packets"
        path.write_bytes(data)
        page = pages.work / f"{name}.html"
        pages.parasite("timeline", "-q", "-o", page, path)
    for name in ("", "named"):
        path = pages.work / f"causal{name}.packets"
        path.write_bytes(causal(400, name))
        page = pages.work / f"causal{name}.html"
        pages.parasite("causal", "-q", "-o", page, path)
    template = pages.s.build / "host/pages/live.html"
    (pages.work / "live.html").write_text(page_of(template, live()))


def suite(s):
    modules = s.browser_modules()
    pages = Pages(s)
    if s.part == "large":
        make_large(pages)
    elif s.part == "tasks":
        make_tasks(pages)
    elif s.part == "sheets":
        make_sheets(pages)
    else:
        make_common(pages)
    if s.part == "looks":
        make_files(pages)
        make_project(pages)
        make_parts(pages)
        make_sides(pages)
    if s.part == "every":
        make_served(pages, "stolen", "open")
        data, _ = made_loop.loop(20, "nothing", 1, True)
        pages.parasite.record(pages.work / "loop.trace", "-q", "-", data=data)
        make_served(pages, "loop", "loop")
        make_served(pages, "own", "open_own")
        make_served(pages, "cpus", "cpus")
        make_served(pages, "cpus", "later", "--time", "0.5,")
    done = run(
        *("node", "tests/pages/all.js", s.work, s.part, s.parasite),
        status=None,
        env={"NODE_PATH": str(modules)},
        cpu_limit=CPU_LIMIT_S,
        by_lines=True,
    )
    for line in done.lines():
        if re.match("# (loaded|longest)", line):
            s.note(line[2:])
    s.tap_of("", done.text)
