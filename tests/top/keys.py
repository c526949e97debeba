# SPDX-License-Identifier: Apache-2.0
"""Every key of top's, every width of the screen, and a guest that restarts."""

import re

from harness import progress
from harness.suite import check, soon

#: a row's name, before what is drawn after it
ROW = re.compile(r"^ *[0-9.]*% .*  ([^ ].*)$")


def rows(screen):
    """Names of the list, from the top."""
    lines = (re.sub("[^ -~].*", "", line) for line in screen.look())
    found = (ROW.match(line.rstrip()) for line in lines)
    return [match[1] for match in found if match]


def first_row(screen):
    return rows(screen)[:1]


def totals_fall(screen):
    totals = [
        float(line.split()[1].rstrip("%"))
        for line in screen.look()
        if line.split() and line.split()[0].endswith("%")
    ]
    falls = (low <= high + 0.005 for high, low in zip(totals, totals[1:]))
    return bool(totals) and all(falls)


def sorts(top):
    """A stack's outermost functions share their total; the frame of _start is
    one."""
    screen = top.screen
    screen.keys("t")
    screen.shows(r"\*Total")
    screen.shows("% .* (service_main|arch_start) ")
    soon(lambda: totals_fall(screen), "falling totals")
    screen.keys("n")
    screen.shows(r"\*Function")
    soon(lambda: first_row(screen) == ["[idle]"], "[idle] first")
    screen.keys("s")
    screen.shows(r"\*Self")
    soon(
        lambda: first_row(screen) in (["[idle]"], ["leaf_a"]),
        "[idle] or leaf_a first",
    )


def filters(top):
    screen = top.screen
    screen.keys("/")
    screen.shows("^ /_")
    screen.keys("leaf_[ab")
    screen.keys("Enter")
    screen.shows("Unmatched|brackets")
    screen.keys("]$", "Enter")
    screen.shows(r"only /leaf_\[ab\]\$/")
    screen.lacks(r"leaf_c|idle\]")
    soon(lambda: sorted(rows(screen)) == ["leaf_a", "leaf_b"], "both rows")
    screen.keys("/", "x", "Escape")
    screen.shows(r"only /leaf_\[ab\]\$/")
    no_filter(screen)
    screen.shows("leaf_c")


def no_filter(screen):
    screen.keys("/")
    screen.clear()
    screen.keys("Enter")
    screen.lacks("only /")


def hides_idle(top):
    screen = top.screen
    screen.keys("i")
    screen.lacks(r"\[idle\]")
    screen.shows("leaf_a")
    screen.keys("i")
    screen.shows(r"\[idle\]")


def zooms(top):
    screen = top.screen
    screen.keys("/")
    screen.keys("leaf_a$")
    screen.keys("Enter")
    screen.shows("only")
    screen.keys("Enter")
    screen.shows("^ leaf_a .* self .* total")
    screen.shows("^ *[0-9.]*% .*<- level_7")
    screen.keys("Enter")
    screen.shows("^ level_7 ")
    screen.shows("<- level_6")
    screen.shows("-> leaf_b")
    screen.keys("Escape")
    screen.shows("^ leaf_a ")
    screen.keys("BSpace")
    screen.shows("only")
    no_filter(screen)


def selected(screen):
    """The name in the row that is shown in reverse."""
    for line in screen.painted()[4:]:
        if re.search(r"\x1b\[[0-9;]*7m", line):
            return re.sub(r"\x1b\[[0-9;]*m", "", line)[28:]
    return ""


def selects(screen, number):
    """The row of that number is the selected one, soon."""

    def attempt():
        wanted = rows(screen)[number]
        check.contains(f"{selected(screen)} ", f" {wanted} ")
        return True

    soon(attempt, f"row {number} selected")


def moves(top):
    """Paused: a function that turns up above the selected one would move
    it."""
    screen = top.screen
    screen.keys("n", "p")
    screen.shows(r"\*Function")
    screen.shows("PAUSED")
    screen.keys("Down", "Down", "j", "Up")
    selects(screen, 2)
    screen.keys("End")
    selects(screen, -1)
    screen.keys("Home")
    selects(screen, 0)
    screen.keys("NPage")
    screen.lacks(r"\[idle\]")
    screen.keys("PPage")
    screen.shows(r"\[idle\]")
    screen.keys("s", "p")
    screen.lacks("PAUSED")


