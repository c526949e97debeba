# SPDX-License-Identifier: Apache-2.0
"""parasite fleet on both engines of a store: planted defects are found, with
the same figures, and sums are those of the rows. Its pages, in Chromium. What
it sends to other systems, read with their own schemas."""

import collections
import json
import math
import os
import shutil
import signal
import sys

from harness.suite import Skip, background, check, run

sys.path.insert(0, "tests/store")
# pylint: disable=wrong-import-position
import made_fleet as made
from dashboards import test_dashboards
from engines import Embedded, Old
from pushed import test_push
from replayed import (
    GUEST_DEFECTS,
    Replay,
    figures_of,
    images_of,
    make_replay,
    recorded,
)

PARTS = ("engines", "pages", "push", "field", "replayed")
TIMES = ("--since", f"@{made.BEGIN}", "--until", f"@{made.BEGIN + 600}")
STILL = (
    *("--since", f"@{made.STILL_BEGIN}"),
    *("--until", f"@{made.STILL_BEGIN + 60}"),
)
OFTEN = (
    *("--since", f"@{made.OFTEN_BEGIN}"),
    *("--until", f"@{made.OFTEN_BEGIN + 60 * made.OFTEN_BUILDS}"),
)
FILLED = set()
CLOSE = 1e-6  # sums of an engine depend on their order


class Fleet:
    """A filled store, and the command on it."""

    def __init__(self, s, engine):
        self.s, self.engine = s, engine
        self.env = {**engine.env, "PARASITE_STORE": str(engine.address)}

    def fill(self):
        rows = self.s.work / "rows"
        if rows not in FILLED:  # with those of this run
            rows.mkdir(exist_ok=True)
            for name, data in made.tables().items():
                (rows / name).write_bytes(data)
            FILLED.add(rows)
        run(
            *(self.s.build / "host" / "fill_store", self.engine.address),
            *(self.engine.spool, rows),
            env=self.env,
        )

    def __call__(self, *words, times=TIMES, status=0, env=None):
        return run(
            *(self.s.parasite, "fleet", *words, *times),
            status=status,
            env={**self.env, **(env or {})},
        )

    def json(self, *words):
        return json.loads(self(*words, "--json").out)


def new_engine(s, kind, name):
    """Without what an earlier run has left."""
    shutil.rmtree(s.work / name, ignore_errors=True)
    return kind(s, name)


def number(index):
    return f"{made.guest_number('web', index):016x}"


def target(index):
    return f"host{index % 4} shm:/dev/shm/web-{index}"


# ---- what is planted


def the_list_adds_up(fleet):
    """Of each guest, and of all: ticks are in one of the accounts' rows."""
    found = fleet.json()
    guests = found["guests"]
    check.same(len(guests), made.GUESTS + made.MAIL_GUESTS)
    parts = "attributed idle masked unresolved dropped missed".split()
    for guest in guests:
        account = guest["account"]
        check.same(account["ticks"], made.TICKS * made.BUCKETS)
        check.same(sum(account[part] for part in parts), account["ticks"])
        check.same(guest["buckets"], made.BUCKETS)
    for part in parts:
        check.same(
            found["account"][part], sum(g["account"][part] for g in guests)
        )


def samples_are_the_attributed_ticks(fleet):
    account = collections.Counter()
    for guest in fleet.json()["guests"]:
        account[guest["service"]] += guest["account"]["attributed"]
    for service, attributed in account.items():
        top = fleet.json("top", service)
        check.same(top["samples"], attributed)
        check.same(
            sum(row["self_samples"] for row in top["functions"]), attributed
        )
        check.same(top["ns"], attributed * made.WEIGHT * 100)
        rows = {row["function"]: row for row in top["functions"]}
        outside = rows["[stack unknown]"]["total_samples"]
        check.same(rows["main"]["total_samples"], attributed - outside)


