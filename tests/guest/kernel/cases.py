# SPDX-License-Identifier: Apache-2.0
"""Guest cases: the C library, the heap, clocks and the event loop."""

from harness.cases import case, quiet

CASES = [
    quiet("c_library"),
    quiet("clock_by_cmos", "clock=cmos", icount=5, rtc="2026-01-02T03:04:05"),
    quiet(
        "clocks",
        "prof.drain=10000 alarm=tick clocks.begin=1767323045",
        icount=0,
        rtc="2026-01-02T03:04:05",
    ),
    quiet(
        "clocks_leap_day",
        "prof.drain=10000 alarm=tick clocks.begin=1835481599",
        image="test/clocks",
        icount=0,
        rtc="2028-02-29T23:59:59",
    ),
    quiet(
        "clocks_year_2000",
        "prof.drain=10000 alarm=tick clocks.begin=946684798",
        image="test/clocks",
        icount=0,
        rtc="1999-12-31T23:59:58",
    ),
    quiet(
        "event_loop",
        icount=0,
        shows=["^boot: timer: local APIC, one-shot$"],
    ),
    quiet(
        "event_loop_by_pit",
        "alarm=pit by=pit",
        image="test/event_loop",
        icount=0,
        shows=["^boot: timer: PIT, one-shot; at 100 Hz while it samples$"],
    ),
    quiet(
        "event_loop_without_apic",
        "by=pit",
        image="test/event_loop",
        icount=0,
        qemu="-cpu max,-apic",
        shows=["^boot: timer: PIT, one-shot; at 100 Hz while it samples$"],
    ),
    quiet("heap"),
    quiet("kernel_clock_is_true", "alarm=tick", icount=4),
    quiet("one_cpu"),
    case(
        "overlong_command",
        append=(
            "prof.hz=1000 prof.every=0 prof.loop=8 prof.trace=flight "
            "prof.causal=on prof.target=half_of_it prof.progress=unit_done"
        ),
        icount=0,
    ),
    quiet("tsc_by_other_clocks", icount=2),
    quiet("tsc_calibration_is_true", icount=2),
]
