# SPDX-License-Identifier: Apache-2.0
"""parasite annotate: as text, as JSON and as a page."""

import json
import os
import shutil
from pathlib import Path

import checks
from guests import HOSTILE
from harness.suite import check, run

LUA = "luaV_execute"


# ---- beside other tools


def adds_up(views, trace, *words):
    """Lines and instructions add up to the report's self, whatever is looked
    at."""
    report = views.parasite.report
    checks.totals(
        views.annotated("--percent-limit", 0, "-i", trace, *words),
        report(trace, *words),
        report(trace, "-s", "symbol,line", *words),
    )


def code_is_objdumps(views, trace, image, symbol):
    """What objdump makes of the function's bytes."""
    objdump = run(
        *("objdump", "-d", "-M", "intel", "--no-show-raw-insn"),
        *(f"--disassemble={symbol}", image),
    ).out
    checks.code(views.annotated("-i", trace, symbol), objdump)


def inlined_is_addr2lines(views, trace, image):
    """Nested ones too: one in the other."""
    checks.inlined(views.annotated("--percent-limit", 0.3, "-i", trace), image)


def perf_agrees(views, trace):
    """What perf annotate shows of our own perf.data."""
    data = views.s.work / "perf.data"
    views.parasite("export", "-q", "-f", "perf", "-o", data, trace)
    said = run("perf", "annotate", "-i", data, "--stdio", "-s", LUA).out
    checks.perf(views.annotated(LUA, trace), said)


def test_code(views, width):
    s, image = views.s, views.s.image(width, "lua")
    for service in ("split", "lua"):
        with s.test(f"{service}'s lines and instructions add up"):
            adds_up(views, views.trace(service, width))
    trace = views.trace("lua", width)
    s.holds(code_is_objdumps, views, trace, image, "luaD_precall")
    s.holds(inlined_is_addr2lines, views, trace, image)
    s.holds(perf_agrees, views, trace)


# ---- text


def loop_is_shown(views):
    """leaf.asm's loop, with the source beside it, in both forms."""
    steady = views.trace("steady")
    said = views.annotate("leaf_a", steady).out
    check.has(said, r"^leaf_a: (3[7-9]|4[0-3])\.[0-9]+% of all, ")
    check.has(said, "^ +leaf.asm:27 .*xor +edx")
    check.has(said, r"^ +[0-9.]+% +[0-9a-f]+ +jne 0x")
    check.lacks(said, "leaf_b")
    said = views.annotate("-l", "leaf_a", steady).out
    check.has(said, "^ +[0-9.]+% +29 .*jnz")
    check.lacks(said, "jne 0x")


def callees_are_named(views):
    said = views.annotate("--all", LUA, views.trace("lua")).out
    check.has(said, "^ *inlined luaV_shiftl$")
    check.has(said, f"^ *back in {LUA}")
    check.has(said, "call 0x.* <luaD_precall>")


def limit_is_kept(views):
    words = ("annotate", "--percent-limit", 25, views.base)
    said = views.parasite(*words).out
    check.has(said, "^leaf_", count=2)
    check.has(said, r"^# (29|3[0-9])\.[0-9]+% in [0-9]+ more functions")


def colour_is_asked_for(views):
    red = r"\x1b\[31m"
    check.has(views.annotate("--color", "always", views.base).out, red)
    command = f"'{views.parasite.path}' annotate -q '{views.base}'"
    on_terminal = ("script", "-qec", command, os.devnull)
    env = {"PAGER": "cat"}
    check.lacks(run(*on_terminal, env={**env, "NO_COLOR": 1}).out, "\x1b")
    check.has(run(*on_terminal, env=env).out, red)


def moved(views, source):
    """The image with another path, which does not exist, for (source)."""
    image, path = views.s.work / "moved.elf", os.fsencode(source)
    data = views.s.image("x86_64", "split").read_bytes()
    check.true(path in data, "absolute paths of sources")
    image.write_bytes(data.replace(path, b"/" + b"_" * (len(path) - 1)))
    return image


def sources_move(views):
    """From a folder where no source is at its path."""
    elsewhere, source = views.s.work / "elsewhere", os.path.abspath(".")
    elsewhere.mkdir(exist_ok=True)
    words = ("annotate", "-k", moved(views, source), "leaf_a", views.base)
    done = views.parasite(*words, cwd=elsewhere)
    check.has(done.err, "could not be read", count=1)
    check.has(done.out, "% .* jne 0x")
    check.lacks(done.out, "leaf.asm.*xor")
    done = views.parasite(*words, "--source", source, cwd=elsewhere)
    check.has(done.out, "leaf.asm.*xor")