def the_list_has_the_losses(fleet):
    found = fleet.json("list", "web")
    lost = {g["guest"]: g["lost"] for g in found["guests"] if g["lost"] > 0}
    check.same(list(lost), [number(made.LOSES)])
    check.near(lost[number(made.LOSES)], 0.1, 1e-9)
    loss, missing = found["not_stored"]
    check.same(loss["guest"], number(made.LOST_BATCH))
    check.same(
        (loss["rows"], loss["amount"]), (made.LOST_ROWS, made.LOST_TICKS)
    )
    text = fleet("list", "web", "--rows", 3).out
    check.contains(text, f"lost: 10.00 % of the ticks of web {target(17)}\n")
    check.has(text, "^not stored: 120 rows of samples .*: spool full$")
    # packets are no rows: their ticks are in the accounts
    packets = sum(count for _, count in made.MISSING)
    check.same(missing["guest"], number(made.OTHER_MIX))
    check.same((missing["what"], missing["rows"]), ("packets", packets))
    check.same(
        {
            g["guest"]: (g["not_stored_rows"], g["not_stored_amount"])
            for g in found["guests"]
            if g["not_stored_rows"] > 0
        },
        {number(made.LOST_BATCH): (made.LOST_ROWS, made.LOST_TICKS)},
    )
    said = f"^lost on the way: {packets} packets .* of guest {number(42)}, "
    check.has(text, said)
    text = fleet("list", "web", "--rows", 1).out
    check.has(text, "^not stored: 120 rows ", count=1)
    check.lacks(text, "lost on the way")
    check.contains(text, "and 1 more such loss\n")


TWICE = made.BEGIN - 86400  # a day without other guests


def put_claim(engine, guest, boot, host, minutes):
    """A guest with an account of each of (minutes), in which another collector
    may have the same boot."""
    key = (
        f"toDateTime(at) AS bucket, 'twice' AS service, "
        f"toUInt64({guest}) AS guest"
    )
    times = ", ".join(str(TWICE + 60 * minute) for minute in minutes)
    engine.change(
        "INSERT INTO accounts (day, bucket, service, guest, ticks, idle) "
        f"SELECT toDate(at) AS day, {key}, toUInt64(6000) AS ticks, "
        f"ticks AS idle FROM (SELECT arrayJoin([{times}]) AS at)"
    )
    engine.change(
        "INSERT INTO guests (bucket, service, guest, boot, host, seen) "
        f"SELECT {key}, toFixedString('{boot}', 16) AS boot, '{host}' AS host, "
        f"toDateTime(at) AS seen FROM (SELECT {TWICE} AS at)"
    )


def guests_that_two_have_are_named(fleet):
    for guest, boot, host, minutes in (
        *((1, "both", "host1", (0, 1, 2)), (2, "both", "host2", (1, 2, 3))),
        # one that moved, and two of unknown boots
        *((3, "moved", "host1", (0, 1)), (4, "moved", "host2", (2, 3))),
        *((5, "", "host1", (0,)), (6, "", "host2", (0,))),
    ):
        put_claim(fleet.engine, guest, boot, host, minutes)
    times = ("--since", f"@{TWICE}", "--until", f"@{TWICE + 600}")
    found = json.loads(fleet("list", "--json", times=times).out)
    check.same(len(found["guests"]), 6)
    check.same(
        found["claimed_twice"],
        [
            {
                "boot": b"both".ljust(16, b"\0").hex(),
                "guests": 2,
                "minutes": 2,
                "hosts": "host1, host2",
            }
        ],
    )
    check.has(
        fleet("list", times=times).out,
        "^warning: boot 626f7468.* is 2 guests in 2 minutes, by host1, host2: ",
        count=1,
    )
    check.same(fleet.json()["claimed_twice"], [])


def guests_have_their_rate(fleet):
    """The one that was said last, not the highest."""
    found = fleet.json("list", "web")
    check.same({g["rate_hz"] for g in found["guests"]}, {float(made.HZ)})
    check.same(len({g["boot"] for g in found["guests"]}), made.GUESTS)


