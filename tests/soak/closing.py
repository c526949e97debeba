# SPDX-License-Identifier: Apache-2.0
"""What is looked at once, when a pair's time is over."""

import re

import drift

END_S = 900
HELD_MAX = 32 << 20  # half of the guest's memory
RECORD_BYTES = 2 << 20  # that a recorder may grow by, whatever it writes,
RECORD_PART = 0.1  # and this part of what it has written meanwhile
NS_PPM = 2  # below which nothing is made of a difference between clocks
LINGER_BYTES = 4096  # of the heap, that a connection may have
NOW = re.compile(r"net: now (\d+) connections, (\d+) closing")
LONG_S = 600  # from here on the profiler's memory has found its size


def close(pair):
    """The last checkpoint, the end of both guests, and the figures."""
    info = pair.checkpoint()
    last = pair.guest.statistics[-1]
    figures = {
        "name": pair.name,
        "samples": last.samples,
        "discarded": last.discarded,
    }
    if info is not None:
        for name in (
            "lost",
            "dropped",
            "overflowed",
            "missed_ticks",
            "packets",
            "bytes",
            "nodes",
            "stolen_ns",
        ):
            figures[name] = info[name]
    look_at_clocks(pair, figures)
    look_at_memory(pair, figures)
    end(pair)
    if pair.kind == "irc":
        look_at_connections(pair, figures)
    look_at_recorder(pair, figures)
    figures["answers"] = len(pair.answers)
    figures["slowest_answer"] = max(pair.answers)
    figures["unheard"] = pair.unheard
    figures["checkpoints"] = pair.checkpoints
    figures["breaches"] = [list(each) for each in pair.breaches]
    return figures


def clock_mhz(machine):
    """The TSC's frequency as the guest has measured it at boot."""
    with open(machine.base + ".console", encoding="latin-1") as log:
        for line in log:
            if line.startswith("boot: heap "):
                return float(line.split()[5])
    raise ValueError(f"{machine.name} has not said its clock's frequency")


def look_at_clocks(pair, figures):
    """The clock that counts ticks, which the profiler passes on, and the one
    that reads the TSC. Each guest measures that at boot, to some ppm: what the
    two have measured differently is taken away first."""
    guest, twin = (m.statistics[m.begun - 1 :] for m in pair.machines())
    mhz = [clock_mhz(machine) for machine in pair.machines()]
    seconds = guest[-1].host - guest[0].host
    clocks = {
        "ticks": (
            drift.of_ticks(guest),
            drift.of_ticks(twin),
            drift.TICK_NS / 1e3 / seconds,
        ),
        "ns": (drift.of_ns(guest, mhz[0] / mhz[1]), drift.of_ns(twin), NS_PPM),
    }
    if pair.cpus > 1:
        del clocks["ticks"]  # there are none
    for name, (profiled, plain, floor) in clocks.items():
        figures[f"{name}_ppm"] = [round(x, 2) for x in (*profiled, *plain)]
        if drift.worse(profiled, plain, floor):
            pair.breach(
                "clock",
                f"the clock of {name} runs {profiled} off the "
                f"host's; without the profiler it is {plain}",
            )


def look_at_memory(pair, figures):
    held = [statistics.held for statistics in pair.guest.statistics]
    half = max(held[: len(held) // 2])
    seconds = pair.guest.statistics[-1].host - pair.guest.statistics[0].host
    figures["held"] = held[-1]
    figures["held_at_half"] = half
    figures["heap"] = [pair.heap(machine) for machine in pair.machines()]
    figures["heap_before"] = pair.heap_before
    # Its tables double: once more may happen late, twice would be a leak.
    if max(held) > HELD_MAX or (seconds > LONG_S and max(held) > 2 * half):
        pair.breach(
            "held",
            f"the profiler holds {max(held)} bytes of the "
            f"heap, {half} at half-time",
        )


def look_at_connections(pair, figures):
    """A server's connections linger, for minutes where the peer has died. It
    prints their number when it ends, up to a second after its last statistics.
    Whatever else the heap holds is leaked."""
    figures["heap"] = [pair.heap(machine) for machine in pair.machines()]
    figures["lingering"] = []
    for machine, now, before in zip(
        pair.machines(), figures["heap"], pair.heap_before
    ):
        said = [match for match in map(NOW.match, machine.lines) if match]
        if not said:
            pair.breach(
                "heap", f"{machine.name} has not printed its connections"
            )
            continue
        count = int(said[-1][1]) + int(said[-1][2])
        figures["lingering"].append(count)
        if now - before > (count + 1) * LINGER_BYTES or now < before:
            pair.breach(
                "heap",
                f"{machine.name}: {now} bytes of the heap are "
                f"in use, {before} were; {count} connections linger",
            )


def end(pair):
    for machine in pair.machines():
        if pair.kind == "toil" and not machine.order("end"):
            pair.breach("alive", f"{machine.name} cannot be ended")
    for machine in pair.machines():
        code = machine.end(END_S)
        if code != 0:
            pair.breach("alive", f"{machine.name} ended with {code}")
    pair.log(f"{pair.name}: ended")


def look_at_heard(pair, live):
    """(live) is what `parasite info` says of the recorder's trace. It must be
    the same of one that is made of what the relay has handed on, and that is
    everything where nothing was thrown away."""
    relay, last = pair.guest.relay, pair.guest.statistics[-1]
    heard = f"{pair.folder}/{pair.name}-heard.trace"
    wrong = pair.tools.trace(relay.heard_path, heard, pair.image)
    info = pair.tools.info(heard) if wrong is None else None
    if live is None or info is None:
        pair.breach("readers", f"no trace of what was heard: {wrong}")
        return
    names = ("samples", "lost", "discarded", "missing_packets", "packets")
    found, wanted = ({n: each[n] for n in names} for each in (live, info))
    if found != wanted:
        pair.breach("ticks", f"who listened has {found}, of {wanted}")
    known = live["samples"] + live["lost"]
    if known > last.samples or known < last.samples and not relay.thrown_away:
        pair.breach("ticks", f"who listened has {known} of {last.samples}")


def look_at_recorder(pair, figures):
    """Who has listened from the beginning has all that was handed on; and that
    is one trace that everybody can read, as is all that the guest has sent."""
    recorder, relay = pair.recorder, pair.guest.relay
    status = recorder.wait()
    if status != 0:
        pair.breach("readers", f"parasite record ended with {status}")
    whole = recorder.folder.replace("live", "whole")
    for problem in pair.tools.problems(whole, False):
        pair.breach("readers", f"{whole}: {problem}")
    for problem in pair.problems(recorder.folder):
        pair.breach("readers", f"{recorder.folder}: {problem}")
    figures["thrown_away"] = relay.thrown_away
    look_at_heard(pair, pair.tools.info(recorder.folder))
    sizes = recorder.sizes[len(recorder.sizes) // 4 :]
    figures["record_rss"] = [size for size, _ in (sizes[0], sizes[-1])]
    figures["qemu_rss"] = pair.qemu_rss
    grown = sizes[-1][0] - sizes[0][0]
    if grown > RECORD_BYTES + RECORD_PART * (sizes[-1][1] - sizes[0][1]):
        pair.breach("record", f"parasite record grew by {grown} bytes")
