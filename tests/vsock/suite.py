# SPDX-License-Identifier: Apache-2.0
"""The virtio socket device and prof.out=vsock, booted: the device is
harness/vsock.py, which QEMU has by vhost-user, with Firecracker's sockets at
its other end. Commands by it, as by the other transports: suite/live."""

import os
import random
import socket
import threading

from harness import progress
from harness.command import Command
from harness.suite import WIDTHS, background, check, ends
from harness.vsock import (
    CREDIT_UPDATE,
    HOST,
    RST,
    RW,
    SHUTDOWN,
    Packet,
    VsockDevice,
)

PARTS = (
    *(f"{width}-{what}" for width in WIDTHS for what in ("driver", "stream")),
    "host",
)
ECHO, HOST_PORT = 52, 1024
SOCKETS = 8
LONG_S = 3600  # of what ends by itself before that
STREAM = "test/vsock_stream"
ROOM = 8192  # two packets, so that a reader is soon slow
QUIET = "prof.start=off prof.every=0"


def boot(s, width, device, image, append, args=None, **more):
    return s.guest(
        *(width, f"test/{image}" if "_" in image else image),
        append=append,
        args=args or device.args(),
        **more,
    )


# ---- the driver


def echo(s, width, device, **more):
    return boot(s, width, device, "vsock_sockets", f"{QUIET} do=echo", **more)


def says_end(device, guest):
    """Its counts, by their names."""
    client, answer = device.connect(ECHO)
    with client:
        check.contains(answer, b"OK ")
        client.sendall(b"end\n")
        check.same(guest.end(), 0)
    line = check.has(guest.text(), "^(accepted .*)$")[1]
    return {word: int(n) for word, n in map(str.split, line.split(", "))}


def all_of(client, count):
    data = b""
    while len(data) < count:
        piece = client.recv(count - len(data))
        check.true(piece, f"{len(data)} of {count} bytes")
        data += piece
    return data


def comes_back(client, data):
    sender = threading.Thread(target=client.sendall, args=(data,))
    sender.start()
    check.true(all_of(client, len(data)) == data, "the same bytes")
    ends(sender)


def one_connection(s, width):
    """More than either side has room for, both ways."""
    with VsockDevice() as device, echo(s, width, device) as guest:
        guest.wait_line("^listening$")
        check.has(guest.text(), f"^CID {device.cid}$")
        client, answer = device.connect(ECHO)
        with client:
            check.contains(answer, b"OK 107374182")
            comes_back(client, os.urandom(200000))
        guest.soon(
            lambda: device.count("guest", RST) == 1, "the end is confirmed"
        )
        check.true(device.count("guest", CREDIT_UPDATE) > 100)
        counts = says_end(device, guest)
        check.same(counts["accepted"], 2)
        check.same(counts["closed"], 1)
        check.same(counts["violations"] + counts["strange"], 0)
        check.same(counts["unsent"], 0)
        check.same(device.problems, [])


def in_memory(s, width, *more):
    """A device in memory, of a machine without PCI."""
    with VsockDevice() as device:
        args = device.args(device="vhost-user-vsock-device")
        with echo(
            s, width, device, machine="microvm", args=[*args, *more]
        ) as guest:
            guest.wait_line("^listening$")
            check.has(guest.text(), f"^CID {device.cid}$")
            client, _ = device.connect(ECHO)
            with client:
                comes_back(client, os.urandom(20000))
            check.same(says_end(device, guest)["violations"], 0)
        check.same(device.problems, [])


def many_connections(s, width):
    """As many as there are sockets; one more is refused, until one leaves."""
    with VsockDevice() as device, echo(s, width, device) as guest:
        guest.wait_line("^listening$")
        clients = [device.connect(ECHO) for _ in range(SOCKETS)]
        check.true(all(answer[:3] == b"OK " for _, answer in clients))
        client, answer = device.connect(ECHO)
        client.close()
        check.same(answer, b"")
        for i, (client, _) in enumerate(clients):
            comes_back(client, b"%d\n" % i)
        clients[3][0].close()
        guest.soon(
            lambda: device.count("guest", RST) == 2, "the end is confirmed"
        )
        clients[3] = device.connect(ECHO)
        comes_back(clients[3][0], b"again\n")
        clients[0][0].close()
        guest.soon(
            lambda: device.count("guest", RST) == 3, "the end is confirmed"
        )
        counts = says_end(device, guest)
        for client, _ in clients:
            client.close()
        check.same(counts["accepted"], SOCKETS + 2)
        check.same(counts["refused"], 1)
        check.same(device.problems, [])


