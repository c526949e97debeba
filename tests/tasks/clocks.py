# SPDX-License-Identifier: Apache-2.0
"""Several traces on one axis of time: by the packets that they exchange, by the
time of day, by hand."""

import re

from harness.suite import check, run


def clocks_of(s, *words):
    """What `timeline` says of the clocks of traces: the seconds by which each
    is moved, and of each that is aligned by packets the error in seconds and
    the rate in ppm, below 0 where it is fast."""
    page = s.work / "several.html"
    said = run(s.parasite, "timeline", *words, "-o", page).err
    moved = re.findall(r": (\S+): moved by ([-\d.]+) s$", said, re.M)
    found = re.findall(
        r": (\S+): to within ([\d.]+) us, by (\d+) packets; "
        r"its clock is ([\d.]+) ppm (fast|slow)$",
        said,
        re.M,
    )
    check.true(all(int(packets) > 50 for _, _, packets, _, _ in found), said)
    return (
        {name: float(seconds) for name, seconds in moved},
        {
            name: (
                float(error) / 1e6,
                float(ppm) * (-1 if way == "fast" else 1),
            )
            for name, error, _, ppm, way in found
        },
        said,
    )


def peers(s):
    """Two traces that exchange packets, and one that exchanges none."""
    paths = []
    for peer in (0, 1, None):
        path = s.work / f"peer-{peer}.trace"
        words = () if peer is None else ("nothing", peer)
        data = run(s.build / "host/make_tasks", 20000, 7, *words).data
        path.write_bytes(data)
        paths.append(path)
    return paths


def clocks_are_aligned(s):
    """Either of two peers may be the first. The truth is in make_tasks.c: 5 ms,
    and 100 ppm; the trace lasts for some 70 ms."""
    first, second, _ = peers(s)
    for traces, name, way in (
        ((first, second), str(second), -1),
        ((second, first), str(first), 1),
    ):
        moved, found, said = clocks_of(s, *traces)
        check.same(list(moved), [str(second)], said)
        check.same(list(found), [name], said)
        error, ppm = found[name]
        off = moved[str(second)] - 0.005
        check.true(abs(off) <= error, said)
        check.true(0 < error < 0.0004, said)
        off = (ppm - way * 100) / 1e6 * 0.06  # from one end to the other
        check.true(abs(off) <= 2 * error, said)


def clocks_are_shifted(s):
    """--shift adds to what packets say. A trace without packets is aligned by
    the time of day, which is the same for all of these."""
    first, second, third = peers(s)
    before = clocks_of(s, first, second, third)
    check.has(before[2], f"{third}: by the time of day at boot")
    check.true(str(third) not in before[0])
    after = clocks_of(
        *(s, first, second, third, f"--shift={second}=0.25"),
        f"--shift={third}=0.125",
    )
    moved = after[0][str(second)] - before[0][str(second)]
    check.true(abs(moved - 0.25) < 1e-6, after[2])
    check.true(abs(after[0][str(third)] - 0.125) < 1e-6, after[2])
    for wrong in ("none=1", f"{second}", f"{second}=x"):
        run(
            *(s.parasite, "timeline", first, second, "--shift", wrong),
            *("-o", s.work / "no.html"),
            status=2,
        )