def diff_names_the_slower_function(fleet):
    found = fleet.json("diff", "web")
    check.same(found["base"]["build"], made.OLD.hex())
    check.same(found["new"]["build"], made.NEW.hex())
    first = found["functions"][0]
    check.same(first["function"], made.SLOW)
    check.true(first["t"] > 5 and first["significant"])
    whole = sum(made.LEAVES.values())
    share = made.LEAVES[made.SLOW] / whole
    slower = made.SLOWER * share / (1 + (made.SLOWER - 1) * share)
    check.near(first["base"]["mean"], share, 0.002)
    check.near(first["new"]["mean"], slower, 0.002)
    for row in found["functions"][1:]:
        check.true(row["t"] < 5, row["function"])
    for measure in found["measures"]:
        check.true(not measure["significant"], measure["measure"])
    swapped = fleet.json("diff", "web", "-b", "last", "-b", "first")
    check.near(-swapped["functions"][0]["t"], first["t"], 1e-6)
    total = fleet.json("diff", "web", "-s", "total")
    main = next(r for r in total["functions"] if r["function"] == "main")
    check.true(not main["significant"])


def as_printed(change):
    """A row of diff's table, of one of its JSON's."""
    base, new = change["base"]["mean"], change["new"]["mean"]
    if base > 0:
        by = f"{100 * (new - base) / base:+.1f} %"
    else:
        by = "new" if new > 0 else "-"
    mark = "*" if change["significant"] else " "
    return (
        f"{100 * base:7.2f} %  {100 * new:7.2f} %  {by:>10}  "
        f"{change['t']:7.1f}  {mark}  "
    )


def diff_prints_its_json(fleet):
    """Each row, by what functions take themselves and with what they call."""
    for order in ("self", "total"):
        words = ("diff", "web", "-s", order)
        found = fleet.json(*words)
        text = fleet(*words, "--rows", 0).out
        check.same(found["by"], order)
        rows = text.splitlines()
        start = next(i for i, r in enumerate(rows) if r.startswith("share of"))
        check.same(
            rows[start + 1 : -1],
            [as_printed(r) + r["function"] for r in found["functions"]],
        )
        changed = sum(row["significant"] for row in found["functions"])
        check.contains(rows[-1], f"* {changed} of {len(found['functions'])} ")
        shares = sum(row["new"]["mean"] for row in found["functions"])
        if order == "self":
            check.near(shares, 1, 1e-6)
        else:  # four functions of a stack, but for the samples without one
            check.near(shares, 4, 0.01)


def guests_that_do_nothing_are_alike(fleet):
    """Nothing changes where there was nothing, and no function is named."""
    text = fleet("diff", made.STILL, times=STILL).out
    for name in ("busy", "lost"):
        check.has(
            text, rf"^   0\.00 %     0\.00 %           -      0\.0     {name}$"
        )
    check.lacks(text, "event loop")
    check.contains(text, "* 0 of 0 functions changed")
    found = json.loads(fleet("odd", made.STILL, "--json", times=STILL).out)
    check.same(found["odd"], 0)


def odd_names_the_guests(fleet):
    found = fleet.json("odd", "web")
    odd = [g["guest"] for g in found["guests"] if g["odd"]]
    check.same(sorted(odd), sorted(map(number, (made.LOSES, made.OTHER_MIX))))
    guests = {g["guest"]: g for g in found["guests"]}
    lossy, other = guests[number(made.LOSES)], guests[number(made.OTHER_MIX)]
    check.same((lossy["by"], other["by"]), ("lost", "mix"))
    check.same(other["functions"][0]["function"], "handle_login")
    check.true(other["functions"][0]["share"] > 0.7)
    check.near(other["delay"]["value"], 8 * 400000, 1)
    check.true(other["delay"]["deviations"] > 5)
    strict = fleet.json("odd", "web", "--above", 80)
    check.same(strict["odd"], 1)
    alike = fleet.json("odd", "mail")
    check.same(alike["odd"], 0)


