#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""field.py BUILD: a fleet of real guests. `parasite serve` takes the streams of
eight services, irc, http, lua and lottery at both widths, into a store, irc and
http under load; then come short guests of lua: four at i386, one of which runs
another script than the others; five at x86_64, and six of a slower build, whose
string library was compiled without optimisation.

The store is an embedded one, or with STORE=cluster three servers, of which one
is killed meanwhile and started again at the end, and ZooKeeper for a minute
(cluster.py). Their tables are replicated, and have an earlier version at first.
At the end ZooKeeper hangs, and is killed once more, while rows are sent
(hang.py).

Each guest is stopped once it has done its work, and says what it has counted:
the store must have the same figures. Then `parasite fleet` lists the guests,
its diff must name what is slower, its odd the guest with the other script.

Files stay in OUT (BUILD/fleet). Ends with 1 if anything is not as it must be,
or after SECONDS (220, of a cluster 900; 0 = no limit); 2 where the store's
engine is missing.
TICKS (4000) are those of each guest with icount, SESSIONS (300) those of each
irc, REQUESTS (300) those of each http. Whatever happens, all processes end."""

import collections
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from cluster import Cluster, Outage, missing  # noqa: E402
from hang import Hang  # noqa: E402
from harness import qemu  # noqa: E402
from harness.command import ANSWER_S  # noqa: E402

SERVICES = "irc", "http", "lua", "lottery"
WIDTHS = "x86_64", "i386"
AT_ONCE = 8  # guests
PORTS = 8  # of irc: QEMU's network listens with a backlog of one
SLOWER = "matchbracketclass"  # of those that were compiled without -O2
PARSER, OTHER = "parser", "sort"  # scripts
COUNTED = "ticks", "idle", "unresolved", "dropped", "missed"


def number(name, default):
    return int(os.environ.get(name) or default)


TICKS = number("TICKS", 4000)
SESSIONS = number("SESSIONS", 300)
REQUESTS = number("REQUESTS", 300)
STORE = os.environ.get("STORE") or "embedded"
SECONDS = number("SECONDS", 900 if STORE == "cluster" else 220)


class Wrong(Exception):
    """What must not be; its text is for the user."""


class Processes:
    """All that were started. They end with this program, even if it is
    killed."""

    def __init__(self):
        self.all, self.lock, self.over = [], threading.Lock(), False
        # they end with the thread that has started them
        self.starter = ThreadPoolExecutor(1)

    def start(self, words, log, end="KILL"):
        with self.lock:
            if self.over:
                raise Wrong("it is over")
            with open(log, "ab") as file:
                process = self.starter.submit(
                    subprocess.Popen,
                    ["setpriv", "--pdeathsig", end, *map(str, words)],
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=file,
                ).result()
            self.all.append(process)
        return process

    def end(self):
        with self.lock:
            self.over = True
        for process in self.all:
            if process.poll() is None:
                process.kill()
        for process in self.all:
            process.wait()


class Fleet:
    """The store, serve, and the commands on them."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        # relative: the name of a socket has 107 bytes at most
        self.sockets = Path(os.path.relpath(folder / "run"))
        self.sockets.mkdir()
        self.processes = Processes()
        self.command = build / "host" / "parasite"
        self.store, self.spool = folder / "store", folder / "spool"
        self.serve = self.cluster = None
        self.began = int(time.time())
        if STORE == "cluster":
            self.cluster = Cluster(self)
            self.store = self.cluster.address
            os.environ.update(self.cluster.env)

    def ended(self, *words):
        return subprocess.run(
            [self.command, *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    def parasite(self, *words):
        done = self.ended(*words)
        if done.returncode != 0:
            raise Wrong(f"parasite {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def refused(self, *words):
        """The error of a command that must fail."""
        done = self.ended(*words)
        if done.returncode == 0:
            raise Wrong(f"parasite {words[0]} has answered: {done.stdout}")
        return done.stderr.strip()

    def until(self, ready, what, *processes):
        """Waits for (ready), or for one of (processes) to end."""
        while not (got := ready()):
            if any(process.poll() is not None for process in processes):
                if got := ready():
                    break
                raise Wrong(f"{what}: it has ended; see {self.folder}")
            if self.processes.over:
                raise Wrong("it is over")
            time.sleep(0.1)
        return got

    def start_store(self):
        if self.cluster:
            self.cluster.start()
            self.cluster.make_older()
            return
        log = self.folder / "store.log"
        process = self.processes.start(
            (self.command, "store", "--path", self.store), log, end="TERM"
        )
        self.until(
            lambda: "is open" in log.read_text(encoding="utf-8"),
            f"the store, {log}",
            process,
        )

    def start_serve(self, names, images=()):
        """With a socket for each of (names), of guests."""
        words = [self.command, "serve", "--host", "here"]
        words += ("--store", self.store, "--spool", self.spool)
        for name, service in names.items():
            words += ("--listen", f"{service}=unix:{self.sockets / name}")
        for image in images:  # for the names of functions
            words += ("-k", image)
        self.serve = self.processes.start(words, self.folder / "serve.log")
        for name in names:
            self.until(
                (self.sockets / name).is_socket, "parasite serve", self.serve
            )

    def stop_serve(self):
        """It closes the minute, and hands all that it has to the store. What
        the store has not taken in time is in the spool: another run goes on
        with that."""
        while True:
            self.serve.terminate()
            self.serve.wait()
            if not self.batches():
                return
            self.start_serve({"rest": "rest"})
            self.until(lambda: not self.batches(), "parasite serve", self.serve)

    def batches(self):
        return [path for path in self.spool.iterdir() if path.suffix == ".gz"]

    def guests(self, name):
        """What serve says of the guests at the socket (name)."""
        with socket.socket(socket.AF_UNIX) as file:
            file.connect(str(self.sockets / name))
            file.sendall(b"parasite list\n")
            said = b"".join(iter(lambda: file.recv(65536), b""))
        where = f"unix:{self.sockets / name}#"
        return [g for g in json.loads(said) if g["target"].startswith(where)]

    def rows(self, sql):
        return json.loads(self.parasite("sql", "--json", self.store, sql))


class Guest:
    """One under QEMU. run() is called in a thread of its own."""

    def __init__(self, fleet, index, service, width, name, **what):
        self.fleet, self.service, self.width = fleet, service, width
        self.name, self.index = name, index
        image = what.get("image", service)
        self.image = fleet.build / width / image / f"{service}.elf"
        self.script, self.hz = what.get("script"), what.get("hz", 997)
        pid = os.getpid()  # two of these programs have two addresses
        self.address = f"127.{pid >> 14 & 127 | 128}.{pid >> 6 & 255}"
        self.address += f".{(pid & 63) * 2 + index % 2 + 1}"
        self.console = fleet.folder / f"{name}.console"
        self.process = self.number = self.build = self.counts = None

    def line(self):
        append = "prof.out=virtio"
        words = ["-device", "virtio-serial-pci"]
        words += "-chardev", f"socket,id=out,path={self.socket()}"
        words += "-device", "virtconsole,chardev=out"
        network = self.service in {"irc", "http"}
        if network:
            append += " prof.hz=100 prof.every=0 net.per_address=2048"
            doors = "".join(
                f",hostfwd=tcp:{door}-:{80 if self.service == 'http' else 6667}"
                for door in self.doors()
            )
            words += "-netdev", f"user,id=load{doors}"
            words += "-device", "virtio-net-pci,netdev=load"
        else:
            # it counts its ticks aloud; each boots at another time
            append += f" prof.hz={self.hz} prof.every=500 prof.reports=0"
            rtc = f"2026-01-01T00:{self.index:02}:00"
            words += qemu.icount(4, rtc)
        if self.service == "irc":
            append += " irc.every=0"
        if self.service == "lottery":
            append += " tickets=1000000"
        script = f"services/lua/scripts/{self.script}.lua"
        return qemu.command(
            self.width,
            self.image,
            append,
            modules=[script] if self.script else (),
            serial=f"file:{self.console}",
            network=network,
            args=words,
        )

    def socket(self):
        return self.fleet.sockets / self.name

    def doors(self):
        first = 6667 if self.service == "irc" else 8080
        return [f"{self.address}:{first + i}" for i in range(PORTS)]

    def text(self):
        if not self.console.exists():
            return ""
        return self.console.read_text(encoding="utf-8", errors="replace")

    def until(self, ready, what):
        return self.fleet.until(ready, f"{self.name}: {what}", self.process)

    def run(self):
        self.process = self.fleet.processes.start(
            self.line(), self.fleet.folder / f"{self.name}.qemu"
        )
        (found,) = self.until(
            lambda: self.fleet.guests(self.name), "its stream"
        )
        self.number, self.build = int(found["guest"], 16), found["build"]
        {"irc": self.load_irc, "http": self.load_http}.get(
            self.service, self.wait_ticks
        )()
        self.count(f"{self.fleet.sockets / self.name}?guest={found['boot']}")
        self.process.kill()
        self.process.wait()

    def wait_ticks(self):
        def ticks():
            found = re.findall(r"^--- profile: ([\d,]+) sam", self.text(), re.M)
            return found and as_number(found[-1]) >= TICKS

        self.until(ticks, "its ticks")

    def load_irc(self):
        def load(*words):
            process = self.fleet.processes.start(
                [
                    *(self.fleet.build / "host" / "loadgen", "-q"),
                    *(*words, *self.doors()),
                ],
                self.fleet.folder / f"{self.name}.load",
            )
            return process.wait() == 0

        first = iter(range(10**6))
        self.until(
            lambda: load("-n", 1, "--timeout", 10, "--first", next(first)),
            "its network",
        )
        if not load(
            *("-n", SESSIONS, "-c", PORTS, "--timeout", 600),
            *("--first", next(first)),
        ):
            raise Wrong(f"{self.name}: sessions failed; see its .load")

    def load_http(self):
        def get(door):
            try:
                with urllib.request.urlopen(f"http://{door}/", timeout=60) as f:
                    return b"unikernel" in f.read()
            except OSError:
                return False

        doors = self.doors()
        self.until(lambda: get(doors[0]), "its network")
        for i in range(REQUESTS):
            self.until(lambda: get(doors[i % PORTS]), "a request")

    def count(self, target):
        """It stops its clock, and prints what it has counted."""
        for command in ("stop", "report", "hello"):  # the last packet, too
            self.fleet.parasite(
                *("tell", "-w", ANSWER_S, f"unix:{target}", command)
            )
        text = self.until(
            lambda: re.search(r"ok stop\n(.*)ok report", self.text(), re.S),
            "its report",
        )[1]
        names = {
            "ticks": r"all ticks since",
            "idle": r"idle$",
            "unresolved": r"unresolved addr",
            "dropped": r"dropped",
            "missed": r"missed",
        }
        self.counts = {}
        for name, what in names.items():
            found = re.search(rf"([\d,]+) +{what}", text, re.M)
            self.counts[name] = as_number(found[1]) if found else 0


def as_number(text):
    return int(text.replace(",", ""))


# ---- what the store must have


def check_store(fleet, guests):
    """The sums of each guest are its own counters; prints both."""
    sums = ", ".join(f"sum({n}) AS {n}_" for n in (*COUNTED, "attributed"))
    rows = fleet.rows(f"SELECT guest, {sums} FROM accounts GROUP BY guest")
    account = {int(row["guest"]): row for row in rows}
    rows = fleet.rows(
        "SELECT guest, sum(samples) AS n FROM samples GROUP BY guest"
    )
    samples = collections.Counter(
        {int(row["guest"]): int(row["n"]) for row in rows}
    )
    print("what guests have counted, and what the store has of them")
    print(f"{'guest':20} {'ticks':>7} {'stored':>7} {'idle':>7} {'stored':>7}")
    wrong = len(account) != len(guests)
    for guest in guests:
        row = account.get(guest.number, {})
        has = {n: int(row.get(f"{n}_", 0)) for n in (*COUNTED, "attributed")}
        # a tick that never came is none of the guest's
        has["ticks"] -= has["missed"]
        fine = (
            all(has[n] == guest.counts[n] for n in ("ticks", "idle", "dropped"))
            and has["attributed"] == samples[guest.number]
            and has["ticks"] > 0
        )
        wrong |= not fine
        print(
            f"{guest.name:20} {guest.counts['ticks']:7} {has['ticks']:7} "
            f"{guest.counts['idle']:7} {has['idle']:7}"
            + ("" if fine else f"  WRONG: {guest.counts}, stored {has}")
        )
    if wrong:
        raise Wrong("the store's sums are not the guests' counters")
    print(f"all {len(guests)} are equal\n")


def recompiled(fleet):
    """The functions of Lua's string library, as either build has them: where
    one is inlined, its share is in another one."""
    found = set()
    for library in "liblua.a", "lua-slow/liblua.a":
        done = subprocess.run(
            ["nm", fleet.build / "x86_64" / library],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        part = done.stdout.split("\nlstrlib.o:\n")[1].split("\n\n")[0]
        found |= set(re.findall(r" [tT] (\S+)", part))
    return found


def check_fleet(fleet, guests):
    """Prints what the commands find, which must be what is there."""
    by_name = {guest.name: guest for guest in guests}
    odd = by_name[f"lua-i386-{OTHER}"]
    builds = [by_name[name].build for name in ("lua-x86_64", "lua-slow-1")]
    # all of it, however long it took
    store = ("--store", fleet.store, "--since", f"@{fleet.began // 60 * 60}")
    diff = ("fleet", "diff", "lua", *store)
    diff += ("--build", builds[0], "--build", builds[1])
    odds = ("fleet", "odd", "lua", *store, "--build", odd.build[:12])
    for words in (("fleet", *store), (*diff, "--rows", 8), odds):
        shown = [str(w)[:12] if w in builds else str(w) for w in words]
        print("$ parasite " + " ".join(shown))
        print(fleet.parasite(*words), flush=True)
    found = json.loads(fleet.parasite(*diff, "--json"))
    first, rows = found["functions"][0], found["functions"]
    (slower,) = (row for row in rows if row["function"] == SLOWER)
    if (
        first["function"] not in recompiled(fleet)
        or not first["significant"]
        or abs(first["t"]) < 5
        or slower["new"]["mean"] < slower["base"]["mean"] * 1.2
    ):
        raise Wrong(f"fleet diff should have named {SLOWER}")
    found = json.loads(fleet.parasite(*odds, "--json"))
    named = [int(g["guest"], 16) for g in found["guests"] if g["odd"]]
    if named != [odd.number]:
        raise Wrong(f"fleet odd should have named {odd.name} alone")
    print(
        f"diff has found {SLOWER} (t {slower['t']:.1f}) and what was not "
        f"inlined,\nodd the guest with another script, {odd.name}"
    )


def all_guests(fleet):
    guests = []

    def add(*words, **what):
        guests.append(Guest(fleet, len(guests), *words, **what))

    for service in SERVICES:
        for width in WIDTHS:
            script = PARSER if service == "lua" else None
            add(service, width, f"{service}-{width}", script=script)
    # rates differ, so that no two guests are sampled at the same moments
    for i in range(1, 4):
        name = f"lua-i386-{i}"
        add("lua", "i386", name, script=PARSER, hz=997 + 10 * i)
    add("lua", "i386", f"lua-i386-{OTHER}", script=OTHER)
    for i in range(1, 6):
        name = f"lua-x86_64-{i}"
        add("lua", "x86_64", name, script=PARSER, hz=997 + 10 * i)
    for i in range(1, 7):
        what = {"image": "lua-slow", "script": PARSER, "hz": 991 + 10 * i}
        add("lua", "x86_64", f"lua-slow-{i}", **what)
    return guests


def run(fleet):
    guests = all_guests(fleet)
    began = time.monotonic()
    print(f"{len(guests)} guests, at most {AT_ONCE} at a time", flush=True)
    fleet.start_store()
    fleet.start_serve(
        {guest.name: guest.service for guest in guests},
        sorted({guest.image for guest in guests}),
    )
    outage = Outage(fleet.cluster) if fleet.cluster else None
    with ThreadPoolExecutor(AT_ONCE) as pool, ThreadPoolExecutor(1) as other:
        runs = [pool.submit(guest.run) for guest in guests]
        runs += [other.submit(outage.begin)] if outage else []
        try:
            for one in runs:
                one.result()
        except BaseException:
            fleet.processes.end()  # then all threads end
            raise
    if outage:
        outage.end()
        if why := fleet.cluster.not_newer():
            raise Wrong(why)
        print("tables of version 1 were brought up to date", flush=True)
    fleet.stop_serve()
    print(f"they took {time.monotonic() - began:.0f} s\n", flush=True)
    check_store(fleet, guests)
    check_fleet(fleet, guests)
    if fleet.cluster and (why := Hang(fleet.cluster).run()):
        raise Wrong(why)


def interrupted(signal_number, _):
    if signal_number == signal.SIGALRM:
        raise Wrong(f"not done after {SECONDS} s (SECONDS=0: no limit)")
    sys.exit(128 + signal_number)


def lacking(build):
    """Why there can be no store, or None."""
    if STORE == "cluster":
        why = missing(build)
        return why and f"no servers for a cluster: {why}"
    if STORE != "embedded":
        return f"STORE is embedded or cluster, not '{STORE}'"
    library = os.environ.get("PARASITE_CHDB") or build / "chdb" / "libchdb.so"
    if Path(library).exists():
        return None
    return (
        f"no {library}, the engine of an embedded store; "
        "'make store' fetches it"
    )


def main(build):
    build = Path(build)
    folder = Path(os.environ.get("OUT") or build / "fleet")
    why = lacking(build)
    if why:
        print(f"fleet: {why}", file=sys.stderr)
        return 2
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM"):
        signal.signal(getattr(signal, name), interrupted)
    signal.alarm(SECONDS)
    fleet = Fleet(build, folder)
    try:
        run(fleet)
        return 0
    except Wrong as wrong:
        print(f"fleet: {wrong}", file=sys.stderr)
        return 1
    finally:
        fleet.processes.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
