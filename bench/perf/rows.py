# SPDX-License-Identifier: Apache-2.0
"""The rows of table.py, in order."""

STEP_LEAF = "leaf_c"  # the function of the lock-step rows

# name, words, unit, goal, its sense
ROWS = [
    ("perf_flat", "perf -F 1000: a flat sample", "instructions", None, ""),
    (
        "perf_stack_11",
        "perf -F 1000 -g: one with 11 frames",
        "instructions",
        None,
        "",
    ),
    (
        "perf_bare",
        "of these, perf's timer interrupt without a sample",
        "instructions",
        None,
        "",
    ),
    (
        "ours_flat",
        "ours, in the kernel's tick: a flat sample",
        "instructions",
        40,
        "most",
    ),
    ("ours_stack_11", "one with 11 frames", "instructions", None, ""),
    (
        "ours_flat_own",
        "ours at 1000 Hz, interrupt included: flat",
        "instructions",
        None,
        "",
    ),
    ("ours_stack_11_own", "one with 11 frames", "instructions", None, ""),
    (
        "perf_flat_ratio",
        "perf's flat sample / ours in the kernel's tick",
        "ratio",
        50,
        "least",
    ),
    ("perf_stack_11_ratio", "the same with 11 frames", "ratio", 15, "least"),
    (
        "perf_flat_own_ratio",
        "both at 1000 Hz, interrupts included: flat",
        "ratio",
        None,
        "",
    ),
    ("perf_stack_11_own_ratio", "the same with 11 frames", "ratio", None, ""),
    (
        "perf_flat_beyond_ratio",
        "both without the interrupt: flat",
        "ratio",
        None,
        "",
    ),
    (
        "perf_stack_11_beyond_ratio",
        "the same with 11 frames",
        "ratio",
        None,
        "",
    ),
    (
        "perf_lock_step",
        f"in step: what perf says of {STEP_LEAF}, worst",
        "percent",
        None,
        "",
    ),
    ("perf_lock_step_true", "what is right", "percent", None, ""),
    (
        "ours_lock_step_fixed",
        "ours at a fixed period, worst",
        "percent",
        None,
        "",
    ),
    ("ours_lock_step", "ours with jitter", "percent", None, ""),
    (
        "ours_lock_step_interval",
        "half of its 95 % interval",
        "percent",
        None,
        "",
    ),
    (
        "ours_lock_step_error",
        "its error, in halves of that interval",
        "ratio",
        1,
        "most",
    ),
    (
        "ours_lock_step_inside",
        "of 20 shares, inside their interval",
        "count",
        None,
        "",
    ),
    (
        "perf_accuracy",
        "not in step: perf's worst error / 95 % interval",
        "ratio",
        None,
        "",
    ),
    ("ours_accuracy", "ours, the same", "ratio", None, ""),
    ("perf_memory", "memory of perf record, most resident", "bytes", None, ""),
    ("ours_memory", "of our profiler, all of it", "bytes", None, ""),
]


WHOLE = ("bytes", "count")  # units without decimals
