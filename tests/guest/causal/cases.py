# SPDX-License-Identifier: Apache-2.0
"""Guest cases: causal profiling."""

from harness.cases import case

CASES = [
    case(
        "causal_experiments",
        append="prof.start=off prof.every=0 prof.drain=10000",
        icount=0,
        shows=[
            r"^--- causal profile: \d+ experiments$",
            r"^request done:$",
            r"^  F  +\d+\.\d\d \+- \d\.\d\d$",
            r"^  never called  +never called$",
            r"^never reached:$",
            r"^  F  +too few visits$",
        ],
    ),
    case(
        "causal_patch",
        append="prof.start=off prof.every=0 prof.drain=10000",
        icount=0,
    ),
    case(
        "causal_truth",
        append=(
            "prof.start=off prof.every=0 prof.drain=10000 causal.visits=1500"
        ),
        icount=0,
    ),
]
