# SPDX-License-Identifier: Apache-2.0
"""`parasite top` on guests that run, in a terminal and as plain text."""

import re

import keys
from guests import Top, soon_has
from harness.suite import WIDTHS, background, by_turns, check, given_time, soon

# keys are the terminal's, whatever the guest is
KEYS = by_turns("x86_64")
PARTS = (
    *(f"{width}-keys" for width in KEYS),
    *(f"{width}-tables" for width in WIDTHS),
)
ERROR = """\
local t = os.time() while os.time() - t < 4 do end
error("on purpose")
"""


def shares_are_true(top, seconds):
    """The leaves' shares among one another are known. In the first table the
    stacks may be unknown yet: it is the last one that counts."""
    text = top.tables(seconds, "-n", 3, "-F", 500, "--filter", "^leaf_").out
    check.has(text, "Symbol", count=3)
    check.has(text, "^# split.elf, .*, 500.076 Hz, 64 callers, [0-9.]+ s$")
    check.has(text, "^# .* samples/s, .* % idle, .* lost, .* missed; recent")
    table = re.split(r"^# .* Hz.*$", text, flags=re.M)[-1]
    rows = re.findall(r"^ *([0-9.]+)% .* (leaf_\w)$", table, re.M)
    share = {name: float(own) for own, name in rows}
    total = sum(share.values())
    check.true(total > 0, text)
    for name, wanted in zip("abcd", (0.4, 0.3, 0.2, 0.1)):
        part = share.get(f"leaf_{name}", 0) / total
        check.between(part, wanted - 0.05, wanted + 0.05, text)


def rows_are_summed_up(top, seconds):
    words = ("-n", 4, "--rows", 2, "-s", "total", "--weight", "time")
    text = top.tables(seconds, *words).out
    check.has(text, "in [0-9]* more functions")
    rows = [line for line in text.splitlines() if re.search(SHARES, line)]
    check.true(len(rows) >= 4, text)


SHARES = "%  *[0-9.]*%"


def other_image_is_refused(top):
    words = ("top", "--stdio", "--delay", 1)
    words += ("-k", top.s.image(top.width, "lua"), top.target)
    said = top.parasite(*words, status=1).text
    check.contains(said, "is not the image")
    top.parasite(*words, "--force", "-n", 3)


def ram_is_followed(top):
    """Shared RAM: the same file with another guest in it, then another
    file."""
    ram = top.s.work / "ram"

    def boot():
        top.boot_with("prof.out=shm", ram=ram)

    ram.unlink(missing_ok=True)
    boot()
    try:
        with background(
            *(top.parasite.path, "top", "--delay", 1, "-n", 100000),
            *("--rows", 5, "-k", top.image, f"shm:{ram}"),
            log=top.s.work / "ram.tables",
        ) as watcher:
            soon_has(watcher, " leaf_a$")
            top.guest.interrupt()
            boot()
            soon_has(watcher, "^# boot 2")
            top.guest.interrupt()
            ram.unlink()
            boot()
            soon_has(watcher, "^# boot 3")
            before = watcher.text().count("# boot 3")
            soon_has(Since(watcher, before), " leaf_a$")
    finally:
        top.guest.kill()
        ram.unlink(missing_ok=True)


class Since:
    """What (watcher) has printed after that many tables of its third boot."""

    def __init__(self, watcher, tables):
        self.watcher, self.tables = watcher, tables
        self.soon = watcher.soon

    def text(self):
        return "".join(self.watcher.text().split("# boot 3")[self.tables :])


def guest_is_started(top):
    """A guest that is started, and its exit code."""
    script = top.s.work / "error.lua"
    script.write_text(ERROR)
    done = top.parasite(
        *("top", "--stdio", "--delay", 0.5, "-t", "virtio", "-F", 1000),
        *top.parasite.machine(
            top.width, "lua", "prof.every=0", modules=[script]
        ),
        status=1,
    )
    check.contains(done.out, "luaV_execute")
    check.contains(done.err, "on purpose")
    check.has(done.err, "^parasite top: the guest has ended$")


def nothing_is_started(top):
    """QEMU fails, before the first table is due: it says why, and nothing else
    is said."""
    missing = top.s.work / "missing.elf"
    words = (*top.parasite.machine(top.width, "split", ""),)
    words = [missing if str(w) == str(top.image) else w for w in words]
    for loop in ((), ("--loop",)):
        said = top.parasite(
            *("top", "--stdio", "--delay", 1000, *loop, "-t", "virtio"),
            *words,
            status=1,
        )
        check.same(said.out, "")
        check.contains(said.err, str(missing))
        check.same(len(said.err.splitlines()), 1, said.err)


def loop_warms_up(top):
    """Without prof.loop= there is no list of sites; the guest ends by
    itself."""
    script = top.s.work / "short.lua"
    script.write_text("local t = os.time() while os.time() - t < 4 do end\n")
    done = top.parasite(
        *("top", "--loop", "--stdio", "--delay", 0.5, "-t", "virtio"),
        *top.parasite.machine(
            top.width, "lua", "prof.every=0", modules=[script]
        ),
    )
    lines = done.out.splitlines()
    check.has(done.out, "^# warming up: nothing of loop occupancy yet; the")
    check.same(lines[-1], "# the guest has ended")
    check.lacks(done.out, "busy|Site")


def is_refused(top):
    """Not yet, where the guest has no time to answer."""
    said = top.tables(2, "--send", "fly", status=1).err
    return "not a command" in said


def test_tables(top):
    s = top.s
    with top.running():
        with s.test("without a terminal there are tables, which are true"):
            given_time(lambda n: shares_are_true(top, n), (2, 8, 32, 128))
        with s.test("what a table leaves out is summed up"):
            given_time(lambda n: rows_are_summed_up(top, n), (2, 8, 32, 128))
        with s.test("a command that the guest refuses ends it with 1"):
            soon(lambda: is_refused(top), "the guest's refusal")
        s.holds(other_image_is_refused, top)
    s.holds(ram_is_followed, top)
    s.holds(guest_is_started, top)
    s.holds(nothing_is_started, top)
    s.holds(loop_warms_up, top)


def suite(s):
    width, face = s.part.split("-")
    top = Top(s, width)
    if face == "tables":
        test_tables(top)
        return
    with top.running():
        for what, function in keys.TESTS:
            s.holds(what, function, top)
