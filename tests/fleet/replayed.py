# SPDX-License-Identifier: Apache-2.0
"""Fifty replayed guests, from a guest's recorded stream through `parasite
serve` into each engine of a store, with three planted defects: in one of two
builds a function takes 30 % longer; guest 42 has another mix of stacks; guest
17 loses a tenth of its packets. bench/many_guests.c replays them."""

import json
import re
import shutil
import signal
import socket
import tempfile
import time
from pathlib import Path

from harness.command import Command, build_id, packets_of
from harness.suite import background, check, run

GUESTS, BUILDS = 50, 2
SLOW, SLOWER = "luaV_execute", 1.3
OTHER_MIX, LOSES = 42, 17
PACKETS = 41  # 4,300 samples: of each ten one is lost, and never the last
SERVICE = "lua"
PARTS = ("attributed", "idle", "masked", "unresolved")
# what depends on when the guests are replayed
TIMES = {"since", "until", "first", "last", "buckets", "target"}


def recorded(s):
    """The first packets of a Lua guest, in a file."""
    stream, path = s.work / "whole.stream", s.work / "lua.stream"
    stream.unlink(missing_ok=True)
    with s.guest(
        *("x86_64", "lua", "recorded"),
        append="prof.out=virtio prof.hz=100 prof.depth=20 prof.every=0 "
        "prof.reports=0",
        modules=["services/lua/scripts/parser.lua"],
        icount=6,
        args=(
            *("-device", "virtio-serial-pci"),
            *("-chardev", f"file,id=out,path={stream}"),
            *("-device", "virtconsole,chardev=out"),
        ),
    ) as guest:

        def enough():
            data = stream.read_bytes() if stream.exists() else b""
            packets = whole_packets(data)
            return packets[:PACKETS] if len(packets) >= PACKETS else None

        packets = guest.soon(enough, f"{PACKETS} packets")
        guest.kill()
    path.write_bytes(b"".join(packets))
    return path


def whole_packets(data):
    """Without what has come of one more."""
    at = 0
    while at + 52 <= len(data):
        size = int.from_bytes(data[at + 48 : at + 52], "little") // 8
        if size == 0 or at + size > len(data):
            break
        at += size
    return packets_of(data[:at])


def images_of(s):
    """The recorded guest's, with the build-ids of the replayed ones."""
    image = s.image("x86_64", "lua")
    data, old = Path(image).read_bytes(), bytes.fromhex(build_id(image))
    for number in range(1, BUILDS + 1):
        new = number.to_bytes(4, "little").ljust(len(old), b"\0")
        path = s.work / f"build-{number}.elf"
        path.write_bytes(data.replace(old, new))
        yield path


def slow_function(s):
    """As many_guests takes it."""
    symbols = run("nm", "-S", s.image("x86_64", "lua")).out
    found = re.search(rf"^(\w+) (\w+) \w {SLOW}$", symbols, re.M)
    return f"0x{found[1]},0x{found[2]},{SLOWER}"


def recorded_share(s, stream):
    """The slow function's, before it is slow."""
    parasite, trace = Command(s), s.work / "lua.trace"
    parasite.record(trace, "-q", f"file:{stream}")
    words = ("-q", "--json", "-k", s.image("x86_64", "lua"), "-i", trace)
    rows = json.loads(parasite("report", *words).out)["rows"]
    (percent,) = (r["self_percent"] for r in rows if r["symbol"] == SLOW)
    return percent / 100


def make_replay(s):
    program = s.work / "many_guests"
    run(
        *("gcc", "-std=gnu11", "-O1", "-Ihost", "-Iprofiler/include"),
        *("-o", program, "bench/many_guests.c"),
        *(s.build / "host" / "libparasite.a",),
    )
    return (
        *(program, "-b", BUILDS, "-f", slow_function(s), "-l", LOSES),
        *("-o", OTHER_MIX),
        *("-s", 1e9, "-t", 1, "-u", 1),
    )


class Replay:
    """What has been replayed into an engine, and the command on it."""

    def __init__(self, s, engine, images, replay, stream):
        self.s, self.engine = s, engine
        self.images, self.replay, self.stream = images, replay, stream
        self.sent, self.times = None, ()

    def serve(self, folder):
        words = ("--listen", f"{SERVICE}=unix:{folder}/g", "--host", "here")
        words += ("--store", self.engine.address, "--spool", self.engine.spool)
        for image in self.images:
            words += ("-k", image)
        return background(
            *(self.s.parasite, "serve", *words),
            log=self.s.work / f"serve-{self.engine.name}.log",
            env=self.engine.env,
        )

    def fill(self):
        folder = Path(tempfile.mkdtemp(prefix="serve."))
        begin = int(time.time()) // 60 * 60
        try:
            with self.serve(folder) as serve:
                serve.soon((folder / "g").is_socket, "it listens")
                done = run(
                    *(*self.replay, folder / "g", GUESTS, 1e9, self.stream)
                )
                self.sent = json.loads(done.out)
                serve.soon(
                    lambda: self.taken(folder) == self.sent["packets"],
                    "all packets",
                )
                serve.signal(signal.SIGINT)
                serve.end()
            while self.waiting():  # it has ended before the store took them
                with self.serve(folder) as serve:
                    serve.soon(lambda: not self.waiting(), "an empty spool")
                    serve.signal(signal.SIGINT)
                    serve.end()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        end = int(time.time()) // 60 * 60 + 60
        self.times = ("--since", f"@{begin}", "--until", f"@{end}")

    def taken(self, folder):
        """How many packets serve has read."""
        with socket.socket(socket.AF_UNIX) as file:
            file.connect(f"{folder}/g")
            file.sendall(b"parasite list\n")
            said = b"".join(iter(lambda: file.recv(65536), b""))
        return sum(guest["packets"] for guest in json.loads(said))

    def waiting(self):
        return list(self.engine.spool.glob("*.gz"))

    def __call__(self, *words):
        return run(
            *(self.s.parasite, "fleet", *words, *self.times),
            *("--store", self.engine.address),
            env=self.engine.env,
        ).out

    def json(self, *words):
        return json.loads(self(*words, "--json"))

    def sql(self, text):
        return self.engine.ask(text)


