# SPDX-License-Identifier: Apache-2.0
"""A stream of small size makes nothing large."""

import os
import shutil

from harness.suite import check, run

CPUS, BOOTS = 256, 64  # of docs/limits.md
NODES, PLACES = 1 << 22, 1 << 16
TRACKS = 256
SPREAD = 1000000


def cpus_are_limited(hostile):
    trace = hostile.work / "cpus.trace"
    data = hostile.stream("cpus", 1100)
    shutil.rmtree(trace, ignore_errors=True)
    said = hostile.record(trace, data).err
    check.contains(said, f"{1100 - CPUS} packets beyond the limits were")
    check.same(len(os.listdir(trace)), CPUS + 1)
    check.same(hostile.samples(trace), CPUS)
    raw = hostile.work / "cpus.packets"
    raw.write_bytes(data)
    said = hostile.parasite("report", raw).err
    check.contains(said, f"{1100 - CPUS} packets are left out")
    for cpu in range(CPUS, 1100):
        shutil.copy(trace / "stream-1", trace / f"stream-{cpu}")
    said = hostile.parasite("report", trace, status=1).err
    check.contains(said, f"more than {CPUS} CPUs")


def boots_are_limited(hostile):
    folder = hostile.work / "boots"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    said = hostile.record(folder / "x", hostile.stream("boots", 1500)).err
    check.contains(said, "packets of too many boots were left out")
    check.same(len(os.listdir(folder)), BOOTS)
    check.same(hostile.samples(folder / f"x-{BOOTS}"), 1)


def sums_are_limited(hostile):
    """2^32 samples in one event are not written one by one."""
    for count in (1, 100):
        trace, out = hostile.work / "sums.trace", hostile.work / "sums.out"
        hostile.record(trace, hostile.stream("sums", count), "-q")
        check.same(hostile.samples(trace), count * (2**32 - 1))
        for kind in ("perfetto", "chrome", "firefox", "perf", "pprof"):
            run(
                *("prlimit", "--fsize=1000000", hostile.parasite.path),
                *("export", "-q", "-f", kind, "-o", out, trace),
            )
        said = hostile.parasite("export", "-o", out, "-f", "perfetto", trace)
        check.contains(said.err, f"at most {SPREAD} are written one by one")


def nodes_are_limited(hostile):
    """Samples beyond the limit count, without their stack."""
    trace, count = hostile.work / "nodes.trace", NODES + 50000
    hostile.record(trace, hostile.stream("nodes", count), "-q")
    info = hostile.parasite.info(trace)
    check.same(info["samples"], count)
    check.between(info["nodes"], NODES - 10, NODES)


def tasks_are_limited(hostile):
    trace, count = hostile.work / "tasks.trace", PLACES + 5000
    said = hostile.record(trace, hostile.stream("tasks", count)).err
    check.contains(said, "5,000 samples have no stack")
    info = hostile.parasite.info(trace)
    check.same((info["samples"], info["unkept_samples"]), (count, 5000))
    folded = hostile.parasite.folded(trace, "--weight", "samples")
    check.same(sum(weight for _, weight in folded), count)


def tracks_are_limited(hostile):
    """Of few more tasks: each track is a walk over all samples."""
    trace, out = hostile.work / "tracks.trace", hostile.work / "tracks.json"
    hostile.record(trace, hostile.stream("tasks", TRACKS + 50), "-q")
    hostile.parasite("export", "-q", "-f", "firefox", "-o", out, trace)
    check.same(out.read_text().count('"processType":"default"'), TRACKS)


def stacks_are_limited(hostile):
    """A chain of calls, each sampled, is not its square."""
    trace, out = hostile.work / "chain.trace", hostile.work / "chain.out"
    hostile.record(trace, hostile.stream("chain", 16000), "-q")
    for kind in ("folded", "perf", "pprof", "callgrind", "firefox"):
        run(
            *("prlimit", "--fsize=60000000", hostile.parasite.path),
            *("export", "-q", "-f", kind, "-o", out, trace),
        )
    hostile.parasite("report", "-q", "-g", trace)


def addresses_are_apart(hostile):
    trace = hostile.work / "high.trace"
    hostile.record(trace, hostile.stream("high", 100), "-q")
    wanted = {f"0x{top}000000000000010": (50, 50) for top in "4c"}
    check.same(hostile.parasite.selves(trace), wanted)


def test_quantity(hostile):
    s = hostile.s
    for what, function in (
        ("CPUs of a trace", cpus_are_limited),
        ("boots of a recording", boots_are_limited),
        ("samples that a sum becomes", sums_are_limited),
        ("nodes of a model", nodes_are_limited),
        ("tasks of a model", tasks_are_limited),
        ("tracks of a profile", tracks_are_limited),
        ("callers of a sample", stacks_are_limited),
    ):
        s.holds(f"{what} are limited", function, hostile)
    s.holds("any two addresses are apart", addresses_are_apart, hostile)