def stacks_are_listed(fleet):
    """Those of the flame graph, of each build, are the functions' samples."""
    found = fleet.json("flame", "web")
    top = fleet.json("top", "web")
    stacks = found["stacks"]
    check.same({s["build"] for s in stacks}, {made.OLD.hex(), made.NEW.hex()})
    for name in ("samples", "ns"):
        check.same(sum(stack[name] for stack in stacks), top[name])
    for row in top["functions"]:
        own = [s for s in stacks if s["functions"][-1] == row["function"]]
        check.same(sum(s["samples"] for s in own), row["self_samples"])
    both = fleet.json("flame", "web", "-b", "first", "-b", "last")
    check.same(both["stacks"], stacks)


def waits_are_listed(fleet):
    """By place and reason, the longest first; of one build half of them."""
    found = fleet.json("waits", "web")
    minutes = made.GUESTS * made.BUCKETS
    expected = [
        (f"{file}:{line}", why, times * minutes, time * minutes)
        for (file, line), why, times, time in made.WAITS
    ]
    expected.sort(key=lambda row: -row[3])
    names = ("place", "why", "waits", "ns")
    check.same(
        [tuple(row[name] for name in names) for row in found["waits"]],
        expected,
    )
    old = fleet.json("waits", "web", "-b", made.OLD.hex()[:6])
    part = made.OLD_GUESTS / made.GUESTS
    check.same(old["waits"][0]["waits"], expected[0][2] * part)
    check.same(fleet.json("waits", "mail")["waits"], [])
    check.has(fleet("waits", "web").out, r"  sleep, accept\.c:40$")


def a_build_is_chosen(fleet):
    """By its first digits; top and the list have its guests only."""
    found = fleet.json("list", "web", "-b", made.NEW.hex()[:6].upper())
    check.same(len(found["guests"]), made.GUESTS - made.OLD_GUESTS)
    for guest in found["guests"]:
        check.same(guest["build"], made.NEW.hex())
    both = fleet.json("top", "web")["samples"]
    one = [fleet.json("top", "web", "-b", b) for b in ("first", "last")]
    check.same(sum(each["samples"] for each in one), both)


def a_time_is_chosen(fleet):
    times = ("--since", "2026-11-02 00:02", "--until", "2026-11-02 00:05")
    found = json.loads(fleet("--json", times=times).out)
    for guest in found["guests"]:
        check.same(guest["account"]["ticks"], 3 * made.TICKS)
    check.same(found["until"] - found["since"], 180)


def mistakes_are_explained(fleet):
    for words, status, text in (
        (("diff",), 2, "diff needs a service"),
        (("nonsense",), 2, "is none of list, top, flame, diff, odd, push"),
        (("top", "web", "-b", "ffff"), 1, "no build begins with 'ffff'"),
        (("top", "none", "-b", "last"), 1, "none: no guests at that time"),
        (("diff", "mail"), 1, "one build at that time; diff needs two"),
        (("diff", "web", "-b", "last"), 2, "diff needs two builds, or none"),
        (("diff", "web", "-b", "last", "-b", "last"), 2, "with itself"),
        (("top", "web", "-b", "first", "-b", "last"), 2, "only flame and diff"),
        (("list", "--every", "5"), 2, "--every is for list with -o FILE"),
        (("push", "web"), 2, "push needs --to TARGET"),
        (("flame", "none", "-o", "-"), 1, "no samples at that time"),
    ):
        done = fleet(*words, status=status)
        check.contains(done.err, text)
        check.same(len(done.err.splitlines()), 1)
    for times in (("--since", "soon"), ("--since", "1h", "--until", "2h")):
        fleet(times=times, status=2)
    done = fleet(status=2, env={"PARASITE_STORE": ""})
    check.contains(done.err, "Give --store, or set PARASITE_STORE")


def names_are_no_sql(fleet):
    """A service is quoted, whatever it is called."""
    for name in ("a' OR '1' = '1", "\\", "';--", "@where@"):
        check.same(fleet.json("top", name)["samples"], 0)