# ---- what is planted


def index_of(boot):
    """The guest's number in the replay, which is in its UUID."""
    return int.from_bytes(bytes.fromhex(boot)[:4], "little") - 1


def by_index(replay, found):
    """The guests of an answer, by their numbers in the replay."""
    boots = {g["guest"]: g["boot"] for g in replay.json()["guests"]}
    return {index_of(boots[g["guest"]]): g for g in found["guests"]}


def the_sums_are_what_was_sent(replay):
    """Of each guest, and its accounts are its samples."""
    guests = by_index(replay, replay.json())
    check.same(sorted(guests), list(range(GUESTS)))
    sent, left_out = replay.sent["samples"], replay.sent["left_out"]
    each = (sent + left_out) // GUESTS
    check.same(each * GUESTS, sent + left_out)
    for index, guest in guests.items():
        account = guest["account"]
        taken = sum(account[part] for part in PARTS)
        loses = index == LOSES
        check.same(taken, each - left_out if loses else each)
        if not loses:
            check.same((account["dropped"], account["missed"]), (0, 0))
    rows = replay.sql(
        "SELECT guest, sum(samples) AS n FROM samples GROUP BY guest"
    )
    check.same(
        {f"{int(row['guest']):016x}": int(row["n"]) for row in rows},
        {g["guest"]: g["account"]["attributed"] for g in guests.values()},
    )


def the_list_has_the_losses(replay):
    """The samples of packets that never came, as far as can be known."""
    guests = by_index(replay, replay.json())
    account = guests[LOSES]["account"]
    left_out = replay.sent["left_out"]
    check.near(account["dropped"], left_out, 0.05)
    check.between(guests[LOSES]["lost"], 0.09, 0.11)
    text = replay()
    lost = f"{100 * guests[LOSES]['lost']:.2f}"
    check.has(text, f"^lost: {lost} % of the ticks of lua here unix:")
    check.has(text, "^lost on the way: 4 packets ")
    for index, guest in guests.items():
        check.same(guest["lost"] > 0, index == LOSES)


def diff_names_the_slower_function(replay):
    found = replay.json("diff", SERVICE)
    check.same(
        (found["base"]["guests"], found["new"]["guests"]),
        (GUESTS // 2, GUESTS // 2),
    )
    first = found["functions"][0]
    check.same(first["function"], SLOW)
    check.true(first["t"] > 5 and first["significant"], first)
    base, new = first["base"]["mean"], first["new"]["mean"]
    # one in 25 of the base has another mix, in which it may have any share
    true = recorded_share(replay.s, replay.stream)
    slower = SLOWER * true / (1 + (SLOWER - 1) * true)
    replay.s.measured(
        f"{SLOW}: {base:.4f} for {true:.4f}, {new:.4f} for {slower:.4f}, "
        f"t {first['t']:.1f}"
    )
    check.between(base, true * 24 / 25 - 0.002, (true * 24 + 1) / 25 + 0.002)
    check.near(new, slower, 0.02)
    # all others become less, but for chance
    for row in found["functions"][1:]:
        check.true(row["t"] < 5, row)


def odd_names_the_guests(replay):
    found = replay.json("odd", SERVICE)
    guests = by_index(replay, found)
    odd = {index: g["by"] for index, g in guests.items() if g["odd"]}
    check.same(odd, {OTHER_MIX: "mix", LOSES: "lost"})


GUEST_DEFECTS = (
    the_sums_are_what_was_sent,
    the_list_has_the_losses,
    diff_names_the_slower_function,
    odd_names_the_guests,
)


def without_times(found):
    """An answer without what depends on when the guests were replayed."""
    if isinstance(found, dict):
        return {
            name: without_times(value)
            for name, value in found.items()
            if name not in TIMES
        }
    return [*map(without_times, found)] if isinstance(found, list) else found


def figures_of(replay):
    words = (
        ("list",),
        ("top", SERVICE, "-s", "total"),
        ("diff", SERVICE),
        ("odd", SERVICE),
        ("flame", SERVICE),
    )
    return {one[0]: without_times(replay.json(*one)) for one in words}
