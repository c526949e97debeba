# SPDX-License-Identifier: Apache-2.0
"""tests/guest/drivers/net_peer: connections of all kinds, and a device that
computes checksums."""


import talk
from harness.suite import FULL, Skip, check, run

PEER = "prof.start=off prof.every=0"
PORTS = (7, 13, 19, 21, 22, 23)
OLD_DEVICE = "disable-modern=on"


def at(guest, port):
    return "127.0.0.1", guest.port(port)


def at_all(guest, ports):
    return {number: at(guest, number) for number in ports}


def peer(s, name, append, **options):
    return s.guest(
        s.width, "test/net_peer", name, append=f"{PEER} {append}", **options
    )


def kicks_per_thousand(guest):
    """Kicks for a thousand frames sent, while lines are read."""
    before = talk.stats(at(guest, 13))
    talk.slow(at(guest, 19), 2000000)
    after = talk.stats(at(guest, 13))
    sent = after["frames_out"] - before["frames_out"]
    return 1000 * (after["kicks"] - before["kicks"]) // sent


CONNECTIONS = 10000 if FULL else 3000


def test_each(s):
    """Kicks the device for each frame; the kicks that it took."""
    with peer(
        s, "each", "net.kick=each", forward=PORTS, nic=OLD_DEVICE
    ) as guest:
        port = at_all(guest, PORTS)
        talk.test_peer(s, port, CONNECTIONS)
        s.holds("a connection may be reset", talk.reset, port[21])
        s.holds("a connection may be refused", talk.reset, port[22])
        return kicks_per_thousand(guest)


def test_connections(s):
    each = test_each(s)
    with peer(
        s, "batch", "net.kick=batch", forward=PORTS, nic=OLD_DEVICE
    ) as guest:
        s.holds("another guest answers", talk.until_answered, at(guest, 23))
        with s.test("a batch needs fewer kicks"):
            batch = kicks_per_thousand(guest)
            s.note(f"{batch} instead of {each} for 1000 frames")
            check.true(batch < each, (batch, each))


# ---- causal experiments: each frame is held until it is due

EXPERIMENTS = (
    "prof.causal=on prof.target=net_write prof.progress=echo_receive "
    "net.peer=closed:7 net.peer=partly:23"
)


def test_causal(s):
    """What is held is neither lost nor out of order."""
    ports = (7, 23)
    with peer(s, "causal", EXPERIMENTS, forward=ports) as guest:
        port = at_all(guest, ports)
        s.holds("a guest answers", talk.until_answered, port[23])
        begun = "^causal: experiments have"
        s.holds("experiments have begun", guest.wait_line, begun)
        s.holds("the echo is what was sent", talk.echo, port[7], 8, 50000)
        s.holds("the last line arrives", talk.farewell, port[23])


# ---- a device that makes checksums: a tap device, where one may be made

# Of the networks for tests (RFC 2544), and four addresses of each: what else
# this machine is connected to stays within reach.
NETWORKS = {"i386": "198.18.32", "x86_64": "198.18.64"}
MASK = 30
NO_SCRIPTS = "script=no,downscript=no"
CHECKSUMS = (
    "a guest answers on a tap device",
    "the device computes checksums",
    "the echo is right with them",
    "many lines are right with them",
)


def make_tap(name, network):
    run("ip", "link", "del", name, status=None)  # of a run that was killed
    run("ip", "tuntap", "add", "dev", name, "mode", "tap")
    run("ip", "addr", "add", f"{network}.1/{MASK}", "dev", name)
    run("ip", "link", "set", name, "up")


def test_checksums(s):
    device, network = f"par-{s.width}", NETWORKS[s.width]
    host = f"{network}.2"
    try:
        make_tap(device, network)
    except AssertionError as failed:
        run("ip", "link", "del", device, status=None)
        s.note(str(failed))
        for name in CHECKSUMS:
            with s.test(name):
                raise Skip("no tap device can be made") from failed
        return
    try:
        with peer(
            s,
            "checksums",
            f"net.ip={host}/{MASK}",
            args=[
                *("-netdev", f"tap,id=n,ifname={device},{NO_SCRIPTS}"),
                *("-device", "virtio-net-pci,netdev=n"),
            ],
        ):
            s.holds(CHECKSUMS[0], talk.until_answered, (host, 23))
            with s.test(CHECKSUMS[1]):
                check.same(talk.stats((host, 13))["offload"], 1)
            s.holds(CHECKSUMS[2], talk.echo, (host, 7), 10, 100000)
            s.holds(CHECKSUMS[3], talk.slow, (host, 19), 1000000)
    finally:
        run("ip", "link", "del", device, status=None)
