# SPDX-License-Identifier: Apache-2.0
"""Guest cases: the C library, the heap, clocks and the event loop."""

from harness.cases import case

CASES = [
    case("c_library", append="prof.start=off prof.every=0"),
    case(
        "clock_by_cmos",
        append="prof.start=off prof.every=0 clock=cmos",
        icount=5,
        rtc="2026-01-02T03:04:05",
    ),
    case(
        "clocks",
        append=(
            "prof.start=off prof.every=0 prof.drain=10000 "
            "clocks.begin=1767323045"
        ),
        icount=0,
        rtc="2026-01-02T03:04:05",
    ),
    case(
        "clocks_leap_day",
        image="test/clocks",
        append=(
            "prof.start=off prof.every=0 prof.drain=10000 "
            "clocks.begin=1835481599"
        ),
        icount=0,
        rtc="2028-02-29T23:59:59",
    ),
    case(
        "clocks_year_2000",
        image="test/clocks",
        append=(
            "prof.start=off prof.every=0 prof.drain=10000 "
            "clocks.begin=946684798"
        ),
        icount=0,
        rtc="1999-12-31T23:59:58",
    ),
    case(
        "event_loop",
        append="prof.start=off prof.every=0 prof.drain=10000",
        icount=0,
    ),
    case("heap", append="prof.start=off prof.every=0"),
    case(
        "kernel_clock_is_true", append="prof.start=off prof.every=0", icount=4
    ),
    case(
        "overlong_command",
        append=(
            "prof.hz=1000 prof.every=0 prof.loop=8 prof.trace=flight "
            "prof.causal=on prof.target=half_of_it prof.progress=unit_done"
        ),
        icount=0,
    ),
    case(
        "tsc_calibration_is_true",
        append="prof.start=off prof.every=0",
        icount=2,
    ),
]
