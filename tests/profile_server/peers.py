# SPDX-License-Identifier: Apache-2.0
"""One unikernel profiles another, on a network that no host is on."""

import contextlib
import re

from harness.suite import check, given_time
from port import APPEND, TOKEN
from services import ENDLESS

PEER, WATCHER = "10.0.3.2", "10.0.3.3"
TIMES = (3, 12, 48)  # seconds
OTHER = {"i386": "x86_64", "x86_64": "i386"}


def on_wire(s, address, end):
    """Arguments of QEMU for the machine at that end of the wire."""
    wire = f"stream,id=n,addr.type=unix,addr.path={s.work / 'wire'}"
    mac = f"52:54:00:00:00:0{address[-1]}"
    return [
        *("-netdev", f"{wire},server={end}"),
        *("-device", f"virtio-net-pci,netdev=n,mac={mac}"),
    ]


@contextlib.contextmanager
def peer(s, width, service, modules=()):
    (s.work / "wire").unlink(missing_ok=True)
    with s.guest(
        *(width, service, "peer"),
        append=f"{APPEND} net.ip={PEER}/24",
        modules=modules,
        args=on_wire(s, PEER, "on"),
    ) as guest:
        guest.wait_line("^prof: port 9999, behind a token$")
        yield guest


def watch(s, width, append, status=0):
    """What that image prints of the peer, until it ends."""
    with s.guest(
        *(width, "watch", "watch"),
        append=f"net.ip={WATCHER}/24 watch.peer={PEER}:9999 prof.start=off "
        f"prof.every=0 {append}",
        args=on_wire(s, WATCHER, "off"),
    ) as guest:
        check.same(guest.end(), status)
        return guest.text()


def tables(text):
    """[(samples, {function: (self, total)})]"""
    found = []
    for line in text.splitlines():
        head = re.match(rf"--- {PEER}:9999: (\d+) samples, \d+ of them", line)
        row = re.match(r" *([\d.]+) % +([\d.]+) %  (.+)$", line)
        if head:
            found.append((int(head[1]), {}))
        elif row:
            found[-1][1][row[3]] = (float(row[1]), float(row[2]))
    return found


def is_seen(s, width, seconds):
    """What a script does, twice."""
    append = f"watch.token={TOKEN} watch.times=2 watch.seconds={seconds}"
    text = watch(s, width, append)
    found = tables(text)
    check.same(len(found), 2, text)
    for samples, rows in found:
        check.true(samples > 50, text)
        check.same(len(rows), 10, text)
        own, total = rows["luaV_execute"]
        check.true(own > 5 and total > 90, text)
        shares = [own for own, _ in rows.values()]
        check.same(shares, sorted(shares, reverse=True))
        check.true(sum(shares) <= 100.1, text)


def is_idle(s, width, seconds):
    append = f"watch.token={TOKEN} watch.times=1 watch.seconds={seconds}"
    text = watch(s, width, append)
    check.has(text, r"^--- .*: \d+ samples, [1-9]\d* of them idle")


def test_peers(s, width):
    script = s.work / "endless.lua"
    script.write_text(ENDLESS)
    with peer(s, width, "lua", [script]):
        with s.test("a unikernel profiles another"):
            given_time(lambda seconds: is_seen(s, width, seconds), TIMES)
    with peer(s, OTHER[width], "lua", [script]):
        with s.test("and one of the other width"):
            given_time(lambda seconds: is_seen(s, width, seconds), TIMES)
    with peer(s, width, "irc"):
        with s.test("one that waits is idle"):
            given_time(lambda seconds: is_idle(s, width, seconds))
    with peer(s, width, "irc"):
        with s.test("without the token it sees nothing"):
            text = watch(s, width, "watch.token=x", status=1)
            check.has(text, "^watch: 10.0.3.2:9999: HTTP/1.1 403 Forbidden$")
            check.lacks(text, "^---")
    with s.test("whom is to be said"):
        with s.guest(
            width, "watch", "whom", append="watch.peer=10.0.3.2"
        ) as guest:
            check.same(guest.end(), 1)
            check.has(guest.text(), '^options: "watch.peer=10.0.3.2" ignored')
            check.has(guest.text(), "^watch: whom?")
