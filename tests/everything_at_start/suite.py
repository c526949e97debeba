# SPDX-License-Identifier: Apache-2.0
"""The profiler's memory at the default settings is at most 64 KiB, everything
but the heap map: what the image gives it at start (PROF_MEMORY_DEFAULT) and its
own data, on both widths, from the objects that images are linked with."""

from harness.suite import WIDTHS, check, run

LIMIT = 64 * 1024


def given_at_start():
    """PROF_MEMORY_DEFAULT, which the preprocessor evaluates."""
    source = "#include <prof/prof.h>\nPROF_MEMORY_DEFAULT\n"
    done = run("gcc", "-E", "-P", "-Iprofiler/include", "-", data=source)
    product = 1
    for factor in done.lines()[-1].strip("() ").split("*"):
        product *= int(factor.strip().rstrip("u"))
    return product


def suite(s):
    for width in WIDTHS:
        with s.test(f"{width}: everything fits into 64 KiB"):
            sizes = run("size", s.build / width / "profiler.o").lines()[1]
            _, data, bss = map(int, sizes.split()[:3])
            given = given_at_start()
            s.note(f"{given} bytes given at start, {data + bss} of its own")
            check.true(given > 0 and data + bss > 0)
            check.between(given + data + bss, 1, LIMIT)