def pauses(top):
    """While the guest works for a second, and top wakes up."""
    screen = top.screen
    screen.keys("p")
    screen.shows("PAUSED")
    before, turns = screen.look()[0], screen.turns()
    used = progress.cpu_seconds(top.guest.pid)
    top.guest.soon(
        lambda: progress.cpu_seconds(top.guest.pid) > used + 1
        and screen.turns() > turns + 4,
        "a second of the guest's work",
    )
    check.same(screen.look()[0], before)
    screen.keys("Space")
    screen.lacks("PAUSED")
    soon(lambda: screen.look()[0] != before, "another first line")


def seconds(screen):
    """That the rows are about, as the first line has it."""
    found = re.search(r" ([0-9.]+) s *$", screen.look()[0])
    return float(found[1]) if found else 0.0


def resets(top):
    screen = top.screen
    screen.keys("w")
    screen.shows("since the reset")
    before = soon(
        lambda: seconds(screen) >= 2 and seconds(screen), "two seconds"
    )
    screen.keys("r")

    def is_reset():
        """Seen before as much time is over again; else once more, which then
        leaves more time to see it."""
        nonlocal before
        now = seconds(screen)
        if now > 2 * before:
            before = now
            screen.keys("r")
        return 0 < now <= before - 1

    soon(is_reset, "the reset")
    screen.shows("leaf_a")
    screen.keys("w")
    screen.shows("recent$")


def helps(top):
    screen = top.screen
    screen.keys("?")
    screen.shows("this help")
    screen.lacks("leaf_a")
    screen.keys("s")
    screen.lacks("this help")
    screen.shows("leaf_a")


def resizes(top):
    """No line of a narrow screen is longer than it, and each has the name."""
    screen = top.screen
    screen.shows("Samples/s")
    screen.resize(40, 12)
    screen.lacks("Samples/s")
    screen.shows("Total")
    screen.shows("leaf_a$")
    check.same([line for line in screen.lines if len(line) > 40], [])
    check.same(len(screen.lines), 12)
    screen.resize(24, 8)
    screen.lacks("Total")
    screen.shows("leaf_a")
    turns = screen.turns()
    screen.resize(1, 1)
    soon(lambda: screen.turns() > turns + 2, "its redrawing")
    screen.resize(100, 20)
    screen.shows("Samples/s")
    screen.shows("leaf_a")


def restarts(top):
    screen = top.screen
    top.guest.interrupt()
    screen.shows("disconnected, waiting")
    top.boot()
    screen.shows("boot 2")
    screen.lacks("disconnected, waiting")
    screen.shows(r"^ *[0-9.]*%.* leaf_a( |$)")


def quits(top):
    top.screen.keys("q")
    check.same(top.screen.code(), 0)


def ends_with_interrupt(top):
    top.opens(60)
    top.screen.keys("C-c")
    check.same(top.screen.code(), 0)


def is_coloured(screen):
    return any(
        re.search(r"\x1b\[[0-9;]*31m", line) for line in screen.painted()
    )


def has_colours(top):
    top.opens(100, "COLORTERM=")
    soon(lambda: is_coloured(top.screen), "a red share")
    top.screen.keys("q")


def has_none(top):
    top.opens(100, "NO_COLOR=1")
    check.true(not is_coloured(top.screen))
    top.screen.keys("q")


TESTS = (
    ("top shows what the guest does", lambda top: top.opens(100)),
    ("s, t and n sort", sorts),
    ("/ filters, and says what is wrong with a pattern", filters),
    ("i hides the idle CPU", hides_idle),
    ("Enter shows callers and callees, Esc goes back", zooms),
    ("arrows, pages, Home and End move", moves),
    ("p pauses", pauses),
    ("r resets, w shows what came since then", resets),
    ("? helps", helps),
    ("the screen may change its size", resizes),
    ("a guest that restarts is followed", restarts),
    ("q quits with 0", quits),
    ("so does Ctrl-C", ends_with_interrupt),
    ("shares have colours", has_colours),
    ("NO_COLOR takes them away", has_none),
)
