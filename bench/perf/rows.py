# SPDX-License-Identifier: Apache-2.0
"""The rows of table.py, in order."""

STEP_LEAF = "leaf_c"  # the function of the lock-step rows

INSNS = "instructions"
COST = (INSNS, None, "")
RATIO = ("ratio", None, "")

# name, words, unit, goal, its sense
ROWS = [
    ("perf_flat", "perf -F 1000: interrupt, flat", *COST),
    ("perf_stack_11", "perf -F 1000 -g: the same, 11 frames", *COST),
    ("perf_bare", "of these, its timer interrupt without a sample", *COST),
    ("ours_flat", "ours, in the kernel's tick: flat", INSNS, 40, "most"),
    ("ours_stack_11", "the same, 11 frames", *COST),
    ("ours_flat_own", "ours at 1000 Hz, interrupt included: flat", *COST),
    ("ours_stack_11_own", "the same, 11 frames", *COST),
    ("perf_flat_ratio", "perf / ours in the kernel's tick: flat", "ratio")
    + (50, "least"),
    ("perf_stack_11_ratio", "the same, 11 frames", "ratio", 15, "least"),
    ("perf_flat_own_ratio", "both at 1000 Hz, interrupts included", *RATIO),
    ("perf_stack_11_own_ratio", "the same, 11 frames", *RATIO),
    ("perf_flat_beyond_ratio", "both without the interrupt: flat", *RATIO),
    ("perf_stack_11_beyond_ratio", "the same, 11 frames", *RATIO),
    ("perf_flat_whole", "perf record, everything: flat", *COST),
    ("perf_stack_11_whole", "perf record -g, everything: 11 frames", *COST),
    ("perf_default_11_whole", "the same, with build-ids (default)", *COST),
    ("perf_flat_user", "of these, perf in user mode: flat", *COST),
    ("perf_stack_11_user", "11 frames", *COST),
    ("perf_default_11_user", "with build-ids", *COST),
    ("perf_cpus_flat_whole", "perf record -a on 4 CPUs: flat", *COST),
    ("perf_cpus_stack_11_whole", "11 frames", *COST),
    ("ours_flat_whole", "ours, everything: flat", *COST),
    ("ours_stack_11_whole", "11 frames", *COST),
    ("perf_flat_whole_ratio", "everything, perf / ours: flat", *RATIO),
    ("perf_stack_11_whole_ratio", "11 frames", "ratio", 5, "least"),
    ("perf_report_11", "perf report afterwards, 11 frames", *COST),
    (
        "irqs_off_true",
        "4 CPUs: instructions with interrupts off",
        "percent",
        None,
        "",
    ),
    ("perf_irqs_off", "perf: samples there", "percent", None, ""),
    (
        "perf_irqs_off_around",
        "where they are turned on again",
        "percent",
        None,
        "",
    ),
    ("perf_irqs_off_samples", "of samples", "count", None, ""),
    ("ours_irqs_off", "ours: samples there", "percent", None, ""),
    (
        "ours_irqs_off_around",
        "where they are turned on again",
        "percent",
        None,
        "",
    ),
    ("ours_irqs_off_samples", "of samples", "count", None, ""),
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
