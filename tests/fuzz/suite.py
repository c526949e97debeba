# SPDX-License-Identifier: Apache-2.0
"""Each fuzzer for a number of inputs (30,000; with FULL=1 300,000; or RUNS=N),
from seeds that the build and tools of the tests make, and from what earlier
runs found in this build. Crashing inputs stay in the folder."""

import os
import shutil
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from harness.made_causal import causal
from harness.made_loop import loop
from harness.recorders import LOOP, Eio, Mirage, fiber, ring
from harness.suite import FULL, check, run

RUNS = int(os.environ.get("RUNS", 300000 if FULL else 30000))
# arithmetic of foreign numbers loses nothing without an explicit conversion
SANITIZERS = "address,undefined,float-cast-overflow,implicit-conversion"
HTTP_REQUEST = (
    "GET /a%20b?c=d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    "Authorization: Bearer y\r\nContent-Length: 0\r\n"
    "Connection: upgrade\r\nUpgrade: parasite\r\n\r\n"
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
    linked: tuple = ()  # words for the compiler; {build} is the build's folder
    leaks: bool = False  # memory, which is none of the faults
    level: str = "-O0"  # more only where inputs take longer than the compiler


HOST = "host"
BASE = "base/bytes base/index base/log base/memory base/text "
DECODER = BASE + (
    "causal/curve causal/notes causal/series causal/take "
    "causal/verdict "
    "trace/console trace/event trace/guest_names "
    "trace/merge trace/model trace/packet occupancy/problems "
    "occupancy/snapshot occupancy/take "
    "tasks/objects tasks/take tasks/words"
)
IMPORT = BASE + (
    "import/eio import/import import/mirage "
    "import/recording tasks/objects tasks/take tasks/words trace/event "
    "trace/guest_names trace/model trace/packet"
)
STUB = BASE + (
    "machine/machine machine/registers gdb/remote gdb/stub base/wait"
)
RING = BASE + "base/wait input/shared_ring trace/packet"
IMAGE = (
    "base/bytes base/index base/memory image/image image/lookup "
    "image/symbol_list trace/metadata"
)
STORED = "base/memory image/lookup image/stored"
# rooms that read and draw; what else they call is linked as it is
PAGES = "base causal export flame image import occupancy page profile tasks "
PAGES += "timeline trace"
PAGE_KINDS = 11  # that pages_fuzz.c writes, the last of causal profiling
EMBED = "build_id fill image lookup names table verify"
SYMBOLS = tuple(
    f"profiler/{name}.c"
    for name in ("symbols/elf", "symbols/lookup", "symbols/table", "base/crc")
)
FUZZERS = {
    "tables": Fuzzer(
        "symtab_fuzz",
        "no symbol table makes its reader read beyond it",
        12288,  # the largest of the seeds has 11 KiB
        "profiler",
        SYMBOLS,
        1 / 3,
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
        HOST,
        (
            *(f"{HOST}/{name}.c" for name in DECODER.split()),
            "profiler/causal/gain.c",
            "profiler/causal/rates.c",
        ),
        1 / 3,
        ("-idirafter", "profiler", "-lm"),
        level="-O2",
    ),
    "imports": Fuzzer(
        "import_fuzz",
        "no other recorder's trace makes its reader read beyond it",
        8192,
        HOST,
        tuple(f"{HOST}/{name}.c" for name in IMPORT.split()),
        1 / 10,
    ),
    # messages end what was begun by a jump, and leave its memory
    "pages": Fuzzer(
        "pages_fuzz",
        "no stream makes a page, a picture or an export overflow or run on",
        8192,
        HOST,
        tuple(
            str(path)
            for room in PAGES.split()
            for path in sorted(Path(HOST, room).glob("*.c"))
        ),
        1 / 100,
        (
            *("-idirafter", "profiler", "-Wl,--wrap=die"),
            *("-I{build}/host/messages", "-lprotobuf-c"),
            *("{build}/host/libparasite.a", "{build}/host/libdemangle.a"),
            *("-ldw", "-lelf", "-lcapstone", "-ljansson", "-lmicrohttpd"),
            *("-lncursesw", "-ltinfo", "-lz", "-lm"),
        ),
        leaks=True,
    ),
    "rings": Fuzzer(
        "ring_fuzz",
        "no guest's RAM makes its reader read beyond it or run on",
        8192,
        HOST,
        tuple(f"{HOST}/{name}.c" for name in RING.split()),
        1 / 3,
    ),
    "stubs": Fuzzer(
        "stub_fuzz",
        "no stub makes its reader read beyond what came or wait for ever",
        8192,
        HOST,
        tuple(f"{HOST}/{name}.c" for name in STUB.split()),
        1 / 10,
    ),
    # what libelf allocates for a refused image is not freed
    "images": Fuzzer(
        "image_fuzz",
        "no image makes the host command read beyond it",
        65536,
        HOST,
        (
            *(f"{HOST}/{name}.c" for name in IMAGE.split()),
            "host/symbols/function_symbols.c",
            "host/symbols/space.c",
            *SYMBOLS,
        ),
        1 / 30,
        ("-idirafter", "profiler", "-lelf"),
        leaks=True,
    ),
    "symbols": Fuzzer(
        "stored_fuzz",
        "no symbols in a trace make their reader read beyond them",
        8192,
        HOST,
        tuple(f"{HOST}/{name}.c" for name in STORED.split()),
        1 / 3,
    ),
    # nor is what embed has read until it refuses
    "fills": Fuzzer(
        "fill_fuzz",
        "no image makes embed read or write beyond its space",
        8192,
        "profiler",
        (
            *(f"host/embed/{name}.c" for name in EMBED.split()),
            "host/symbols/function_symbols.c",
            "host/symbols/space.c",
            *SYMBOLS,
        ),
        1 / 10,
        ("-Ihost", "-lelf", "-lnettle"),
        leaks=True,
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
        "no request, archive or profile makes its reader read beyond it",
        8192,
        "profiler",
        (
            "kernel/http/parse.c",
            "services/http/files.c",
            "services/watch/folded.c",
        ),
        1 / 3,
        ("-Ikernel/include",),
    ),
    "vsock": Fuzzer(
        "vsock_fuzz",
        "no packet of a host makes a guest's socket overflow",
        4096,
        "drivers",
        ("drivers/vsock.c",),
    ),
}
PARTS = tuple(FUZZERS)


def small_image(s):
    """An image of few functions, one with a name of two bytes of length, some
    far apart."""
    source, made, image = (s.work / f"small.{kind}" for kind in ("s", "o", "x"))
    text = [".globl _start\n_start: ret\n"]
    for i in range(40):
        name = f"parse_loop_{i}_" + ("message_" * 20 if i % 16 == 9 else "net")
        gap = 300000 if i == 20 else 5 * (i % 3)
        text.append(
            f".globl {name}\n.type {name}, @function\n"
            f"{name}: .skip {(1, 3, 40, 200, 70000)[i % 5]}\n"
            f".size {name}, . - {name}\n.skip {gap}\n"
        )
    source.write_text("".join(text))
    run("as", "-o", made, source)
    run("ld", "--build-id=sha1", "-o", image, made)
    return image


def tables(s):
    """Symbol tables of a small image and of a real one: in smaller inputs more
    mutations meet what is read. 15: all but positions, marks and index is
    repaired after mutation; those are right already."""
    small, table = small_image(s), s.work / "small.names"
    run(s.build / "host" / "embed", small, table)
    hello = s.work / "hello.names"
    run(s.build / "host" / "embed", s.build / "x86_64/hello/hello.elf", hello)
    for path in (table, hello):
        yield path.name, b"\x0f" + path.read_bytes()


def commands(_):
    text = "start\nrate 50\nstacks on\ndepth 4\nreset\nreport\nstop\n"
    yield "all", text.encode()


def stream_maker(s, name="make_stream"):
    maker = s.work / name
    run(
        *("gcc", "-std=gnu11", "-Iprofiler", "-Iprofiler/include", "-o", maker),
        f"tests/tool/{name}.c",
    )
    return maker


def streams(s):
    """The first byte selects how the fuzzer reads the rest."""
    maker = stream_maker(s)
    yield "packets", b"\xfc" + run(maker, 200, 1).data
    yield "mended", b"\xfe" + run(maker, 20, 2).data
    for wrong in ("nothing", "not_nested", "never_created"):
        tasks = run(stream_maker(s, "make_tasks"), 200, 1, wrong).data
        yield f"tasks_{wrong}", b"\xfe" + tasks
    for wrong in ("nothing", "not_total", "no_account"):
        yield f"loop_{wrong}", b"\xfe" + loop(3, wrong)[0]
    for words in ((8, ""), (40, "late"), (4, "wrong"), (8, "named")):
        yield f"causal_{words[1] or words[0]}", b"\xfe" + causal(*words)
    yield "text", b"\xfd" + run(maker, "--text", 100, 3).data


def pages(s):
    """The first byte selects what is written."""
    samples = run(stream_maker(s), 60, 1).data
    tasks = run(stream_maker(s, "make_tasks"), 60, 1, "nothing").data
    for kind in range(PAGE_KINDS - 1):
        yield f"samples_{kind}", bytes([kind]) + samples
        yield f"tasks_{kind}", bytes([kind]) + tasks
    yield "causal", bytes([PAGE_KINDS - 1]) + causal(8)


def imports(_):
    """The first byte selects whether the magic numbers are mended."""
    mirage, eio = Mirage(), Eio()
    for number, kind in enumerate(Mirage.KINDS):
        text = ["x"] if kind in ("fails", "increase", "counter") else []
        fields = {
            "creates": [LOOP, number + 1, "bind"],
            "label": [number, "x"],
            "switch": [number],
            "gc": [100],
        }
        mirage.put(kind, *fields.get(kind, [number, 1, *text]))
    mirage.next_packet()
    mirage.put("switch", LOOP)
    yield "mirage", b"\1" + mirage.data(512)
    eio.wake(2)
    eio.event(Eio.INSTANT, ring(0), "eio", "create-fiber", id=2, cc=1)
    eio.event(Eio.BEGIN, fiber(2), "eio", "cc", id=3, type="switch")
    eio.event(Eio.BEGIN, fiber(2), "eio.suspend", "read")
    eio.event(Eio.BEGIN, ring(0), "eio", "suspend-domain")
    eio.event(Eio.BEGIN, ring(0), "gc", "minor")
    eio.event(Eio.END, ring(0), "gc", "minor")
    eio.wake(2, cpu=1)
    eio.name(2, "main")
    eio.event(Eio.END, fiber(2), "eio", "cc")
    eio.event(Eio.INSTANT, fiber(2), "eio", "error", id=2, message="x")
    eio.event(Eio.INSTANT, fiber(2), "eio", "exit-fiber", id=2)
    yield "eio", b"\3" + eio.data()


def rings(s):
    """Twice: a head, and a stream as the ring."""
    packets = run(stream_maker(s), 20, 1).data
    head = struct.pack("<6Q", 0x676E6972666F7270, 48, 2048, 2048, 0, 0)
    ram = head + packets[:2048].ljust(2048, b"\0")
    yield "right", b"\0" + ram + ram
    yield "mended", b"\x09" + ram + ram
    last = struct.pack("<6Q", 0x676E6972666F7270, 48, 2048, 2**64 - 1, 0, 0)
    yield "last", b"\0" + last + ram[48:] + last + ram[48:]


def stubs(_):
    """What QEMU answers, and stops."""
    xml = 'l<reg name="rip" bitsize="64"/><xi:include href="a.xml"/>'
    answers = [
        *("T02thread:01;", "PacketSize=1000;qXfer:features:read+", xml),
        *("l<reg name='rsp' bitsize='64'/>", "m01,02", "l", "ENABLE=1"),
        *("OK", "0* " * 40, "OK", "00" * 164) * 2,
    ]
    for name, kind in (("qemu", answers), ("other", answers[1:])):
        yield name, b"".join(
            b"$%s#%02x" % (text.encode(), sum(text.encode()) & 255)
            for text in kind
        )


def images(s):
    """A function, an object, a note; an image without a symbol; one with those
    that embed put into it; and a list from the first address to the last."""
    last = 2**64 - 2
    yield "list", f"{1:016x} T first\n{last:016x} T last\n".encode()
    source, made = s.work / "image.s", s.work / "image.o"
    source.write_text(
        ".globl _start, thing\n.text\n.type _start, @function\n"
        "_start: ret\n.size _start, 1\n.data\nthing: .long 1\n"
    )
    run("as", "-o", made, source)
    for name, words in (
        ("whole", ("--build-id=sha1",)),
        ("stripped", ("--build-id=sha1", "-s")),
    ):
        run("ld", *words, "-z", "max-page-size=4096", "-o", s.work / name, made)
        yield name, (s.work / name).read_bytes()
    for name, image in fills(s):
        if "twin" not in name:
            path = s.work / name
            path.write_bytes(image[3:])
            run(s.build / "host/parasite", "embed", path)
            run("strip", path)
            yield f"{name}-embedded", path.read_bytes()


def symbols(s):
    """Of a small image, and of that beside another one."""
    first, second = small_image(s), s.work / "second.x"
    shutil.copy(first, second)
    packets = s.work / "packets"
    packets.write_bytes(run(stream_maker(s), 20, 1).data)
    for name, images_ in ("one", (first,)), ("two", (first, second)):
        trace = s.work / f"{name}.trace"
        words = [word for image in images_ for word in ("-k", image)]
        run(s.parasite, "record", "-qf", "-o", trace, *words, packets)
        stored = (trace / ".symbols").read_bytes()
        yield name, zlib.decompress(stored[24:])


def fills(s):
    """Images with space, as they are and stripped with a twin."""
    source, made = s.work / "fill.c", s.work / "fill.o"
    source.write_text(
        "#include <prof/symbols.h>\nPROF_SYMBOLS_RESERVE(1024);\n"
        "int _start(void) { return prof_symbols_in_image() != 0; }\n"
        "void f(void) {}\nvoid g(void) {}\n"
    )
    for bits, emulation in ("32", "elf_i386"), ("64", "elf_x86_64"):
        for kind in ("build-id=sha1", "build-id=none"):
            whole, bare = s.work / f"{bits}-{kind}", s.work / "bare"
            run(
                *("gcc", f"-m{bits}", "-c", "-O1", "-ffreestanding"),
                *("-fno-pic", "-fno-asynchronous-unwind-tables"),
                *("-Iprofiler/include", "-o", made, source),
            )
            run(
                *("ld", "-m", emulation, f"--{kind}", "-n", "-o", whole, made),
            )
            run("strip", "-o", bare, whole)
            image, twin = bare.read_bytes(), whole.read_bytes()
            yield whole.name, b"\0\0\0" + twin
            at = struct.pack(">BH", 1, len(image))
            yield f"{whole.name}-twin", at + image + twin


def names(_):
    yield "cxx", b"a@_ZNSt6vectorIiE4pushEv"
    yield "rust", b"b@_RNvNtC3foo3bar3baz"


def http(s):
    site = s.work / "site"
    site.mkdir(exist_ok=True)
    (site / "index.html").write_text("<p>\n", encoding="utf-8")
    yield "tar", b"t" + run("tar", "-C", site, "-cf", "-", ".").data
    yield "folded", b"fmain;f(int);g 12\nmain 3\n[idle] 4\nx\n"
    yield "request", b"r" + HTTP_REQUEST.encode()


def vsock(_):
    """A connection with data both ways, its end, and one of the guest's."""

    def packet(op, data=b"", room=65536, flags=0):
        head = struct.pack(
            "<QQIIIHHIII", 2, 3, 1, 52, len(data), 1, op, flags, room, 0
        )
        return b"\x08" + bytes([len(data) // 5]) + head + data

    talk = packet(1) + b"\x06\0\0" + packet(5, b"rate 99\nxx")
    talk += b"\x04\1\1" + b"\x03\1\2" + packet(7) + packet(6)
    yield "talk", talk + packet(4, flags=3) + b"\x05\1\0"
    yield "full", b"".join(packet(5, b"a" * 1020) for _ in range(2))
    yield "reset", packet(1) + b"\x07\1\1" + packet(1) + packet(3)
    yield "many", b"".join(
        packet(1)[:18] + bytes([i]) + packet(1)[19:] for i in range(12)
    )


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
            *("clang-14", "-std=gnu11", "-gline-tables-only", fuzzer.level),
            f"-I{fuzzer.tree}",
            *(f"-fsanitize=fuzzer,{SANITIZERS}", "-Iprofiler/include"),
            *("-fno-sanitize-recover=all", "-o", program),
            *(f"tests/fuzz/{fuzzer.name}.c", *fuzzer.sources),
            *(word.format(build=s.build) for word in fuzzer.linked),
        )
        run(
            *(program, "-seed=1", f"-runs={int(RUNS * fuzzer.part)}"),
            *(f"-max_len={fuzzer.longest}", f"-artifact_prefix={s.work}/"),
            *(("-detect_leaks=0",) if fuzzer.leaks else ()),
            *(corpus, seeds),
            env={"ASAN_OPTIONS": f"detect_leaks={int(not fuzzer.leaks)}"},
            cpu_limit=1800,
            by_lines=True,
        )
