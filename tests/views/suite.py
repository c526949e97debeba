# SPDX-License-Identifier: Apache-2.0
"""parasite diff and annotate on guests that it boots. They count instructions,
so that a run repeats to the instruction; another rate is another set of
samples."""

from annotates import test_annotate, test_code, test_page
from diffs import test_diff, test_no_news
from guests import Views
from harness.suite import WIDTHS, by_turns

PARTS = (*WIDTHS, "diff", "annotate", "page")


def suite(s):
    views = Views(s)
    if s.part == "diff":
        test_diff(views)
    elif s.part == "annotate":
        test_annotate(views)
    elif s.part == "page":
        test_page(views)
    else:
        # both widths are compared in the same way; the part diff has an i386
        if s.part in by_turns("x86_64"):
            test_no_news(views, s.part)
        test_code(views, s.part)
