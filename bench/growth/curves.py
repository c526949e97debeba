# SPDX-License-Identifier: Apache-2.0
"""The curves: what each one shows, and its bounds."""

from collections import namedtuple

# name as in the JSON lines; words; unit; meaning of x; bounds (fit.py), each a
# pair; noisy: a time of this host, which differs from run to run.
Curve = namedtuple("Curve", "name words unit x bounds noisy")

INSTRUCTIONS, BYTES, SAMPLES = "instructions", "bytes", "samples"


def made(name, words, unit, x, *bounds, noisy=False):
    return Curve(name, words, unit, x, bounds, noisy)


def host(name, words, x, power):
    """The cost of one command, in three units."""
    return [
        made(name + "_instructions", words, INSTRUCTIONS, x, ("power", power)),
        made(
            name + "_seconds",
            words + ": time",
            "s",
            x,
            ("power", power + 0.1),
            noisy=True,
        ),
        made(
            name + "_held",
            words + ": most memory held",
            "KiB",
            x,
            ("power", power),
        ),
    ]


RATE = [
    made(
        "rate_interrupt",
        "interrupt, for a sample",
        INSTRUCTIONS,
        "Hz",
        ("flat", 1.1),
    ),
    made(
        "rate_drain", "drain, for a sample", INSTRUCTIONS, "Hz", ("power", 0.05)
    ),
    made(
        "rate_interrupt_share",
        "interrupts, of a million instructions",
        INSTRUCTIONS,
        "Hz",
        ("power", 1.05),
    ),
    made(
        "rate_drain_share",
        "drains, of a million instructions",
        INSTRUCTIONS,
        "Hz",
        ("power", 1.05),
    ),
    made("rate_heap", "heap held", BYTES, "Hz", ("flat", 2)),
    made(
        "rate_delivered",
        "samples delivered, of those asked for",
        "%",
        "Hz",
        ("flat", 1.05),
    ),
    made(
        "rate_short", "samples fewer than asked for", SAMPLES, "Hz", ("most", 1)
    ),
    made("rate_dropped", "samples dropped", SAMPLES, "Hz", ("most", 0)),
    made("rate_missed", "ticks missed", SAMPLES, "Hz", ("most", 0)),
    made(
        "rate_cut", "stacks cut for lack of space", SAMPLES, "Hz", ("most", 0)
    ),
]

DEPTH = [
    made(
        "depth_sample",
        "tick with its sample, whole",
        INSTRUCTIONS,
        "callers",
        ("power", 1.05),
        ("each", 12),
    ),
    made(
        "depth_stack",
        "interrupted stack used",
        BYTES,
        "callers",
        ("flat", 1),
        ("most", 256),
    ),
    made(
        "depth_drain_same",
        "drain, same stack again",
        INSTRUCTIONS,
        "callers",
        ("power", 1.05),
    ),
    made(
        "depth_drain_known",
        "drain, 100 stacks in turns",
        INSTRUCTIONS,
        "callers",
        ("power", 1.05),
    ),
    made(
        "depth_drain_new",
        "drain, new stack",
        INSTRUCTIONS,
        "callers",
        ("power", 1.1),
    ),
    made(
        "depth_stream_new",
        "stream, new stack",
        BYTES,
        "callers",
        ("power", 1.1),
        ("each", 9),
    ),
    made(
        "depth_stream_same",
        "stream, same stack again",
        BYTES,
        "callers",
        ("flat", 1.2),
    ),
    made("depth_heap", "heap for a new stack", BYTES, "callers", ("each", 288)),
]

SYMBOLS = [
    made(
        "symbols_lookup",
        "lookup in the guest",
        INSTRUCTIONS,
        "functions",
        ("step", 12),
    ),
    made(
        "symbols_lookup_most",
        "lookup in the guest, the worst",
        INSTRUCTIONS,
        "functions",
        ("step", 12),
    ),
    made(
        "symbols_name",
        "name of a function",
        INSTRUCTIONS,
        "functions",
        ("step", 250),
        ("flat", 2),
    ),
    made(
        "symbols_open",
        "test of the whole table at boot",
        INSTRUCTIONS,
        "functions",
        ("power", 1.05),
    ),
    made(
        "symbols_bytes",
        "table, for a function",
        BYTES,
        "functions",
        ("power", 0.02),
    ),
]

STACKS = [
    made(
        "quiet_drain_known",
        "drain of a known stack, no stream",
        INSTRUCTIONS,
        "stacks",
        ("flat", 1.5),
    ),
    made(
        "quiet_drain_new",
        "drain of a new stack, no stream",
        INSTRUCTIONS,
        "stacks",
        ("power", 0.05),
    ),
    made(
        "stacks_drain_known",
        "drain of a known stack",
        INSTRUCTIONS,
        "stacks",
        ("step", 250),
    ),
    made(
        "stacks_drain_new",
        "drain of a new stack",
        INSTRUCTIONS,
        "stacks",
        ("power", 0.05),
    ),
    made(
        "stacks_drain_longest",
        "longest drain",
        INSTRUCTIONS,
        "stacks",
        ("power", 1.05),
    ),
    made("stacks_heap", "heap held", BYTES, "stacks", ("power", 1.05)),
    made(
        "stacks_ram",
        "memory that the heap has taken",
        BYTES,
        "stacks",
        ("power", 1.05),
    ),
    made(
        "stacks_stream_new",
        "stream for a new stack",
        BYTES,
        "stacks",
        ("most", 100),
    ),
    made(
        "stacks_stream_known",
        "stream for a known stack",
        BYTES,
        "stacks",
        ("most", 100),
    ),
    made(
        "stacks_report",
        "report of 12 rows",
        INSTRUCTIONS,
        "stacks",
        ("power", 1.05),
    ),
    made("stacks_lost", "samples lost", SAMPLES, "samples fed", ("most", 0)),
    made(
        "limit_known_kept",
        "samples of known stacks kept, memory at its end",
        "%",
        "stacks fed",
        ("least", 99),
    ),
]

ADDRESSES = [
    made(
        "addresses_drain_known",
        "drain of a known address",
        INSTRUCTIONS,
        "addresses",
        ("step", 150),
    ),
    made(
        "addresses_drain_new",
        "drain of a new address",
        INSTRUCTIONS,
        "addresses",
        ("power", 0.1),
    ),
    made("addresses_heap", "heap held", BYTES, "addresses", ("power", 1.05)),
    made(
        "report_top_12",
        "report of 12 rows",
        INSTRUCTIONS,
        "functions",
        ("power", 1.05),
    ),
    made(
        "report_top_all",
        "report of all rows",
        INSTRUCTIONS,
        "functions",
        ("power", 1.3),
    ),
]

HOST = [
    *host("embed", "embed: making the table", "functions", 1.1),
    *host("record", "parasite record", "stacks", 1.05),
    *host("report", "parasite report", "stacks", 1.1),
    *host("flame", "parasite flame", "stacks", 1.1),
    *host("folded", "parasite export -f folded", "stacks", 1.1),
    *host("samples_report", "parasite report", SAMPLES, 1.05),
    *host("samples_flame", "parasite flame", SAMPLES, 1.05),
]

GROUPS = [
    ("The rate", RATE),
    ("The depth of stacks", DEPTH),
    ("Symbols", SYMBOLS),
    ("Distinct stacks", STACKS),
    ("Distinct addresses, and the report", ADDRESSES),
    ("On the host", HOST),
]
CURVES = [curve for _, curves in GROUPS for curve in curves]