def nobody_listens(s, width):
    with VsockDevice() as device, echo(s, width, device) as guest:
        guest.wait_line("^listening$")
        client, answer = device.connect(ECHO + 1)
        client.close()
        check.same(answer, b"")
        check.same(says_end(device, guest)["refused"], 1)


def guest_connects(s, width, listens):
    """To a socket of the host, PATH_PORT, or to none."""
    with VsockDevice(cid=77) as device:
        server = socket.socket(socket.AF_UNIX)
        if listens:
            server.bind(f"{device.path}_{HOST_PORT}")
            server.listen()
            server.settimeout(progress.WAIT_S)
        with (
            server,
            boot(
                s, width, device, "vsock_sockets", f"{QUIET} do=connect"
            ) as guest,
        ):
            if listens:
                client, _ = server.accept()
                with client, client.makefile("rb") as lines:
                    check.same(lines.readline(), b"from the guest\n")
                    client.sendall(b"from the host\n")
                    check.same(lines.read(), b"")
            check.same(guest.end(), 0)
            text = guest.text()
        check.has(text, "^CID 77$")
        if listens:
            check.has(text, "^received: from the host$")
            check.has(text, "^closed$")
            check.has(text, "connected 1, refused 0, violations 0, strange 0")
            check.same(device.last("guest", SHUTDOWN).flags, 3)
            check.same(device.count("host", RST), 1)
        else:
            check.has(text, "^refused$")
        check.same(device.problems, [])


def any_packet(chance, key, cid):
    """One that nobody would send, mostly."""
    port, host_port = key
    return Packet(
        (chance.choice([HOST, HOST, HOST, 0, 2**64 - 1]), host_port),
        (chance.choice([cid, cid, cid, 1, 2**63]), chance.choice([port, 9])),
        chance.choice([*range(10), 65535]),
        bytes(chance.choice([0, 1, 1000, 1024, 1068])),
        flags=chance.choice([0, 1, 2, 3, 2**32 - 1]),
        room=chance.choice([0, 1, 65536, 2**32 - 1]),
        forwarded=chance.choice([0, 1, 2**31, 2**32 - 1]),
        type=chance.choice([1, 1, 1, 0, 2, 65535]),
        length=chance.choice([None, None, None, 0, 1069, 2**32 - 1]),
    )


def hostile_packets(s, width):
    """Whatever comes, the guest serves who comes next."""
    with VsockDevice() as device, echo(s, width, device) as guest:
        guest.wait_line("^listening$")
        chance = random.Random(31)
        for _ in range(8):
            client, _ = device.connect(ECHO)
            key = (ECHO, device.next_port - 1)
            for i in range(250):
                strange = (ECHO, key[1] + 1000 + i % 20)
                which = key if i % 2 else strange
                device.inject(any_packet(chance, which, device.cid))
            client.close()
            guest.soon(lambda: not device.waiting, "all of them")
        # none of those is left open
        for port in range(key[1] - 8, key[1] + 1100):
            device.inject(Packet((HOST, port), (device.cid, ECHO), RST))
        guest.soon(lambda: not device.waiting, "the end of all")
        client, answer = device.connect(ECHO)
        with client:
            check.contains(answer, b"OK ")
            comes_back(client, os.urandom(5000))
        counts = says_end(device, guest)
        check.true(counts["violations"] > 0)
        check.true(counts["strange"] > 100)
        check.same(counts["unsent"], 0)