def what_is_printed(fleet):
    """Lines of the tables, as the documents show them."""
    text = fleet("diff", "web", "--rows", 1).out
    check.has(text, r"^ +27\.\d+ % +32\.\d+ % +\+\d+\.\d % +\d+\.\d  \*  json_")
    check.has(text, "^and 8 more functions$")
    check.contains(text, "base: build 1c48e1abc0b6, 50 guests; new: build b8")
    text = fleet("odd", "web").out
    check.contains(text, f"{target(42)} (build 1c48e1abc0b6)\n")
    check.has(text, r"deviations: 10.00 % of its ticks lost, median 0.00 %$")
    check.has(text, r"^ +7\d\.\d+ % in handle_login, mean of all 40\.\d+ %$")
    check.contains(text, "2 of 100 guests deviate by 5 or more\n")
    text = fleet("top", "web", "--rows", 2).out
    check.has(text, r"^ 30\.\d+ %    30\.\d+ %    1,0\d\d,\d+    json_parse$")
    check.contains(text, "and 13 more functions\n")


def the_page_outlives_a_restart(fleet):
    """A server that is gone for a while is a line, and the page stays."""
    engine, page = fleet.engine, fleet.s.work / "again.html"
    page.unlink(missing_ok=True)
    with background(
        *(fleet.s.parasite, "fleet", "list", "mail", *TIMES),
        *("-o", page, "--every", 1),
        log=fleet.s.work / "again.log",
        env=fleet.env,
    ) as process:
        process.soon(page.exists, "the page")
        engine.kill()
        said = f"parasite fleet: {engine.address}: "
        process.soon(lambda: said in process.text(), "the line")
        before = page.stat().st_mtime_ns
        engine.restart()
        process.soon(
            lambda: page.stat().st_mtime_ns > before, "a page after it"
        )
        process.signal(signal.SIGINT)
        process.end()
    check.true(not page.with_name("again.html.new").exists())


DEFECTS = (
    the_list_adds_up,
    samples_are_the_attributed_ticks,
    the_list_has_the_losses,
    guests_that_two_have_are_named,
    guests_have_their_rate,
    diff_names_the_slower_function,
    diff_prints_its_json,
    guests_that_do_nothing_are_alike,
    odd_names_the_guests,
    stacks_are_listed,
    waits_are_listed,
    a_build_is_chosen,
    a_time_is_chosen,
    mistakes_are_explained,
    names_are_no_sql,
    what_is_printed,
)

MORE = {Old: (the_page_outlives_a_restart,)}

# ---- both engines


