# SPDX-License-Identifier: Apache-2.0
"""parasite diff: what changed, and nothing else, is news."""

import checks
from guests import RATES
from harness.suite import check

TRUTH = {"leaf_b": -9.97, "leaf_c": 9.97}
# At the default, one comparison of two equal programs in twenty finds a change.
SURE = ("--confidence", 99.9)


def nothing_new(views, width, service):
    """The rates in a ring, each against the next."""
    rates = RATES[width]
    for before, rate in zip((rates[-1], *rates), rates):
        traces = (views.trace(service, width, r) for r in (before, rate))
        checks.news(views.differences(*SURE, *traces), {})


def change_is_news(views, width, rate):
    traces = (views.trace(n, width, rate) for n in ("base", "changed"))
    checks.news(views.differences(*SURE, *traces), TRUTH)


def test_no_news(views, width):
    for service in ("split", "lua"):
        views.s.holds(
            f"{service}, run again, is no news",
            *(nothing_new, views, width, service),
        )
    views.s.holds(change_is_news, views, width, RATES[width][0])


def widths_match_by_name(views):
    """Of two images, the widths: a leaf is the same by its name."""
    said = views.diff(*SURE, views.trace("base", "i386"), views.changed).out
    check.has(said, " leaf_c$")
    check.has(said, " leaf_b$")
    check.lacks(said, "leaf_[ad]$")


def total_is_another_table(views):
    """Totals of the functions above the leaves do not change."""
    traces = views.base, views.changed
    checks.news(views.differences(*SURE, "--total", *traces), TRUTH)
    check.has(
        views.diff(*SURE, "--total", "--all", *traces).out,
        r"^ *9[0-9]\.[0-9]+% .*\(noise\) level_2$",
    )


def noise_is_grey(views):
    traces = views.base, views.changed
    said = views.diff(*SURE, "--all", "--color", "always", *traces).out
    check.has(said, r"^\x1b\[31m.* leaf_c\x1b\[m$")
    check.has(said, r"^\x1b\[32m.* leaf_b\x1b\[m$")
    check.has(said, r"^\x1b\[90m.*\(noise\) leaf_a\x1b\[m$")
    check.lacks(views.diff("--all", *traces).out, "\x1b")


def growth_fails(views):
    base, changed = views.base, views.changed
    said = views.diff("--fail-above", 5, base, changed, status=3).err
    check.has(said, "leaf_c grew by at least [5-9]")
    views.diff("--fail-above", 12, base, changed)
    views.diff("--fail-above", 5, base, base)
    views.diff(base, changed)


def few_samples_are_reported(views):
    said = views.diff(
        *("--fail-above", 1, "--time", "0,0.05"), views.base, views.changed
    ).err
    check.contains(said, "too few samples")


def test_diff(views):
    base, changed = views.base, views.changed
    for function in (
        widths_match_by_name,
        total_is_another_table,
        noise_is_grey,
        growth_fails,
        few_samples_are_reported,
    ):
        views.s.holds(function, views)
    views.s.holds(change_is_news, views, "x86_64", 997)
    for what, status, words in (
        ("one trace is bad usage", 2, (base,)),
        ("three traces are bad usage", 2, (base, base, base)),
        (
            "a confidence of 100 is bad usage",
            *(2, ("--confidence", 100, base, base)),
        ),
        ("no samples are bad data", 1, ("-I", "no such", base, changed)),
    ):
        views.s.holds(what, views.diff, *words, status=status)
