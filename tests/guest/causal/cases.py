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
            r"^  F  +2\d\.\d\d  +1\d\.\d\d \+- \d\.\d\d +\d+ % CPU$",
            r"^  \(A/A: nothing is faster\) +-?\d\.\d\d \+- \d\.\d\d$",
            r"^latency of request, us: ",
            r"^  F( +\d{3}\.\d){4}$",
            r"^0 of \d+ answers at normal speed came before ",
            r"^  never called  +0\.00  never called$",
            r"^never reached:$",
            r"^  F  +2\d\.\d\d  point never reached$",
        ],
    ),
    case(
        "causal_options",
        append="prof.causal=auto prof.progress=work_done prof.every=0",
        icount=0,
        exits=0,
        shows=[
            r"^causal: hot_work is a target$",
            r"^causal: experiments have begun$",
            r"^--- causal profile: \d+ experiments$",
            r"^work_done:$",
            # 41 % of the time, at 50 % faster
            r"^  hot_work .* (39|4[0-2])\.\d\d \+- ",
        ],
        hides=[r"loop_\w+ is a target", "service_main is a target"],
    ),
    case(
        "causal_refused",
        image="test/causal_options",
        append=(
            "prof.causal=on prof.progress=work_done prof.target=no_such "
            "prof.target=prof_drain prof.every=0"
        ),
        icount=0,
        exits=0,
        shows=[
            r"^causal: no_such: no function of this name",
            r"^causal: prof_drain: the function is the profiler's own$",
            r"^causal: no experiments: they need prof.target=",
        ],
        hides=["causal profile"],
    ),
    case(
        "causal_net",
        append=(
            "prof.start=off prof.every=0 prof.drain=10000 "
            "net.ip=10.0.2.15/24 causal.visits=1500 net.peer=open:81"
        ),
        icount=0,
        shows=[
            r"^assumed: network: peers wait for our answers \(closed loop\)$",
            r"^assumed: network, port 81: requests come by themselves ",
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