def differences(one, other, path=""):
    """What is not the same, numbers but for the order of their sums."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in one.keys() | other.keys():
            yield from differences(
                one.get(name), other.get(name), f"{path}.{name}"
            )
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{path}: {len(one)} and {len(other)}"
        for i, pair in enumerate(zip(one, other)):
            yield from differences(*pair, f"{path}[{i}]")
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE):
            yield f"{path}: {one} and {other}"
    elif one != other:
        yield f"{path}: {one} and {other}"


def figures(fleet):
    return {
        "list": fleet.json(),
        "top": fleet.json("top", "web", "-s", "total"),
        "diff": fleet.json("diff", "web"),
        "diff total": fleet.json("diff", "web", "-s", "total"),
        "odd": fleet.json("odd", "web"),
        "waits": fleet.json("waits", "web"),
        "mail": fleet.json("odd", "mail"),
    }


def same_figures(found):
    if len(found) < 2:
        raise Skip("there is one engine only")
    check.same(list(differences(*found.values()))[:9], [])


def test_engines(s):
    found = {}
    for kind in (Embedded, Old):
        try:
            engine = new_engine(s, kind, kind.__name__)
        except Skip as skip:
            for holds in DEFECTS + MORE.get(kind, ()):
                s.skip(f"{kind.name}: {holds.__name__}", str(skip))
            s.skip(f"{kind.name}: is filled", str(skip))
            test_dashboards(s, None, kind.name)
            continue
        with engine:
            fleet = Fleet(s, engine)
            s.holds(f"{kind.name}: is filled", fleet.fill)
            for holds in DEFECTS + MORE.get(kind, ()):
                s.holds(
                    f"{kind.name}: {holds.__name__.replace('_', ' ')}",
                    *(holds, fleet),
                )
            test_dashboards(s, engine, kind.name)
            with s.test(f"{kind.name}: all figures"):
                found[kind.name] = figures(fleet)
    s.holds("both engines have the same figures", same_figures, found)


def test_replayed(s):
    """Streams of fifty guests, with what is planted in them."""
    found = {}
    made = ([*images_of(s)], make_replay(s), recorded(s))
    for kind in (Embedded, Old):
        try:
            engine = new_engine(s, kind, kind.__name__)
        except Skip as skip:
            for holds in GUEST_DEFECTS:
                s.skip(f"{kind.name}: {holds.__name__}", str(skip))
            s.skip(f"{kind.name}: is filled", str(skip))
            continue
        with engine:
            replay = Replay(s, engine, *made)
            s.holds(f"{kind.name}: is filled", replay.fill)
            for holds in GUEST_DEFECTS:
                s.holds(
                    f"{kind.name}: {holds.__name__.replace('_', ' ')}",
                    *(holds, replay),
                )
            with s.test(f"{kind.name}: all figures"):
                found[kind.name] = figures_of(replay)
    s.holds("both engines have the same figures", same_figures, found)


def test_pages(s, engine):
    modules = s.browser_modules()
    with engine:
        fleet = Fleet(s, engine)
        fleet.fill()
        fleet("-o", s.work / "guests.html")
        fleet("list", "mail", "-o", s.work / "mail.html")
        fleet("list", made.OFTEN, "-o", s.work / "often.html", times=OFTEN)
        fleet("flame", "web", "-o", s.work / "flame.html")
        fleet(
            *("flame", "web", "-b", "first", "-b", "last"),
            *("-o", s.work / "change.html"),
        )
        for name, words in (
            ("list", ()),
            ("top", ("top", "web")),
            ("odd", ("odd", "web")),
        ):
            (s.work / f"{name}.json").write_text(fleet(*words, "--json").out)
    done = run(
        *("node", "tests/fleet/pages.js", s.work, "-", s.parasite),
        status=None,
        env={"NODE_PATH": str(modules)},
        cpu_limit=1500,
    )
    s.tap_of("", done.text)


def test_pushes(s, engine):
    with engine:
        fleet = Fleet(s, engine)
        fleet.fill()
        test_push(s, fleet)


def test_field(s):
    """Real guests, from QEMU to the answers of the commands: `make fleet`, with
    less to do."""
    library = s.build / "chdb" / "libchdb.so"
    out = s.work / "field"
    words = (sys.executable, "tests/fleet/field.py", s.build)
    few = {"SECONDS": "0", "TICKS": "2000", "SESSIONS": "50", "REQUESTS": "50"}
    few |= {"MAKEFLAGS": "", "MAKELEVEL": ""}  # not those of the tests' make
    with s.test("a missing library is one line"):
        none = str(out / "none.so")
        done = run(*words, status=2, env={"PARASITE_CHDB": none})
        check.same(len(done.text.splitlines()), 1, done.text)
        check.contains(done.text, none)
    name = "real guests: the store has their counters, commands what differs"
    if not library.exists():
        s.skip(name, "no libchdb.so; 'make store' fetches it")
        return
    with s.test(name):
        # its sockets' names are short from the checkout
        done = run(
            *("make", "fleet", f"BUILD={os.path.relpath(s.build)}"),
            env={**few, "OUT": str(out), "PARASITE_CHDB": str(library)},
        )
        check.has(done.text, r"^all 23 are equal$")
        check.has(done.text, r"^diff has found matchbracketclass ")


def suite(s):
    if s.part == "field":
        test_field(s)
        return
    if s.part == "engines":
        test_engines(s)
        return
    if s.part == "replayed":
        test_replayed(s)
        return
    run_tests, count = {"pages": (test_pages, 19), "push": (test_pushes, 7)}[
        s.part
    ]
    try:
        engine = new_engine(s, Embedded, s.part)
    except Skip as skip:
        for one in range(count):
            s.skip(f"{s.part} {one + 1}", str(skip))
    else:
        run_tests(s, engine)