def beyond_its_credit(s, width):
    """Data for which there is no room ends that connection alone."""
    with VsockDevice() as device, echo(s, width, device) as guest:
        guest.wait_line("^listening$")
        (bad, _), (good, _) = device.connect(ECHO), device.connect(ECHO)
        with bad, good:
            key = (device.next_port - 2, ECHO)
            for _ in range(40):  # while what came is not sent back
                device.inject(
                    Packet(
                        *((HOST, key[0]), (device.cid, key[1]), RW),
                        bytes(1000),
                        room=0,
                    )
                )
            check.same(bad.recv(1), b"")
            comes_back(good, b"goes on\n")
        check.same(says_end(device, guest)["violations"], 1)


def no_device(s, width):
    with s.guest(
        width, "test/vsock_sockets", append=f"{QUIET} do=start-1"
    ) as guest:
        check.same(guest.end(), 0)
        check.has(guest.text(), "^error 1$")


def test_driver(s, width):
    s.holds("what is sent comes back", one_connection, s, width)
    modern = ("-global", "virtio-mmio.force-legacy=false")
    s.holds("microvm: sent and back", in_memory, s, width, *modern)
    s.holds("there are eight sockets", many_connections, s, width)
    s.holds("a port nobody listens to is refused", nobody_listens, s, width)
    s.holds("the guest connects to the host", guest_connects, s, width, True)
    s.holds("the host refuses the guest", guest_connects, s, width, False)
    s.holds("any packets are survived", hostile_packets, s, width)
    s.holds("credit is enforced", beyond_its_credit, s, width)
    s.holds("no device is error 1", no_device, s, width)


# ---- the stream


def stream(s, width, device, do, **more):
    append = f"{QUIET} prof.out=vsock prof.hz=10000 prof.jitter=0 do={do}"
    return boot(s, width, device, "vsock_stream", append, icount=0, **more)


def recorded(s, device, guest, code=0):
    """From before the first sample to the end of the guest: info's words."""
    parasite, trace = Command(s), s.work / "x.trace"
    guest.wait_line("^prof: vsock: port 9999 of CID 3$")
    with background(
        *(parasite.path, "record", "-q", "-d", LONG_S, "-o", trace),
        device.target(),
        log=s.work / "record",
    ) as recorder:
        yield recorder
        check.same(guest.end(), code)
        recorder.end(0)
    yield parasite.info(trace)


def sums(guest):
    """What the guest says of its stream: samples, discarded, packets, those
    without a reader."""
    text = guest.text()
    first = check.has(
        text,
        r"^prof: stream to vsock: (\d+) samples, (\d+) of them discarded, "
        r"(\d+) packets",
    )
    second = check.has(
        text, r"^prof: vsock: .* broken off; (\d+) packets .* had no reader$"
    )
    return [int(n) for n in (*first.groups(), *second.groups())]


def all_of_it_comes(s, width):
    """All that was counted is there when the guest has ended, and QEMU with
    it."""
    with VsockDevice() as device, stream(s, width, device, "end") as guest:
        steps = recorded(s, device, guest)
        next(steps)
        info = next(steps)
        samples, discarded, _, unread = sums(guest)
        check.same([info["samples"], info["lost"]], [samples, 0])
        check.same([discarded, info["missing_packets"]], [0, 0])
        check.same(info["exit_code"], 0)
        check.true(samples > 2500, samples)
        check.true(unread <= 1, unread)
        check.same(device.problems, [])


def slow_reader(s, width):
    """What it has no room for is lost, counted, and said by both."""
    with (
        VsockDevice(room=ROOM) as device,
        stream(s, width, device, "slow") as guest,
    ):
        device.holds = True
        steps = recorded(s, device, guest)
        next(steps)
        guest.wait_line("^held$")
        check.same(device.last("guest", RW) is not None, True)
        device.go_on()
        info = next(steps)
        samples, discarded, _, _ = sums(guest)
        check.same(info["lost"], discarded)
        check.same(info["samples"] + info["lost"], samples)
        check.true(discarded > 100, discarded)
        check.same(info["exit_code"], 0)
        check.same(device.problems, [])


def panics(s, width):
    with VsockDevice() as device, stream(s, width, device, "panic") as guest:
        steps = recorded(s, device, guest, 101)
        next(steps)
        info = next(steps)
        check.same(info["exit_code"], 101)
        check.same([info["lost"], info["missing_packets"]], [0, 0])
        check.true(info["samples"] > 2500, info["samples"])