def foreign_files_stay_out(views):
    """What an image names is copied into a page only from below the current
    folder or the one that was given, wherever links lead; nothing hidden."""
    folder = views.s.work / "checkout"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ".hidden").mkdir(parents=True)
    secret = views.s.work / "secret.asm"
    whole = Path("services/split/x86_64/leaf.asm").read_text()
    secret.write_text(whole.replace("xor ", "secret "))
    (folder / "leaf.asm").symlink_to(secret)
    shutil.copy(secret, folder / ".hidden" / "leaf.asm")
    page = folder / "page.html"
    words = ("annotate", "leaf_a", views.base)
    # absolute paths of the checkout, from elsewhere; a link; a hidden folder
    for source in ((), ("--source", ".")):
        done = views.parasite(*words, *source, cwd=folder)
        check.has(done.err, "left out, such as .*: only files below", count=1)
        check.lacks(done.out, "secret|leaf.asm.*xor")
        views.parasite(*words, *source, "-o", page, cwd=folder)
    # asked for by its own name it is allowed
    done = views.parasite(*words, "--source", ".hidden", cwd=folder)
    check.has(done.out, "leaf.asm:.* secret")
    # from the checkout's own folder nothing is left out
    check.lacks(views.parasite(*words).err, "left out")
    large = folder / "large" / "leaf.asm"
    large.parent.mkdir()
    with open(large, "wb") as out:
        out.truncate((16 << 20) + 1)
    done = views.parasite(*words, "--source", large.parent, cwd=folder)
    check.lacks(done.out, "leaf.asm.*xor")


def files_below_either_folder_are_copied(views):
    """With --source, those below the current folder still are; from an empty
    folder only those of --source."""
    empty = views.s.work / "empty"
    for folder in (empty, empty / "source"):
        folder.mkdir(exist_ok=True)
    page = views.s.work / "either.json"
    words = ("annotate", "leaf_a", views.base, "-o", page)
    views.parasite(*words, "--source", empty)
    check.has(page.read_text(), "; turns left")
    done = views.parasite(*words, "--source", empty / "source", cwd=empty)
    check.has(done.err, "left out, such as .*: only files below", count=1)
    check.lacks(page.read_text(), "; turns left")


def att_is_att(views):
    said = views.annotate("-M", "att", "leaf_a", views.base).out
    check.has(said, "xorl.*, %edx")


# ---- names that would do harm where they are taken for something else


def names_in_json(views):
    image = views.renamed(HOSTILE)
    checks.names(views.annotated("-k", image, views.base), HOSTILE)
    diff = views.differences(
        *("-k", image, "--base-image", image, views.base, views.changed)
    )
    checks.names(diff, HOSTILE)


def bytes_do_no_harm(views):
    """An escape sequence does not reach the terminal, and bytes that are no
    UTF-8 do not make JSON invalid."""
    image = views.renamed([os.fsdecode(b"a\033[31mb\377c")])
    said = views.annotate("-k", image, views.base).data
    check.true(b"\033" not in said)
    check.true(
        any(line.startswith(rb"a\x1b[31mb\xff") for line in said.split(b"\n")),
        said,
    )
    said = views.annotate("--json", "-k", image, views.base).data
    checks.names(json.loads(said.decode()), ["a\033[31mb\ufffdc"])


def test_annotate(views):
    s = views.s
    s.holds(adds_up, views, views.base, "--time", "0.5,1.5", "--weight", "time")
    for function in (
        loop_is_shown,
        callees_are_named,
        limit_is_kept,
        colour_is_asked_for,
        sources_move,
        foreign_files_stay_out,
        files_below_either_folder_are_copied,
        att_is_att,
        names_in_json,
        bytes_do_no_harm,
    ):
        s.holds(function, views)
    other = s.image("i386", "split")
    for what, status, words in (
        ("a function without samples is bad data", 1, ("kernel_main",)),
        ("and so is one that is not there", 1, ("no_such_function",)),
        ("a wrong limit is bad usage", 2, ("--percent-limit", 101)),
        ("another image is bad data", 1, ("-k", other)),
    ):
        s.holds(what, views.annotate, *words, views.base, status=status)


# ---- the page


def no_address(views):
    page = views.s.work / "split.html"
    views.annotate("-o", page, views.base)
    text = page.read_text(encoding="utf-8")
    check.lacks(text, r"https?://|url\(|@import")
    check.has(text, "Content-Security-Policy.*default-src 'none'")


def test_page(views):
    s, modules = views.s, None
    s.holds(no_address, views)
    with s.test("playwright-core comes from npm"):
        modules = s.browser_modules()
    views.annotate("-o", s.work / "page.html", views.trace("lua"))
    image = views.renamed(HOSTILE)
    views.annotate(
        *("-k", image, "-o", s.work / "names.html", views.trace("split"))
    )
    (s.work / "names").write_text("\n".join(HOSTILE), encoding="utf-8")
    done = run(
        *("node", "tests/views/page.js", s.work, "-", s.parasite),
        status=None,
        env={"NODE_PATH": str(modules)},
        by_lines=True,
    )
    s.tap_of("", done.text)