def never_yields(s, width):
    """The interrupt sends, and accepts who comes."""
    parasite, trace = Command(s), s.work / "spin.trace"
    with VsockDevice() as device, stream(s, width, device, "spin") as guest:
        guest.wait_line("^prof: vsock: ")
        with background(
            *(parasite.path, "record", "-q", "-d", LONG_S, "-o", trace),
            *("-k", s.image(width, STREAM), device.target()),
            log=s.work / "spin",
        ) as recorder:
            recorder.soon(lambda: device.count("guest", RW) > 2, "packets")
            client, answer = device.connect(9999)
            client.close()
            check.contains(answer, b"OK ")
            recorder.soon(lambda: device.count("guest", RST) > 0, "its end")
            recorder.soon(
                lambda: (parasite.info(trace)["samples"] or 0) > 500, "samples"
            )
            guest.interrupt()
            recorder.end(0)
        report = parasite.selves(trace)
        check.true("work" in report, report)


def two_clients(s, width):
    """Commands beside a recording, which has all the packets."""
    parasite, trace = Command(s), s.work / "two.trace"
    with (
        VsockDevice() as device,
        boot(s, width, device, "split", "prof.every=0 prof.out=vsock") as guest,
    ):
        guest.wait_line("^prof: vsock: ")
        with background(
            *(parasite.path, "record", "-d", LONG_S, "-o", trace),
            device.target(),
            log=s.work / "two",
        ) as recorder:
            recorder.soon(lambda: device.count("guest", RW) > 0, "a packet")
            before = len(device.packets)
            said = parasite("tell", device.target(), "rate", 500, "depth", 7)
            check.same(
                [line[:12] for line in said.lines()],
                ["ok rate 500 ", "ok depth 7"],
            )
            keys = {
                packet.target[1]
                for who, packet in device.packets[before:]
                if who == "guest" and packet.op == RW and len(packet.data) > 300
            }
            check.true(len(keys) <= 1, keys)
            first = len(device.packets)

            def later_ones():
                sent = [p for who, p in device.packets[first:] if p.op == RW]
                return len(sent) > 2

            recorder.soon(later_ones, "packets at the new rate")
            recorder.soon(
                lambda: parasite.info(trace)["depth"] == 7, "the new depth"
            )
            guest.interrupt()
            recorder.end(0)
        info = parasite.info(trace)
        check.same([info["missing_packets"], info["depth"]], [0, 7])
        check.near(info["hz"], 500)
        check.lacks(recorder.text(), "skipped")
        check.same(device.problems, [])


def second_recorder(s, width):
    """Gets none of the packets of the first, and says why that may be."""
    parasite = Command(s)
    with (
        VsockDevice() as device,
        boot(s, width, device, "split", "prof.every=0 prof.out=vsock") as guest,
    ):
        guest.wait_line("^prof: vsock: ")
        first, answer = device.connect(9999)
        check.contains(answer, b"OK ")
        with first:
            done = parasite(
                *("record", "-d", 1, "-o", s.work / "none.trace"),
                device.target(),
                status=1,
            )
        check.contains(done.err, "another client that connected before")


def top_follows(s, width):
    """A guest that ends, and another that comes after it."""
    parasite, image = Command(s), s.image(width, "split")

    def split():
        append = "prof.every=0 prof.out=vsock"
        return boot(s, width, device, "split", append, serial="null")

    with VsockDevice() as device:
        with split() as guest:
            guest.soon(lambda: device.connect(9999)[1], "somebody who listens")
            with background(
                *(parasite.path, "top", "--delay", 0.5, "-n", 100000),
                *("-k", image, device.target()),
                log=s.work / "top",
            ) as watcher:
                watcher.soon(lambda: " leaf_a" in watcher.text(), "leaf_a")
                guest.interrupt()
                with split():
                    watcher.soon(
                        lambda: "# boot 2" in watcher.text(), "a second boot"
                    )


def ports(s, width):
    parasite = Command(s)
    with (
        VsockDevice() as device,
        boot(
            *(s, width, device, "split"),
            "prof.every=0 prof.vsock=0 prof.vsock=1x prof.vsock=53 "
            "prof.out=vsock",
        ) as guest,
    ):
        guest.wait_line("^prof: vsock: port 53 of CID 3$")
        for word in ("0", "1x"):
            check.has(
                guest.text(), f'"prof.vsock={word}" ignored: must be a port'
            )
        done = parasite("tell", device.target(), "stop", status=1)
        check.contains(done.err, "no guest listens to port 9999")
        done = parasite("tell", device.target(53), "stop")
        check.same(done.out, "ok stop\n")


def missing(s, width):
    """The next transport is used."""
    with s.guest(
        *(width, "lua", "missing"),
        append="prof.reports=1 prof.out=vsock",
        modules=["services/lua/scripts/parser.lua"],
        icount=2,
        stream=os.devnull,
    ) as guest:
        guest.end()
        check.has(
            guest.text(),
            "^prof: prof.out=vsock: no such device; the stream goes to e9$",
        )


def test_stream(s, width):
    s.holds("what leaves is what was counted", all_of_it_comes, s, width)
    s.holds("what a slow reader loses is counted", slow_reader, s, width)
    s.holds("a panic ends the stream", panics, s, width)
    s.holds("a program that never yields is read", never_yields, s, width)
    s.holds("two clients are kept apart", two_clients, s, width)
    s.holds("a second recorder says that it is one", second_recorder, s, width)
    s.holds("top follows a guest's end", top_follows, s, width)
    s.holds("the port can be chosen", ports, s, width)
    s.holds("without the device it goes elsewhere", missing, s, width)


# ---- without a guest


def answers(s, answer, says, words=("record", "-d", 1)):
    """What is at the socket answers so; one line says what is wrong."""
    path = f"{s.short}/wrong"
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    server.settimeout(progress.WAIT_S)

    def serve():
        client, _ = server.accept()
        with client:
            check.same(client.recv(100), b"CONNECT 52\n")
            client.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        with server:
            refused(s, f"vsock:{path}:52", says, words)
            ends(thread)
    finally:
        os.unlink(path)


def refused(s, target, says, words=("record", "-d", 1), status=1):
    done = Command(s)(
        *words,
        target,
        *(["stop"] * (words[0] == "tell")),
        status=status,
        cwd=s.work,
    )
    check.same(len(done.err.splitlines()), 1, done.err)
    check.contains(done.err, says)


def nobody_is_at(s):
    path = f"{s.short}/ended"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
    refused(s, f"vsock:{path}:52", "the hypervisor that has made this socket")


def by_the_kernel(s):
    """A CID: the host's kernel has vhost-vsock and no such guest, or none."""
    done = Command(s)("tell", "vsock:2147483646:52", "stop", status=1)
    check.has(
        done.err,
        "vsock:2147483646:52: (no guest has this CID|no guest listens there|"
        "this host's kernel has no vhost-vsock|No such device|"
        "Connection|Network)",
    )


def test_host(s):
    with VsockDevice() as device:  # for its folder
        s.short = device.folder
        s.holds(
            "no socket is said",
            *(refused, s, f"vsock:{s.short}/none:52", "no such socket"),
        )
        s.holds("that nobody is at a socket is said", nobody_is_at, s)
        s.holds(
            "that no guest runs is said",
            *(refused, s, device.target(52), "no guest listens to port 52"),
        )
        for words in (("record", "-d", 1), ("top", "-n", 1), ("tell",)):
            what = words[0]
            s.holds(
                f"{what}: no answer is said",
                *(answers, s, b"", "no guest listens to port 52", words),
            )
            s.holds(
                f"{what}: another answer is shown",
                *(answers, s, b"HTTP/1.1\r\n", "'HTTP/1.1", words),
            )
            s.holds(
                f"{what}: an endless line is given up",
                *(answers, s, b"x" * 100, "does not end", words),
            )
        for target in ("vsock:", "vsock:x", "vsock:x:0", "vsock:x:y"):
            s.holds(
                f"{target} is bad usage",
                *(refused, s, target, f"{target}: "),
                status=2,
            )
    s.holds("a CID is asked of the kernel", by_the_kernel, s)


def suite(s):
    if s.part == "host":
        test_host(s)
        return
    width, what = s.part.split("-")
    globals()[f"test_{what}"](s, width)
